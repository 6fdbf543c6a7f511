// SPDX-License-Identifier: Apache-2.0
/*
 * campaign_panel.ts — the cases of a campaign in parallel coordinates: one axis per parameter and output, one line per case. A
 * click on a line replays its case, if the page holds its replay; a drag along an axis keeps the cases in that range, a click on
 * the axis all of them again. The list of cases does the same for keys and screen readers.
 */
import type { App } from "../app.js";
import { lineDistance, ranges, type Axis, type Campaign, type Case } from "../data/campaign.js";
import { el, formatNumber, setText, unitText, withUnit } from "./dom.js";
import { cssColor } from "./theme.js";

const TOP = 46; // room for the names [px]
const BOTTOM = 22;
const SIDE = 62;
const NEAR = 9; // of the pointer [px]

export class CampaignPanel {
	readonly element: HTMLElement;
	private readonly campaign: Campaign;
	private readonly play: (chosen: Case) => void;
	private readonly canvas = el("canvas", { role: "img", "aria-label": "Cases in parallel coordinates" });
	private readonly chooser: HTMLSelectElement;
	private readonly word = el("span", { class: "campaign-word", role: "status" });
	private readonly ranges: [number, number][];
	/** Parts of the axes that are kept, from 0 at the bottom to 1; null: all. */
	private readonly kept: ([number, number] | null)[];
	private chosen: Case | null = null;
	private hovered: Case | null = null;
	private drag: { axis: number; from: number } | null = null;
	private width = 1;
	private height = 1;

	constructor(app: App, campaign: Campaign, play: (chosen: Case) => void) {
		this.campaign = campaign;
		this.play = play;
		this.ranges = ranges(campaign);
		this.kept = campaign.axes.map(() => null);
		this.chooser = this.makeChooser();
		this.element = el(
			"div",
			{ class: "plot campaign", role: "group", "aria-label": "Campaign" },
			el("div", { class: "plot-head" }, this.chooser, this.word),
			el("div", { class: "campaign-area" }, this.canvas),
		);
		this.listen();
		app.on("theme", () => this.draw());
		new ResizeObserver(() => this.resize()).observe(this.canvas.parentElement!);
		this.say(null);
	}

	private makeChooser(): HTMLSelectElement {
		const cases = this.campaign.cases.filter((c) => c.replay !== undefined);
		const chooser = el(
			"select",
			{ "aria-label": "Case that is replayed", onchange: () => this.choose(Number(chooser.value)) },
			...cases.map((c) => el("option", { value: c.number }, `Case ${c.number}`)),
		);
		return chooser;
	}

	/** Replays the case of that number. */
	choose(number: number): void {
		const found = this.campaign.cases.find((c) => c.number === number);
		if (!found) return;
		if (found.replay === undefined)
			return setText(this.word, `Case ${number}: to replay it here, write the page with --case ${number}`);
		this.chosen = found;
		this.chooser.value = String(number);
		this.play(found);
		this.say(null);
		this.draw();
	}

	/* ---- places ------------------------------------------------------------------------- */

	private get xs(): number[] {
		const { length } = this.campaign.axes;
		const wide = Math.max(1, this.width - 2 * SIDE);
		return this.campaign.axes.map((_, i) => SIDE + (length > 1 ? (wide * i) / (length - 1) : wide / 2));
	}

	private part(axis: number, value: number): number {
		const [low, high] = this.ranges[axis]!;
		return (value - low) / (high - low);
	}

	private y(part: number): number {
		return this.height - BOTTOM - part * (this.height - TOP - BOTTOM);
	}

	private heights({ values }: Case): number[] {
		return Array.from(values, (v, i) => this.y(this.part(i, v)));
	}

	private keeps({ values }: Case): boolean {
		return this.kept.every((range, i) => {
			const part = this.part(i, values[i]!);
			return range === null || (part >= range[0] && part <= range[1]);
		});
	}

	/* ---- pointer ------------------------------------------------------------------------ */

	private listen(): void {
		const { canvas } = this;
		const place = (event: PointerEvent): [number, number] => {
			const box = canvas.getBoundingClientRect();
			return [event.clientX - box.left, event.clientY - box.top];
		};
		const partAt = (y: number): number =>
			Math.min(1, Math.max(0, (this.height - BOTTOM - y) / (this.height - TOP - BOTTOM)));
		canvas.addEventListener("pointerdown", (event) => {
			const [x, y] = place(event);
			const axis = this.xs.findIndex((at) => Math.abs(at - x) < NEAR);
			if (axis < 0) return;
			canvas.setPointerCapture(event.pointerId);
			this.drag = { axis, from: partAt(y) };
			this.kept[axis] = null;
		});
		canvas.addEventListener("pointermove", (event) => {
			const [x, y] = place(event);
			if (!this.drag) return this.hover(this.nearest(x, y));
			const to = partAt(y);
			const { axis, from } = this.drag;
			this.kept[axis] = Math.abs(to - from) > 0.02 ? [Math.min(from, to), Math.max(from, to)] : null;
			this.say(null);
			this.draw();
		});
		canvas.addEventListener("pointerup", (event) => {
			const axis = this.drag !== null;
			this.drag = null;
			const found = axis ? null : this.nearest(...place(event));
			if (found) this.choose(found.number);
			else this.draw();
		});
		canvas.addEventListener("pointerleave", () => this.hover(null));
	}

