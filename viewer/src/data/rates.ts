// SPDX-License-Identifier: Apache-2.0
/*
 * rates.ts — how a body moves at a moment: velocity of its origin and angular velocity, world axes. As recorded, where the
 * document has it; else by differences of the poses around the moment, of second order.
 */
import type { Frames } from "./replay.js";
import type { Sample } from "./sample.js";

export type RateSource = "recorded" | "differences" | "none";

/** The mean rates over the frames i, i + 1 into out; false: they have no time between them. */
function overInterval(frames: Frames, i: number, body: number, out: Float64Array): boolean {
	const { t, pose, origin } = frames;
	const dt = i >= 0 && i + 1 < t.count ? t.data[i + 1]! - t.data[i]! : 0;
	if (!(dt > 0)) return false;
	const { data, width } = pose;
	const a = i * width + body * 7;
	const b = a + width;
	for (let k = 0; k < 3; k++) {
		out[k] = (data[b + k]! - data[a + k]!) / dt;
		if (origin) out[k]! += (origin.data[(i + 1) * 3 + k]! - origin.data[i * 3 + k]!) / dt;
	}
	// The turn b a' as a rotation vector, by the shorter way.
	const [aw, ax, ay, az] = [data[a + 3]!, data[a + 4]!, data[a + 5]!, data[a + 6]!];
	const [bw, bx, by, bz] = [data[b + 3]!, data[b + 4]!, data[b + 5]!, data[b + 6]!];
	const w = bw * aw + bx * ax + by * ay + bz * az;
	const x = -bw * ax + bx * aw - by * az + bz * ay;
	const y = -bw * ay + by * aw - bz * ax + bx * az;
	const z = -bw * az + bz * aw - bx * ay + by * ax;
	const sine = Math.sqrt(x * x + y * y + z * z);
	const angle = 2 * Math.atan2(sine, Math.abs(w));
	const scale = ((sine > 1e-12 ? angle / sine : 2) * (w < 0 ? -1 : 1)) / dt;
	((out[3] = x * scale), (out[4] = y * scale), (out[5] = z * scale));
	return true;
}

/** The rates at frame i: those of the intervals on both sides, the shorter one with the larger weight. */
function atFrame(frames: Frames, i: number, body: number, out: Float64Array): boolean {
	const before = overInterval(frames, i - 1, body, scratch);
	const after = overInterval(frames, i, body, out);
	if (!before) return after;
	if (!after) {
		out.set(scratch);
		return true;
	}
	const { data } = frames.t;
	const f = (data[i]! - data[i - 1]!) / (data[i + 1]! - data[i - 1]!);
	for (let k = 0; k < 6; k++) out[k] = f * out[k]! + (1 - f) * scratch[k]!;
	return true;
}

/** Velocity, then angular velocity of a body at the sample's time, into out [6]. */
export function bodyRates(sample: Sample, body: number, out: Float64Array): RateSource {
	const { frames, bodies } = sample.replay;
	const { frame, fraction } = sample;
	out.fill(0);
	if (body === bodies.length - 1) return "recorded";
	const known = frames.velocity.find((v) => v.body === body);
	if (known) {
		const { data, width } = known.values;
		const a = frame * width + known.offset;
		const b = fraction > 0 ? a + width : a;
		for (let k = 0; k < 6; k++) out[k] = data[a + k]! + fraction * (data[b + k]! - data[a + k]!);
		return "recorded";
	}
	if (!atFrame(frames, frame, body, out)) return "none";
	if (fraction > 0 && atFrame(frames, frame + 1, body, later))
		for (let k = 0; k < 6; k++) out[k]! += fraction * (later[k]! - out[k]!);
	return "differences";
}

const scratch = new Float64Array(6);
const later = new Float64Array(6);
