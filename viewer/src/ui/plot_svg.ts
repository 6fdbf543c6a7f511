// SPDX-License-Identifier: Apache-2.0
/*
 * plot_svg.ts — a plot as an SVG file, for papers: the same lines over the same range of time as on the screen, on white, with an
 * axis per unit and the names above. Needs nothing else: no scripts, no fonts of its own.
 */

import { unitText } from "./dom.js";

export interface SvgLine {
	name: string;
	unit: string;
	color: string;
	dashed: boolean;
	t: ArrayLike<number>;
	values: ArrayLike<number>;
	count: number;
}

export interface SvgRange {
	from: number; // [s]
	to: number;
	label: string; // of its axis
}

const WIDTH = 560; // of the axes [px]
const HEIGHT = 300;
const AXIS = 64; // room of an axis
const ROW = 18;

const escaped = (text: string): string =>
	text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]!);

/** Multiples of 1, 2 or 5 times a power of ten within a range, at most nine. */
export function ticks(low: number, high: number): number[] {
	const raw = (high - low) / 8;
	const power = 10 ** Math.floor(Math.log10(raw));
	const step = power * (raw > 5 * power ? 10 : raw > 2 * power ? 5 : raw > power ? 2 : 1);
	const first = Math.ceil(low / step - 1e-9);
	const count = Math.floor(high / step + 1e-9) - first + 1;
	return Array.from({ length: count }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

/** The least and the greatest value of some lines within a range, with some room for a constant. */
function extent(lines: SvgLine[], { from, to }: SvgRange): [number, number] {
	let [low, high] = [Infinity, -Infinity];
	for (const { t, values, count } of lines)
		for (let i = 0; i < count; i++) {
			const v = values[i]!;
			if (!Number.isFinite(v) || t[i]! < from || t[i]! > to) continue;
			low = Math.min(low, v);
			high = Math.max(high, v);
		}
	if (!(high >= low)) return [0, 1];
	const room = high > low ? 0.04 * (high - low) : Math.abs(high) * 0.1 || 1;
	return [low - room, high + room];
}

/** M and L of the samples within the range; one that is not finite ends the stroke. */
function path(line: SvgLine, { from, to }: SvgRange, x: (t: number) => number, y: (v: number) => number): string {
	const parts: string[] = [];
	let down = false;
	for (let i = 0; i < line.count; i++) {
		const inside = line.t[i]! >= from && line.t[i]! <= to && Number.isFinite(line.values[i]);
		if (inside) parts.push(`${down ? "L" : "M"}${x(line.t[i]!).toFixed(1)} ${y(line.values[i]!).toFixed(1)}`);
		down = inside;
	}
	return parts.join("");
}

export function plotSvg(lines: SvgLine[], range: SvgRange): string {
	const units = [...new Set(lines.map((line) => line.unit))];
	const left = AXIS * Math.ceil(units.length / 2);
	const width = left + WIDTH + Math.max(20, AXIS * Math.floor(units.length / 2));
	const top = ROW * lines.length + 16;
	const height = top + HEIGHT + 44;
	const x = (t: number): number => left + ((t - range.from) / (range.to - range.from)) * WIDTH;
	const out: string[] = [
		`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ` +
			`font-family="Helvetica, Arial, sans-serif" font-size="12" fill="#222">`,
		`<rect width="100%" height="100%" fill="#fff"/>`,
	];
	const text = (px: number, py: number, anchor: string, content: string): void => {
		out.push(`<text x="${px.toFixed(1)}" y="${py.toFixed(1)}" text-anchor="${anchor}">${escaped(content)}</text>`);
	};
	for (const t of ticks(range.from, range.to)) {
		out.push(`<path stroke="#e4e4e4" d="M${x(t).toFixed(1)} ${top}v${HEIGHT}"/>`);
		text(x(t), top + HEIGHT + 17, "middle", String(t));
	}
	text(left + WIDTH / 2, top + HEIGHT + 36, "middle", range.label);
	units.forEach((unit, k) => {
		const own = lines.filter((line) => line.unit === unit);
		const [low, high] = extent(own, range);
		const y = (v: number): number => top + HEIGHT - ((v - low) / (high - low)) * HEIGHT;
		const right = k % 2 === 1;
		const at = right ? left + WIDTH + AXIS * ((k - 1) / 2) + 6 : left - AXIS * (k / 2) - 6;
		for (const v of ticks(low, high)) {
			if (k === 0) out.push(`<path stroke="#e4e4e4" d="M${left} ${y(v).toFixed(1)}h${WIDTH}"/>`);
			text(at, y(v) + 4, right ? "start" : "end", String(v));
		}
		if (unit) text(at, top - 6, right ? "start" : "end", `[${unitText(unit)}]`);
		for (const line of own)
			out.push(
				`<path fill="none" stroke="${escaped(line.color)}" stroke-width="1.6" stroke-linejoin="round"` +
					`${line.dashed ? ' stroke-dasharray="6 4"' : ""} d="${path(line, range, x, y)}"/>`,
			);
	});
	out.push(`<rect fill="none" stroke="#888" x="${left}" y="${top}" width="${WIDTH}" height="${HEIGHT}"/>`);
	lines.forEach((line, i) => {
		const y = 14 + ROW * i;
		const dash = line.dashed ? ' stroke-dasharray="6 4"' : "";
		out.push(`<path stroke="${escaped(line.color)}" stroke-width="2"${dash} d="M${left} ${y - 4}h24"/>`);
		text(left + 32, y, "start", line.unit ? `${line.name} [${unitText(line.unit)}]` : line.name);
	});
	return `${out.join("\n")}\n</svg>\n`;
}
