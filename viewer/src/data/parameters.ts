// SPDX-License-Identifier: Apache-2.0
/*
 * parameters.ts — the numbers of a live run that a page may change, and the moments that it can go back to (docs/replay.md).
 */
import { dict, index, list, number, text } from "./values.js";

export interface Parameter {
	name: string; // "device:servo.proportional", "body:arm.mass"
	owner: string; // "device servo", "body arm"
	key: string; // "proportional", "mass"
	unit: string;
	value: number; // NaN: none, e.g. a limit that is not there
	low: number;
	high: number;
	fixed: string; // why it cannot be changed; "": it can
}

export interface Moment {
	moment: number; // 0: the start
	t: number;
}

function decodeParameter(value: unknown, place: string): Parameter {
	const from = dict(value, place);
	const name = text(from.name, `${place}.name`);
	const [, kind, object, key] = /^(\w+):(.*?)\.([^.]*(?:\.[xyz])?)$/.exec(name) ?? ["", "", name, name];
	return {
		name,
		owner: kind ? `${kind} ${object}` : name,
		key: key!,
		unit: text(from.unit, `${place}.unit`, ""),
		value: typeof from.value === "number" ? from.value : NaN,
		low: number(from.low, `${place}.low`, -Infinity),
		high: number(from.high, `${place}.high`, Infinity),
		fixed: text(from.fixed, `${place}.fixed`, ""),
	};
}

/** Of a live document. */
export function decodeParameters(document: unknown): Parameter[] {
	const { live } = dict(document, "document");
	if (live === undefined) return [];
	return list(dict(live, "live").parameters, "live.parameters").map((p, i) =>
		decodeParameter(p, `live.parameters[${i}]`),
	);
}

/** A change of one of them: its index and its value. */
export function decodeChange(value: unknown, count: number): { index: number; value: number } {
	const from = dict(value, "parameter");
	return {
		index: index(from.index, count, "parameter.index"),
		value: typeof from.value === "number" ? from.value : NaN,
	};
}

export function decodeMoments(value: unknown): Moment[] {
	return list(value, "moments").map((m, i) => {
		const from = dict(m, `moments[${i}]`);
		return { moment: number(from.moment, `moments[${i}].moment`), t: number(from.t, `moments[${i}].t`) };
	});
}
