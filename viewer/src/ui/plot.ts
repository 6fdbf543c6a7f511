// SPDX-License-Identifier: Apache-2.0
/*
 * plot.ts — one plot over time or over its first signal (uPlot): one axis per unit, a line at the time shown, values at that
 * time in the head.
 * A click sets the time, a drag zooms, a double click shows all again. Signals of a second run are drawn dashed.
 */
import uPlot from "uplot";
import type { App } from "../app.js";
import { statistics } from "../data/analysis.js";
import type { Signal } from "../data/replay.js";
import { valueAt } from "../data/sample.js";
import { csvText, saveBlob, saveText } from "../export.js";
import { button, el, formatNumber, setText, withUnit, unitText } from "./dom.js";
import { icon } from "./icons.js";
import { openMenu, type MenuItem } from "./menu.js";
import { dashOf, dataOf, lineName, linesOf, overTime, type PlotLine, type PlotView } from "./plot_data.js";
import { plotSvg, type SvgLine } from "./plot_svg.js";
import { timeNear, xyData, XyDots, xyLines, xyPath, type XyLine } from "./plot_xy.js";
import { plotButtons } from "./plots.js";
import { cssColor } from "./theme.js";

/** Distinct without color vision as far as eight colors can be; a set per theme. */
const COLORS = {
	light: ["#1b5bcb", "#c2410c", "#0f766e", "#7c3aed", "#be185d", "#4d7c0f", "#92600a", "#475569"],
	dark: ["#78b0ff", "#ff9d6b", "#4fd1c0", "#bfa2ff", "#ff8fc0", "#a8d65c", "#ecc04e", "#a9b6c6"],
} as const;

interface Hooks {
	chosen(): void;
	close(): void;
	another(): void;
	changed(): void;
}

export class Plot {
	readonly element: HTMLElement;
	signals: Signal[] = [];
	chart: uPlot | null = null;
	readonly view: PlotView = overTime();
	private readonly app: App;
	private readonly hooks: Hooks;
	private readonly chips = el("div", { class: "chips" });
	private readonly area = el("div", { class: "plot-area" });
	private readonly playhead = el("div", { class: "playhead" });
	private readonly dots = new XyDots();
	private curves: XyLine[] = []; // of an x-y plot
	private readonly table = el("table", { class: "statistics", "aria-label": "Statistics of the time shown" });
	private readonly empty = el(
		"div",
		{ class: "plot-empty" },
		"Choose signals in the list, or select a joint, node or body",
	);
	private readonly values: HTMLElement[] = [];
	private readonly observer: ResizeObserver;
	private slots: Signal[] = []; // a signal keeps its color while others come and go

	constructor(app: App, hooks: Hooks) {
		this.app = app;
		this.hooks = hooks;
		const actions = plotButtons({
			csv: () => this.saveCsv(),
			png: () => void this.savePng(),
			svg: () => this.saveSvg(),
			reset: () => this.reset(),
			analyze: (anchor) => openMenu(anchor, this.analyses()),
			another: hooks.another,
			close: hooks.close,
		});
		this.area.append(this.empty, this.playhead, this.dots.element);
		this.element = el(
			"div",
			{ class: "plot", role: "group", "aria-label": "Plot" },
			el("div", { class: "plot-head" }, this.chips, ...actions),
			el("div", { class: "statistics-box" }, this.table),
			this.area,
		);
		this.table.hidden = true;
		this.element.addEventListener("pointerdown", () => hooks.chosen(), true);
		this.observer = new ResizeObserver(() => this.resize());
		this.observer.observe(this.area);
		this.playhead.hidden = true;
	}

	has(signal: Signal): boolean {
		return this.signals.includes(signal);
	}

	colorOf(signal: Signal): string | null {
		return this.has(signal) ? this.color(signal) : null;
	}

	private color(signal: Signal): string {
		const colors = COLORS[this.app.theme.theme];
		return colors[this.slots.indexOf(signal) % colors.length]!;
	}

	add(signals: Signal[]): void {
		this.replace([...this.signals, ...signals]);
	}

	remove(signal: Signal): void {
		this.slots = this.slots.map((s) => (s === signal ? FREE : s));
		this.replace(this.signals.filter((s) => s !== signal));
	}