	private nearest(x: number, y: number): Case | null {
		const { xs } = this;
		let [best, least]: [Case | null, number] = [null, NEAR];
		for (const one of this.campaign.cases) {
			if (!this.keeps(one)) continue;
			// Where lines are close to each other, one that can be replayed is meant.
			const away = lineDistance(xs, this.heights(one), x, y) - (one.replay === undefined ? 0 : 3);
			if (away < least) [best, least] = [one, away];
		}
		return best;
	}

	private hover(found: Case | null): void {
		this.canvas.style.cursor = found?.replay === undefined ? "" : "pointer";
		if (found === this.hovered) return;
		this.hovered = found;
		this.say(found);
		this.draw();
	}

	/** About a case, or about all. */
	private say(one: Case | null): void {
		const { cases, axes } = this.campaign;
		const kept = cases.filter((c) => this.keeps(c)).length;
		if (!one)
			return setText(
				this.word,
				kept < cases.length ? `${kept} of ${cases.length} cases` : `${cases.length} cases`,
			);
		const outputs = axes.flatMap((axis, i) =>
			axis.role === "output" ? [`${axis.name} ${shown(axis, one.values[i]!)}`] : [],
		);
		const about = one.status === "ok" ? [] : [one.status, one.message].filter((t) => t !== "");
		setText(this.word, [`Case ${one.number}`, ...about, ...outputs].join(", "));
	}

	/* ---- drawing ------------------------------------------------------------------------ */

	private resize(): void {
		const { clientWidth, clientHeight } = this.canvas.parentElement!;
		const ratio = Math.min(2, window.devicePixelRatio || 1);
		[this.width, this.height] = [Math.max(1, clientWidth), Math.max(1, clientHeight)];
		this.canvas.width = this.width * ratio;
		this.canvas.height = this.height * ratio;
		this.canvas.getContext("2d")?.setTransform(ratio, 0, 0, ratio, 0, 0);
		this.draw();
	}

	private draw(): void {
		const context = this.canvas.getContext("2d");
		if (!context) return;
		context.clearRect(0, 0, this.width, this.height);
		const { cases } = this.campaign;
		const order = [...cases.filter((c) => c.replay === undefined), ...cases.filter((c) => c.replay !== undefined)];
		for (const one of order) this.drawCase(context, one);
		if (this.hovered) this.drawCase(context, this.hovered);
		if (this.chosen) this.drawCase(context, this.chosen);
		this.campaign.axes.forEach((axis, i) => this.drawAxis(context, axis, i));
	}

	private drawCase(context: CanvasRenderingContext2D, one: Case): void {
		const strong = one === this.chosen || one === this.hovered;
		const color = one === this.chosen ? "--accent" : one.status === "ok" ? "--muted" : "--bad";
		context.strokeStyle = cssColor(color);
		context.globalAlpha = strong ? 1 : !this.keeps(one) ? 0.05 : one.replay === undefined ? 0.3 : 0.85;
		context.lineWidth = strong ? 3 : one.replay === undefined ? 1 : 1.6;
		context.beginPath();
		const { xs } = this;
		let down = false;
		this.heights(one).forEach((y, i) => {
			if (Number.isFinite(y) && down) context.lineTo(xs[i]!, y);
			else if (Number.isFinite(y)) context.moveTo(xs[i]!, y);
			down = Number.isFinite(y);
		});
		context.stroke();
		context.globalAlpha = 1;
	}

	private drawAxis(context: CanvasRenderingContext2D, axis: Axis, i: number): void {
		const x = this.xs[i]!;
		const [low, high] = this.ranges[i]!;
		const size = parseFloat(getComputedStyle(document.documentElement).fontSize) * 0.8;
		const line = (from: number, to: number, width: number, color: string): void => {
			context.strokeStyle = cssColor(color);
			context.lineWidth = width;
			context.beginPath();
			context.moveTo(x, this.y(from));
			context.lineTo(x, this.y(to));
			context.stroke();
		};
		line(0, 1, 1.5, "--text");
		const range = this.kept[i];
		if (range) line(range[0], range[1], 6, "--accent");
		// Beyond its limits an axis is drawn in the color of what failed.
		const [above, below] = [axis.above, axis.below].map((v) => Math.min(1, Math.max(0, this.part(i, v))));
		if (above! > 0) line(0, above!, 3, "--bad");
		if (below! < 1) line(below!, 1, 3, "--bad");
		context.fillStyle = cssColor("--text");
		context.textAlign = i === 0 ? "left" : i === this.campaign.axes.length - 1 ? "right" : "center";
		const at = i === 0 ? x - SIDE + 8 : i === this.campaign.axes.length - 1 ? x + SIDE - 8 : x;
		const room = (this.width - 2 * SIDE) / Math.max(1, this.campaign.axes.length - 1);
		const name = axis.unit ? `${axis.name} [${unitText(axis.unit)}]` : axis.name;
		context.font = `${axis.role === "output" ? "600 " : ""}${size}px system-ui, sans-serif`;
		// Every second name is a line lower, so that neighbors do not meet.
		context.fillText(name, at, i % 2 ? 2 * size + 4 : size + 2, 1.9 * room);
		context.fillStyle = cssColor("--muted");
		context.font = `${size * 0.92}px system-ui, sans-serif`;
		context.fillText(axis.texts.length ? "" : formatNumber(low), at, this.height - 6, room);
		context.fillText(axis.texts.length ? "" : formatNumber(high), at, TOP - 4, room);
		axis.texts.forEach((word, k) => context.fillText(word, at, this.y(this.part(i, k)) - 3, room));
	}
}

function shown(axis: Axis, value: number): string {
	const word = axis.texts[value];
	return word ?? withUnit(value, axis.unit);
}
