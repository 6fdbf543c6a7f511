// SPDX-License-Identifier: Apache-2.0
/*
 * plot_data.ts — the numbers that a plot draws, as uPlot takes them, by the way it is looked at: over time, as spectra, as
 * differences between two runs.
 */
import uPlot from "uplot";
import { difference, spectrum } from "../data/analysis.js";
import type { Signal } from "../data/replay.js";

/** How a plot shows its signals. */
export interface PlotView {
	spectrum: boolean;
	logarithmic: boolean;
	difference: boolean;
	statistics: boolean;
	/** Over the first signal instead of over time (plot_xy.ts). */
	phase: boolean;
	/** Of spectra and x-y plots: the window of time that they are of. */
	from: number;
	to: number;
}

export const overTime = (): PlotView => ({
	spectrum: false,
	logarithmic: false,
	difference: false,
	statistics: false,
	phase: false,
	from: -Infinity,
	to: Infinity,
});

export interface PlotLine {
	signal: Signal;
	color: string;
	run: number; // 0: that which is shown; 1 …: others
}

/** A signal with those of the other runs, or the differences to them. */
export function linesOf(signal: Signal, others: (Signal | undefined)[], color: string, view: PlotView): PlotLine[] {
	const lines = others.flatMap((other, i) => {
		if (!other) return [];
		return [{ signal: view.difference ? difference(signal, other) : other, color, run: i + 1 }];
	});
	return view.difference && lines.length ? lines : [{ signal, color, run: 0 }, ...lines];
}

const RUNS = ["", " (second run)", " (third run)", " (fourth run)"] as const;
export const lineName = ({ signal, run }: PlotLine): string => signal.name + (RUNS[run] ?? ` (run ${run + 1})`);

/** Dashes distinguish runs, as colors do signals. */
const DASHES = [
	[6, 5],
	[2, 4],
	[12, 4, 2, 4],
] as const;
export const dashOf = ({ run }: PlotLine): number[] | undefined =>
	run > 0 ? [...DASHES[(run - 1) % DASHES.length]!] : undefined;

function tableOf(signal: Signal, view: PlotView): uPlot.AlignedData {
	const count = Math.min(signal.t.count, signal.values.count);
	const t = signal.t.data.subarray(0, count);
	if (!view.spectrum) return [t, shown(signal.values.data.subarray(0, count), view)];
	const found = spectrum(signal, Math.max(view.from, t[0]!), Math.min(view.to, t[count - 1]!));
	return found ? [found.frequency, shown(found.amplitude, view)] : [[], []];
}

export function dataOf(lines: PlotLine[], view: PlotView): uPlot.AlignedData {
	const tables = lines.map(({ signal }) => tableOf(signal, view));
	const shared = tables.every((t) => sameTimes(t[0]!, tables[0]![0]!));
	if (shared) return [tables[0]![0]!, ...tables.map((t) => t[1]!)] as uPlot.AlignedData;
	return uPlot.join(
		tables,
		tables.map((t) => t.map(() => 0)),
	);
}

function sameTimes(a: ArrayLike<number>, b: ArrayLike<number>): boolean {
	if (a.length !== b.length) return false;
	for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
	return true;
}

/** uPlot leaves out null; NaN would spoil its scales. A logarithmic axis shows magnitudes, and nothing of zero. */
function shown(values: Float32Array | Float64Array, { logarithmic }: PlotView): (number | null)[] {
	const drawn = (v: number): boolean => Number.isFinite(v) && !(logarithmic && v === 0);
	if (!logarithmic && values.every(drawn)) return values as unknown as (number | null)[];
	return Array.from(values, (v) => (drawn(v) ? (logarithmic ? Math.abs(v) : v) : null));
}
