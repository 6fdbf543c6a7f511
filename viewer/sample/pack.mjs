// SPDX-License-Identifier: Apache-2.0
/*
 * pack.mjs — helpers of the sample documents: packed arrays, quaternions, and the HTML file around a document, made
 * the way docs/replay.md says. The samples are kinematics made up for tests; no simulation is behind them.
 */
import { readFileSync } from "node:fs";

const TYPES = {
	f32: Float32Array,
	f64: Float64Array,
	i32: Int32Array,
	u32: Uint32Array,
	i16: Int16Array,
	u16: Uint16Array,
	u8: Uint8Array,
};

export function pack(type, shape, values) {
	const data = TYPES[type].from(values);
	return { type, shape, data: Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("base64") };
}

/** The page with the document in it. */
export function page(document) {
	const template = readFileSync(new URL("../dist/viewer.html", import.meta.url), "utf8");
	const json = JSON.stringify(document).replaceAll("<", "\\u003c");
	const [before, after] = template.split("@CALDER_REPLAY_JSON@");
	return before + json + after;
}

export const turn = (x, y, z, angle) => {
	const s = Math.sin(angle / 2) / Math.hypot(x, y, z);
	return [Math.cos(angle / 2), x * s, y * s, z * s];
};

export const compose = ([a, b, c, d], [e, f, g, h]) => [
	a * e - b * f - c * g - d * h,
	a * f + b * e + c * h - d * g,
	a * g - b * h + c * e + d * f,
	a * h + b * g - c * f + d * e,
];

export const rotate = (q, [x, y, z]) => {
	const [, b, c, d] = compose(compose(q, [0, x, y, z]), [q[0], -q[1], -q[2], -q[3]]);
	return [b, c, d];
};

export const add = (a, b) => a.map((v, i) => v + b[i]);

/** A frame on a frame: {at, q} on {at, q}. */
export const on = (base, at, q = [1, 0, 0, 0]) => ({ at: add(base.at, rotate(base.q, at)), q: compose(base.q, q) });

export const head = (title, model) => ({
	format: "calder-replay",
	version: 1,
	title,
	software: "calder",
	software_version: "sample",
	created: "2026-01-01T00:00:00Z",
	model_name: model,
});
