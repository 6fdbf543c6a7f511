// SPDX-License-Identifier: Apache-2.0
/*
 * plot_xy.ts — signals over another one instead of over time, as phase plots are: curves that time runs along, for uPlot, a dot
 * on each at the time shown, and the time of the sample that is nearest to a place in the plot.
 */
import type uPlot from "uplot";
import { along, type Curve } from "../data/analysis.js";
import { valueAt } from "../data/sample.js";
import { el } from "./dom.js";
import type { PlotLine, PlotView } from "./plot_data.js";

/** A line of an x-y plot: y over x, both of the same run. */
export interface XyLine extends PlotLine {
	x: PlotLine;
	curve: Curve;
}

/** The first signal is x; the lines of a run are over x of that run. */
export function xyLines(lines: PlotLine[], view: PlotView): XyLine[] {
	const first = lines[0]?.signal.name;
	const across = lines.filter(({ signal }) => signal.name === first);
	return lines.flatMap((line) => {
		const x = across.find(({ run }) => run === line.run);
		if (!x || x === line) return [];
		return [{ ...line, x, curve: along(x.signal, line.signal, view.from, view.to) }];
	});
}

/** As uPlot takes points that are not sorted. */
export function xyData(lines: XyLine[]): uPlot.AlignedData {
	return [null, ...lines.map(({ curve }) => [curve.x, curve.y])] as unknown as uPlot.AlignedData;
}

/** The stroke of a curve, in the order of time; values that are not finite interrupt it. */
export function xyPath(chart: uPlot, index: number): uPlot.Series.Paths {
	const [xs, ys] = chart.data[index] as unknown as [Float64Array, Float64Array];
	const scale = chart.series[index]!.facets![1]!.scale;
	const stroke = new Path2D();
	let down = false;
	for (let i = 0; i < xs.length; i++) {
		const finite = Number.isFinite(xs[i]! + ys[i]!);
		if (finite) {
			const [x, y] = [chart.valToPos(xs[i]!, "x", true), chart.valToPos(ys[i]!, scale, true)];
			if (down) stroke.lineTo(x, y);
			else stroke.moveTo(x, y);
		}
		down = finite;
	}
	return { stroke, fill: null, clip: null, band: null, gaps: null, flags: 1 } as unknown as uPlot.Series.Paths;
}

/** The dots of the run that is shown, at the time shown. */
export class XyDots {
	readonly element = el("div", { class: "xy-dots" });

	set(lines: XyLine[]): void {
		const dots = lines
			.filter(({ run }) => run === 0)
			.map((line) => {
				const dot = el("span", { class: "xy-dot" });
				dot.style.backgroundColor = line.color;
				return dot;
			});
		this.element.replaceChildren(...dots);
	}

	place(chart: uPlot, lines: XyLine[], scaleOf: (line: XyLine) => string, time: number): void {
		const { offsetLeft, offsetTop, offsetWidth, offsetHeight } = chart.over;
		lines
			.filter(({ run }) => run === 0)
			.forEach((line, i) => {
				const dot = this.element.children[i] as HTMLElement;
				const at = (of: PlotLine): number => valueAt(of.signal.t, of.signal.values, time);
				const [x, y] = [chart.valToPos(at(line.x), "x"), chart.valToPos(at(line), scaleOf(line))];
				const inside = x >= 0 && y >= 0 && x <= offsetWidth && y <= offsetHeight;
				dot.style.visibility = inside ? "visible" : "hidden";
				if (inside) dot.style.transform = `translate(${offsetLeft + x}px, ${offsetTop + y}px)`;
			});
	}
}

/** The time of the sample of the run shown that is drawn nearest to a place [px]; null: nothing is within 30 px. */
export function timeNear(
	chart: uPlot,
	lines: XyLine[],
	scaleOf: (line: XyLine) => string,
	left: number,
	top: number,
): number | null {
	let [best, least]: [number | null, number] = [null, 30 * 30];
	for (const line of lines) {
		if (line.run !== 0) continue;
		const { t, x, y } = line.curve;
		for (let i = 0; i < t.length; i++) {
			const away = (chart.valToPos(x[i]!, "x") - left) ** 2 + (chart.valToPos(y[i]!, scaleOf(line)) - top) ** 2;
			if (away < least) [best, least] = [t[i]!, away];
		}
	}
	return best;
}
