// SPDX-License-Identifier: Apache-2.0
/*
 * scale_bar.ts — how long things are on the screen: a bar of a round length, and arrows of round values with their kinds.
 * With perspective both hold at the distance of what the camera is aimed at.
 */
import type { App } from "../app.js";
import type { ArrowKind } from "../data/document.js";
import { ARROW_COLORS } from "../scene/arrows.js";
import { el, formatNumber, setAttribute, setText, withUnit } from "./dom.js";

export const ARROW_NAMES: Record<ArrowKind, string> = {
	force: "Forces",
	moment: "Moments",
	reaction: "Reactions",
	contact: "Contact",
};

/** The largest 1, 2 or 5 times a power of ten that is not above `most`. */
export function roundBelow(most: number): number {
	if (!(most > 0) || !Number.isFinite(most)) return 0;
	const power = 10 ** Math.floor(Math.log10(most) + 1e-9);
	const factor = most / power;
	return Number((power * (factor >= 5 ? 5 : factor >= 2 ? 2 : 1)).toPrecision(1));
}

/** A length for people: kilometers down to nanometers. */
export function lengthText(meters: number): string {
	for (const [unit, size] of [
		["km", 1e3],
		["m", 1],
		["mm", 1e-3],
		["µm", 1e-6],
		["nm", 1e-9],
	] as const)
		if (meters >= size * 0.999) return `${formatNumber(Number((meters / size).toPrecision(6)))} ${unit}`;
	return `${formatNumber(meters)} m`;
}

/** The size of a pixel where the camera is aimed at [m]. */
export function pixelSize(app: App): number {
	const { camera, height } = app.stage;
	return (2 * app.camera.distance * Math.tan((camera.fov * Math.PI) / 360)) / height;
}

const LONGEST = 130; // [px]

interface LegendRow {
	element: HTMLElement;
	line: HTMLElement;
	text: HTMLElement;
	unit: string;
}

export class ScaleBar {
	readonly element: HTMLElement;
	private readonly app: App;
	private readonly bar = el("div", { class: "scale-line" });
	private readonly text = el("span", { class: "scale-text" });
	private readonly legend = el("div", { class: "arrow-legend", role: "img" });
	private rows: LegendRow[] = [];

	constructor(app: App) {
		this.app = app;
		const scale = el("div", { class: "scale-bar", role: "img" }, this.bar, this.text);
		this.element = el("div", { class: "scales" }, this.legend, scale);
		this.legend.hidden = true;
		app.on("replay", () => this.makeRows());
		app.on("settings", () => this.makeRows());
		app.on("camera", () => this.update());
	}

	/** A row for each unit of the arrows that are shown. */
	private makeRows(): void {
		const arrows = this.app.view?.arrows;
		const shown = arrows && this.app.settings.arrows ? arrows.units() : new Map<string, ArrowKind[]>();
		this.rows = [...shown].map(([unit, kinds]) => {
			const line = el("span", { class: "legend-arrow" });
			line.style.color = ARROW_COLORS[kinds[0]!];
			const text = el("span", { class: "legend-value" });
			const marks = kinds.flatMap((kind) => {
				const mark = el("span", { class: "swatch" });
				mark.style.backgroundColor = ARROW_COLORS[kind];
				return [mark, el("span", { class: "muted" }, ARROW_NAMES[kind])];
			});
			return { element: el("div", { class: "legend-row" }, line, text, ...marks), line, text, unit };
		});
		this.legend.replaceChildren(...this.rows.map((row) => row.element));
		this.legend.hidden = this.rows.length === 0;
	}

	private update(): void {
		const { view } = this.app;
		this.element.hidden = !view;
		if (!view) return;
		const pixel = pixelSize(this.app);
		const length = roundBelow(Math.min(LONGEST, this.app.stage.width / 4) * pixel);
		this.bar.style.width = `${(length / pixel).toFixed(2)}px`;
		setText(this.text, lengthText(length));
		const where = this.app.stage.camera.orthographic ? "" : " where the camera is aimed at";
		setAttribute(this.text.parentElement!, "aria-label", `Scale: ${lengthText(length)}${where}`);
		for (const { line, text, unit } of this.rows) {
			const perUnit = view.arrows.scaleOf(unit) / pixel; // [px]
			const value = roundBelow(90 / perUnit);
			line.style.width = `${(value * perUnit).toFixed(1)}px`;
			setText(text, withUnit(value, unit));
		}
		const kinds = this.rows.map(({ element }) => element.textContent).join(", ");
		setAttribute(this.legend, "aria-label", `Arrows: ${kinds}`);
	}
}