	replace(signals: Signal[]): void {
		this.signals = signals;
		for (const signal of signals) {
			if (this.slots.includes(signal)) continue;
			const free = this.slots.findIndex((s) => !signals.includes(s));
			if (free >= 0) this.slots[free] = signal;
			else this.slots.push(signal);
		}
		this.rebuild();
	}

	/* ---- the chart ---------------------------------------------------------------------- */

	rebuild(): void {
		this.chart?.destroy();
		this.chart = null;
		this.empty.hidden = this.signals.length > 0;
		this.playhead.hidden = this.signals.length === 0 || this.view.spectrum || this.isPhase;
		this.curves = this.isPhase ? xyLines(this.lines(), this.view) : [];
		this.dots.set(this.curves);
		this.makeChips();
		if (this.signals.length === 0) return this.fillTable();
		const { width, height } = this.area.getBoundingClientRect();
		this.chart = new uPlot(this.options(Math.max(50, width), Math.max(50, height)), this.data(), this.area);
		this.linkCursor(this.chart);
		this.onTime();
	}

	/** Of the other runs; undefined: one does not have it. */
	private othersOf(signal: Signal): (Signal | undefined)[] {
		const ghosts = this.app.view?.ghosts.list ?? [];
		return ghosts.map(({ replay }) => replay.signals.find((s) => s.name === signal.name));
	}

	private lines(): PlotLine[] {
		return this.signals.flatMap((s) => linesOf(s, this.othersOf(s), this.color(s), this.view));
	}

	private data(): uPlot.AlignedData {
		return this.isPhase ? xyData(this.curves) : dataOf(this.lines(), this.view);
	}

	/** Drawn over its first signal: there is another one. */
	private get isPhase(): boolean {
		return this.view.phase && this.signals.length > 1;
	}

	/* ---- ways to look at it -------------------------------------------------------------- */

	private analyses(): MenuItem[] {
		const { view } = this;
		const item = (label: string, key: Way): MenuItem => ({
			label,
			icon: view[key] ? "check" : "chart",
			run: () => this.change(key),
		});
		const second = this.signals.some((s) => this.othersOf(s).some((o) => o));
		return [
			item("Spectrum of the time shown", "spectrum"),
			...(this.signals.length > 1 ? [item(`Over ${this.signals[0]!.name}, in the time shown`, "phase")] : []),
			item("Logarithmic values", "logarithmic"),
			item("Statistics of the time shown", "statistics"),
			...(second ? [item("Difference to the other runs", "difference")] : []),
		];
	}

	private change(key: Way): void {
		const { view } = this;
		const [from, to] = this.window();
		view[key] = !view[key];
		if (view[key] && key === "phase") view.spectrum = view.logarithmic = false;
		if (view[key] && (key === "spectrum" || key === "logarithmic")) view.phase = false;
		[view.from, view.to] = [from, to];
		this.rebuild();
		if (!view.spectrum && !view.phase && Number.isFinite(from + to))
			this.chart?.setScale("x", { min: from, max: to });
	}

	/** The window that statistics are of: what is shown, of a spectrum or an x-y plot the time that it is of. */
	private window(): [number, number] {
		const { min = -Infinity, max = Infinity } = this.chart?.scales.x ?? {};
		return this.view.spectrum || this.isPhase ? [this.view.from, this.view.to] : [min, max];
	}

	private get axisLabel(): string {
		const first = this.signals[0];
		if (this.isPhase && first) return first.unit ? `${first.name} [${unitText(first.unit)}]` : first.name;
		return this.view.spectrum ? "f [Hz]" : "t [s]";
	}

	private fillTable(): void {
		this.table.hidden = !this.view.statistics || this.signals.length === 0;
		if (this.table.hidden) return;
		const [from, to] = this.window();
		const head = ["", "mean", "rms", "deviation", "min", "max"].map((name) => el("th", { scope: "col" }, name));
		const rows = this.lines().map((line) => {
			const { mean, rms, deviation, min, max } = statistics(line.signal, from, to);
			const cells = [mean, rms, deviation, min, max].map((v) => el("td", {}, formatNumber(v)));
			return el("tr", {}, el("th", { scope: "row" }, lineName(line)), ...cells);
		});
		head[0] = el("td");
		this.table.replaceChildren(el("tr", {}, ...head), ...rows);
	}

