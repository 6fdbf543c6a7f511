// SPDX-License-Identifier: Apache-2.0
/*
 * plots.ts — the dock below the scene with one or more plots side by side. Signals go into the current plot; the dock
 * is as high as the person drags it.
 */
import type { App } from "../app.js";
import type { Signal } from "../data/replay.js";
import { button, el } from "./dom.js";
import { icon } from "./icons.js";
import { Plot } from "./plot.js";

export class PlotDock {
	readonly element: HTMLElement;
	readonly plots: Plot[] = [];
	private readonly app: App;
	private readonly listeners: (() => void)[] = [];
	private current: Plot | null = null;
	private height = 15.5; // [rem]
	private pinned = false; // something is beside the plots, which stays
	private refreshed = 0;

	constructor(app: App) {
		this.app = app;
		this.element = el("section", { class: "dock", "aria-label": "Plots" }, this.makeGrip());
		this.element.hidden = true;
		app.on("replay", () => this.rematch());
		app.on("time", () => this.onTime());
		app.on("theme", () => this.plots.forEach((p) => p.rebuild()));
		app.on("ghost", () => this.plots.forEach((p) => p.rebuild()));
		this.applyHeight();
	}

	onChange(listener: () => void): void {
		this.listeners.push(listener);
	}

	/** The color that a signal has in a plot; null: it is in none. */
	colorOf(signal: Signal): string | null {
		for (const plot of this.plots) {
			const color = plot.colorOf(signal);
			if (color) return color;
		}
		return null;
	}

	/** Into the current plot, or out of every plot that it is in. */
	toggle(signal: Signal): void {
		const shown = this.plots.filter((p) => p.has(signal));
		if (shown.length) shown.forEach((p) => p.remove(signal));
		else this.currentPlot().add([signal]);
		this.changed();
	}

	show(signals: Signal[]): void {
		const fresh = signals.filter((s) => !this.colorOf(s));
		if (fresh.length) this.currentPlot().add(fresh);
		this.changed();
	}

	addPlot(signals: Signal[] = []): Plot {
		const plot = new Plot(this.app, {
			chosen: () => this.setCurrent(plot),
			close: () => this.close(plot),
			another: () => this.addPlot(),
			changed: () => this.changed(),
		});
		this.plots.push(plot);
		this.element.append(plot.element);
		this.element.hidden = false;
		this.setCurrent(plot);
		if (signals.length) plot.add(signals);
		this.changed();
		return plot;
	}

	/** Puts something before the plots, in place of what was there. */
	pin(panel: HTMLElement): void {
		if (this.pinned) this.element.querySelector(".campaign")?.remove();
		this.pinned = true;
		this.element.prepend(panel);
		this.element.hidden = false;
		this.height = Math.max(this.height, 18);
		this.applyHeight();
	}

	/** Names of the signals of each plot, for addresses. */
	names(): string[][] {
		return this.plots.map((p) => p.signals.map((s) => s.name)).filter((names) => names.length > 0);
	}

	private currentPlot(): Plot {
		return this.current ?? this.addPlot();
	}

	private setCurrent(plot: Plot | null): void {
		this.current = plot;
		for (const p of this.plots) p.element.dataset.current = String(p === plot && this.plots.length > 1);
	}

	private close(plot: Plot): void {
		plot.dispose();
		this.plots.splice(this.plots.indexOf(plot), 1);
		this.setCurrent(this.plots.at(-1) ?? null);
		this.element.hidden = this.plots.length === 0 && !this.pinned;
		this.changed();
	}

	private changed(): void {
		for (const listener of this.listeners) listener();
	}

	/** Another run: signals of the same names. */
	private rematch(): void {
		const all = this.app.replay?.signals ?? [];
		for (const plot of [...this.plots]) {
			plot.replace(plot.signals.map((s) => all.find((o) => o.name === s.name)).filter((s) => s !== undefined));
			if (plot.signals.length === 0) this.close(plot);
		}
	}

	private onTime(): void {
		const now = performance.now();
		const data = this.app.live !== null && now - this.refreshed > 200;
		if (data) this.refreshed = now;
		for (let i = 0; i < this.plots.length; i++) {
			if (data) this.plots[i]!.refreshData();
			this.plots[i]!.onTime();
		}
	}

	/* ---- height ------------------------------------------------------------------------- */

	private applyHeight(): void {
		this.element.style.height = `${this.height}rem`;
	}

	private makeGrip(): HTMLElement {
		const resize = (rem: number): void => {
			this.height = Math.min(40, Math.max(9, rem));
			grip.setAttribute("aria-valuenow", String(Math.round(this.height)));
			this.applyHeight();
		};
		const grip = el("div", {
			class: "dock-grip",
			role: "separator",
			"aria-orientation": "horizontal",
			"aria-label": "Height of the plots",
			tabindex: "0",
			"aria-valuemin": "9",
			"aria-valuemax": "40",
			"aria-valuenow": "15",
		});
		grip.addEventListener("pointerdown", (down) => {
			grip.setPointerCapture(down.pointerId);
			const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
			const start = this.height;
			const move = (event: PointerEvent): void => resize(start + (down.clientY - event.clientY) / rem);
			grip.addEventListener("pointermove", move);
			grip.addEventListener("pointerup", () => grip.removeEventListener("pointermove", move), { once: true });
		});
		grip.addEventListener("keydown", (event) => {
			if (event.key !== "ArrowUp" && event.key !== "ArrowDown") return;
			resize(this.height + (event.key === "ArrowUp" ? 1 : -1));
			event.preventDefault();
			event.stopPropagation();
		});
		return grip;
	}
}

/** The buttons at the right of a plot's head. */
export function plotButtons(actions: {
	csv(): void;
	png(): void;
	svg(): void;
	reset(): void;
	analyze(anchor: HTMLElement): void;
	another(): void;
	close(): void;
}): HTMLElement[] {
	const plain = { iconOnly: true, class: "icon-button small" };
	const analyze: HTMLButtonElement = button("Analyze", icon("wave"), () => actions.analyze(analyze), {
		...plain,
		title: "Spectrum, x-y plot, logarithmic values, statistics, difference",
		"aria-haspopup": "menu",
	});
	return [
		analyze,
		button("Reset zoom", icon("reset"), actions.reset, plain),
		button("CSV", null, actions.csv, { class: "button small", title: "Save the signals as CSV" }),
		button("PNG", null, actions.png, { class: "button small", title: "Save the plot as PNG" }),
		button("SVG", null, actions.svg, { class: "button small", title: "Save the plot as SVG" }),
		button("Another plot", icon("plus"), actions.another, plain),
		button("Close plot", icon("close"), actions.close, plain),
	];
}
