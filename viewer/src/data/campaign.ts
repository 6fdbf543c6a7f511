// SPDX-License-Identifier: Apache-2.0
/*
 * campaign.ts — a campaign as `calder view FOLDER` writes it (docs/replay.md, "Campaigns"), checked: what varies, what came out,
 * one row per case, and replays of some of them, which stay as they are until somebody asks for one.
 */
import { choice, dict, fail, index, list, number, text, type Dict } from "./values.js";

export interface Axis {
	name: string;
	unit: string;
	role: "parameter" | "output";
	texts: string[]; // that its numbers stand for; empty: they are numbers
	above: number; // limits; ∓Infinity: none
	below: number;
}

export interface Case {
	number: number;
	status: string;
	message: string;
	values: Float64Array; // [axes], NaN: none
	replay: unknown; // its document; undefined: none
}

export interface Campaign {
	title: string;
	model: string;
	axes: Axis[];
	cases: Case[];
}

export const isCampaign = (value: unknown): boolean =>
	typeof value === "object" && value !== null && (value as Dict).format === "calder-campaign";

function decodeAxis(value: unknown, place: string): Axis {
	const from = dict(value, place);
	return {
		name: text(from.name, `${place}.name`),
		unit: text(from.unit, `${place}.unit`, ""),
		role: choice(from.role, ["parameter", "output"] as const, `${place}.role`),
		texts: list(from.texts, `${place}.texts`).map((t, i) => text(t, `${place}.texts[${i}]`)),
		above: number(from.above, `${place}.above`, -Infinity),
		below: number(from.below, `${place}.below`, Infinity),
	};
}

function decodeCase(value: unknown, axes: number, place: string): Case {
	const from = dict(value, place);
	const values = list(from.values, `${place}.values`);
	if (values.length !== axes) fail(`${place}.values`, `has ${values.length} numbers instead of ${axes}`);
	return {
		number: index(from.case, 2 ** 53, `${place}.case`),
		status: text(from.status, `${place}.status`),
		message: text(from.message, `${place}.message`, ""),
		values: Float64Array.from(values, (v, i) => number(v, `${place}.values[${i}]`, NaN)),
		replay: undefined,
	};
}

export function decodeCampaign(value: unknown): Campaign {
	const root = dict(value, "document");
	if (root.version !== 1) fail("version", `${String(root.version)} is not 1, which this viewer reads`);
	const axes = list(root.axes, "axes").map((a, i) => decodeAxis(a, `axes[${i}]`));
	const cases = list(root.cases, "cases").map((c, i) => decodeCase(c, axes.length, `cases[${i}]`));
	list(root.replays, "replays").forEach((r, i) => {
		const from = dict(r, `replays[${i}]`);
		const found = cases.find((c) => c.number === from.case);
		if (!found) fail(`replays[${i}].case`, "is no case of the campaign");
		found.replay = dict(from.replay, `replays[${i}].replay`);
	});
	return { title: text(root.title, "title", ""), model: text(root.model, "model", ""), axes, cases };
}

/* ---- places ---------------------------------------------------------------------------------- */

/** The least and the greatest value of every axis; of one that does not vary some room around it. */
export function ranges({ axes, cases }: Campaign): [number, number][] {
	return axes.map((_, a) => {
		let [low, high] = [Infinity, -Infinity];
		for (const { values } of cases) {
			const v = values[a]!;
			if (!Number.isFinite(v)) continue;
			low = Math.min(low, v);
			high = Math.max(high, v);
		}
		if (!(high >= low)) return [0, 1];
		if (high > low) return [low, high];
		const room = Math.abs(low) || 1;
		return [low - room, high + room];
	});
}

/**
 * How far a place is from the line of a case, vertically [px]: at x between two axes, the line is straight. heights: where
 * the case is on each axis, xs: where the axes are. Infinity: the line is not there.
 */
export function lineDistance(xs: number[], heights: ArrayLike<number>, x: number, y: number): number {
	const k = Math.min(
		xs.length - 2,
		xs.findLastIndex((at) => at <= x),
	);
	if (xs.length === 1) return Math.abs(heights[0]! - y);
	if (k < 0) return Infinity;
	const part = (x - xs[k]!) / (xs[k + 1]! - xs[k]!);
	const at = heights[k]! + part * (heights[k + 1]! - heights[k]!);
	return Number.isFinite(at) && part <= 1.05 ? Math.abs(at - y) : Infinity;
}