	private options(width: number, height: number): uPlot.Options {
		const units = [...new Set(this.signals.slice(this.isPhase ? 1 : 0).map((s) => s.unit))];
		const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
		const font = `${Math.round(rem * 0.86)}px system-ui, sans-serif`;
		const text = cssColor("--muted"),
			lines = cssColor("--plot-grid");
		const em = parseFloat(font);
		const common = {
			stroke: text,
			font,
			labelFont: font,
			grid: { stroke: lines, width: 1 },
			ticks: { stroke: lines, width: 1, size: 4 },
		};
		const axes: uPlot.Axis[] = [{ ...common, label: this.axisLabel, labelSize: em * 1.7, size: em * 2.2 }];
		const phase = this.isPhase;
		const room = (_: uPlot, min: number, max: number): uPlot.Range.MinMax => uPlot.rangeNum(min, max, 0.05, true);
		const scales: uPlot.Scales = { x: { time: false, ...(phase ? { range: room } : {}) } };
		units.forEach((unit, i) => {
			scales[scaleKey(unit)] = this.view.logarithmic ? { distr: 3, log: 10 } : {};
			axes.push({
				...common,
				scale: scaleKey(unit),
				side: i % 2 ? 1 : 3,
				label: unit ? `[${unitText(unit)}]` : " ",
				labelSize: em * 1.6,
				size: em * 4.4,
				grid: { ...common.grid, show: i === 0 },
				values: (_, ticks) => ticks.map((v) => (v === null ? "" : formatNumber(Number(v.toPrecision(10))))),
			});
		});
		const series: uPlot.Series[] = [{}];
		for (const line of phase ? this.curves : this.lines())
			series.push({
				label: lineName(line),
				...(phase
					? {
							facets: [
								{ scale: "x", auto: true },
								{ scale: scaleOf(line), auto: true },
							],
							paths: xyPath,
						}
					: { scale: scaleOf(line) }),
				stroke: line.color,
				width: line.run > 0 ? 1.5 : 2,
				...(dashOf(line) ? { dash: dashOf(line)! } : {}),
				spanGaps: true,
				points: { show: false },
			});
		return {
			...(phase ? { mode: 2 } : {}),
			width,
			height,
			scales,
			axes,
			series,
			legend: { show: false },
			cursor: { drag: { x: true, y: phase, dist: 6 }, points: phase ? { show: false } : { size: 7 } },
			hooks: {
				setScale: [
					(_, key) => {
						this.onTime();
						if (key === "x") this.fillTable();
					},
				],
				setSize: [() => this.onTime()],
			},
			padding: [8, units.length > 1 ? null : 12, 0, null],
		};
	}

	/** A click without a drag sets the time. */
	private linkCursor(chart: uPlot): void {
		let down = 0;
		chart.over.addEventListener("pointerdown", (event) => (down = event.clientX));
		chart.over.addEventListener("click", (event) => {
			if (Math.abs(event.clientX - down) > 5 || this.view.spectrum) return;
			const box = chart.over.getBoundingClientRect();
			const [left, top] = [event.clientX - box.left, event.clientY - box.top];
			const time = this.isPhase ? timeNear(chart, this.curves, scaleOf, left, top) : chart.posToVal(left, "x");
			if (time === null) return;
			this.app.setPlaying(false);
			this.app.seek(time);
		});
	}

	/** More values of a live run; a zoom that the person made stays. */
	refreshData(): void {
		const { chart } = this;
		if (!chart) return;
		if (this.isPhase) {
			this.curves = xyLines(this.lines(), this.view);
			return chart.setData(this.data(), true);
		}
		const t = chart.data[0];
		const { min, max } = chart.scales.x!;
		const whole = t.length < 2 || (min === t[0] && max === t[t.length - 1]);
		chart.setData(this.data(), whole);
		if (!whole) chart.redraw();
	}

	reset(): void {
		this.chart?.setData(this.data(), true);
	}

	private resize(): void {
		const { clientWidth, clientHeight } = this.area;
		if (this.chart && clientWidth > 50 && clientHeight > 50)
			this.chart.setSize({ width: clientWidth, height: clientHeight });
	}

	/* ---- the head ----------------------------------------------------------------------- */

	private makeChips(): void {
		this.values.length = 0;
		const chips = this.signals.map((signal) => {
			const swatch = el("span", { class: "swatch" });
			swatch.style.backgroundColor = this.color(signal);
			const value = el("span", { class: "value" });
			this.values.push(value);
			const remove = (): void => {
				this.remove(signal);
				this.hooks.changed();
			};
			return el(
				"span",
				{ class: "chip" },
				swatch,
				el("span", { class: "name", title: signal.name }, signal.name),
				value,
				button(`Remove ${signal.name}`, icon("close"), remove, { iconOnly: true }),
			);
		});
		this.chips.replaceChildren(...chips);
	}

