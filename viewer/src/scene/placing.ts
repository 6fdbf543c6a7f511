// SPDX-License-Identifier: Apache-2.0
/*
 * placing.ts — unit shapes in the frame of a body: rows of [R p], the columns of R scaled.
 */
import { poseToMatrix } from "../data/sample.js";

/** Rows of [R p] of a placement, the columns of R multiplied by the sizes. */
export function scaled(
	at: ArrayLike<number>,
	orientation: ArrayLike<number>,
	x: number,
	y: number,
	z: number,
): Float32Array {
	const pose = Float32Array.of(
		at[0]!,
		at[1]!,
		at[2]!,
		orientation[0]!,
		orientation[1]!,
		orientation[2]!,
		orientation[3]!,
	);
	const out = new Float32Array(12);
	poseToMatrix(pose, 0, out, 0);
	for (let r = 0; r < 12; r += 4) {
		out[r]! *= x;
		out[r + 1]! *= y;
		out[r + 2]! *= z;
	}
	return out;
}

/** A unit cylinder from a to b. */
export function between(a: ArrayLike<number>, b: ArrayLike<number>, radius: number): Float32Array {
	const d = [b[0]! - a[0]!, b[1]! - a[1]!, b[2]! - a[2]!];
	const length = Math.hypot(d[0]!, d[1]!, d[2]!);
	const [x, y, z] = length > 0 ? d.map((v) => v / length) : [0, 0, 1];
	// The shortest turn from z to the direction; half a turn about x where they are opposite.
	const w = 1 + z!;
	const norm = Math.hypot(w, x!, y!);
	const q = norm > 1e-6 ? [w / norm, -y! / norm, x! / norm, 0] : [0, 1, 0, 0];
	const middle = [0, 1, 2].map((k) => (a[k]! + b[k]!) / 2);
	return scaled(middle, q, radius, radius, length);
}
