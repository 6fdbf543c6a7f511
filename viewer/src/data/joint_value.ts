// SPDX-License-Identifier: Apache-2.0
/*
 * joint_value.ts — the coordinate of a joint: its signal where there is one; else, of a joint with one degree of freedom, from
 * where its two frames are: the angle about its axis, or the length along it.
 */
import type { Joint } from "./replay.js";
import { valueAt, type Sample } from "./sample.js";

/** Parts of the frame `to` seen from the frame `from`. */
function relative(sample: Sample, { from, to }: Joint): void {
	const { bodies } = sample.replay;
	sample.place(bodies[from.body]!, from, 1, base);
	sample.place(bodies[to.body]!, to, 1, tip);
}

/** The angle that turns `from` into `to` about the axis, in (-pi, pi]. */
function angle(axis: ArrayLike<number>): number {
	const norm = Math.hypot(axis[0]!, axis[1]!, axis[2]!);
	const [x, y, z] = [axis[0]! / norm, axis[1]! / norm, axis[2]! / norm];
	// R = base' tip: its trace gives the cosine, what is not symmetric the sine along the axis.
	const r = (i: number, k: number): number =>
		base[i]! * tip[k]! + base[4 + i]! * tip[4 + k]! + base[8 + i]! * tip[8 + k]!;
	const cosine = (r(0, 0) + r(1, 1) + r(2, 2) - 1) / 2;
	const sine = (x * (r(2, 1) - r(1, 2)) + y * (r(0, 2) - r(2, 0)) + z * (r(1, 0) - r(0, 1))) / 2;
	return Math.atan2(sine, cosine);
}

function length(axis: ArrayLike<number>): number {
	const norm = Math.hypot(axis[0]!, axis[1]!, axis[2]!);
	let sum = 0;
	for (let k = 0; k < 3; k++) {
		let along = 0; // of the frame `from`
		for (let r = 0; r < 3; r++) along += base[r * 4 + k]! * (tip[r * 4 + 3]! - base[r * 4 + 3]!);
		sum += (along * axis[k]!) / norm;
	}
	return sum;
}

/** NaN: it is not known. */
export function jointValue(sample: Sample, joint: Joint, dof: number): number {
	const { axis, dofs, type, name } = joint;
	const wanted = dofs.length > 1 ? `q:${name}.${dofs[dof]?.name}` : `q:${name}`;
	const signal = sample.replay.signals.find((s) => s.name === wanted);
	if (signal) return valueAt(signal.t, signal.values, sample.time);
	if (!axis || (type !== "revolute" && type !== "prismatic")) return NaN;
	relative(sample, joint);
	return type === "revolute" ? angle(axis) : length(axis);
}

const base = new Float32Array(12);
const tip = new Float32Array(12);