	onTime(): void {
		const { chart, app } = this;
		if (!chart || chart.scales.x?.min === undefined) return;
		if (this.isPhase) this.dots.place(chart, this.curves, scaleOf, app.time);
		const x = chart.valToPos(app.time, "x");
		const { offsetLeft, offsetTop, offsetWidth, offsetHeight } = chart.over;
		const inside = x >= 0 && x <= offsetWidth;
		this.playhead.style.visibility = inside ? "visible" : "hidden";
		this.playhead.style.transform = `translateX(${offsetLeft + x - 1}px)`;
		this.playhead.style.top = `${offsetTop}px`;
		this.playhead.style.height = `${offsetHeight}px`;
		for (let i = 0; i < this.signals.length; i++) {
			const signal = this.signals[i]!;
			setText(this.values[i]!, withUnit(valueAt(signal.t, signal.values, app.time), signal.unit));
		}
	}

	/* ---- files -------------------------------------------------------------------------- */

	private saveCsv(): void {
		if (this.signals.length) saveText(csvText(this.signals), "text/csv", "signals.csv");
	}

	/** The lines in the range that is shown, in the colors of the light theme: for paper. */
	private saveSvg(): void {
		const { min, max } = this.chart?.scales.x ?? {};
		if (min === undefined || max === undefined || !(max > min)) return;
		const colors: readonly string[] = COLORS[this.app.theme.theme];
		const data = this.data(); // of spectra: frequencies and amplitudes
		const numbers = (line: PlotLine, i: number): Pick<SvgLine, "t" | "values" | "count"> => {
			const { t, values } = line.signal;
			if (this.isPhase) {
				const { x, y } = this.curves[i]!.curve;
				return { t: x, values: y, count: x.length };
			}
			if (!this.view.spectrum) return { t: t.data, values: values.data, count: Math.min(t.count, values.count) };
			return { t: data[0], values: data[i + 1] as ArrayLike<number>, count: data[0].length };
		};
		const lines = (this.isPhase ? this.curves : this.lines()).map((line, i) => ({
			name: lineName(line),
			unit: line.signal.unit,
			color: COLORS.light[colors.indexOf(line.color)]!,
			dashed: line.run > 0,
			...numbers(line, i),
		}));
		saveText(plotSvg(lines, { from: min, to: max, label: this.axisLabel }), "image/svg+xml", "plot.svg");
	}

	/** The chart with its names above, on the theme's background. */
	private async savePng(): Promise<void> {
		if (!this.chart) return;
		const source = this.chart.ctx.canvas;
		const ratio = source.width / this.chart.width;
		const line = 22 * ratio;
		const canvas = el("canvas");
		canvas.width = source.width;
		canvas.height = source.height + line * this.signals.length + 8 * ratio;
		const context = canvas.getContext("2d")!;
		context.fillStyle = cssColor("--panel");
		context.fillRect(0, 0, canvas.width, canvas.height);
		context.font = `${13 * ratio}px system-ui, sans-serif`;
		context.textBaseline = "middle";
		this.signals.forEach((signal, i) => {
			const y = (i + 0.7) * line;
			context.fillStyle = this.color(signal);
			context.fillRect(12 * ratio, y - 1.5 * ratio, 22 * ratio, 3 * ratio);
			context.fillStyle = cssColor("--text");
			context.fillText(signal.unit ? `${signal.name} [${unitText(signal.unit)}]` : signal.name, 42 * ratio, y);
		});
		context.drawImage(source, 0, line * this.signals.length + 8 * ratio);
		const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, "image/png"));
		if (blob) saveBlob(blob, "plot.png");
	}

	dispose(): void {
		this.observer.disconnect();
		this.chart?.destroy();
		this.element.remove();
	}
}

/** Stands in a color's slot whose signal was taken out. */
const FREE = {} as Signal;

/** A way to look at signals that can be on or off. */
type Way = "spectrum" | "logarithmic" | "difference" | "statistics" | "phase";

const scaleKey = (unit: string): string => `unit ${unit}`;
const scaleOf = ({ signal }: PlotLine): string => scaleKey(signal.unit);
