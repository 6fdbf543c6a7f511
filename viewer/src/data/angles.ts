// SPDX-License-Identifier: Apache-2.0
/*
 * angles.ts — orientations for people.
 */

/** The quaternion w x y z of the rows of [R p]; w >= 0. */
export function quaternionOf(m: ArrayLike<number>, o = 0): number[] {
	const [a, b, c] = [m[o]!, m[o + 5]!, m[o + 10]!];
	// Each is four times the square of a component: the largest is safe to divide by.
	const squares = [1 + a + b + c, 1 + a - b - c, 1 - a + b - c, 1 - a - b + c];
	const largest = squares.indexOf(Math.max(...squares));
	const [x, y, z] = [m[o + 9]! - m[o + 6]!, m[o + 2]! - m[o + 8]!, m[o + 4]! - m[o + 1]!];
	const [xy, xz, yz] = [m[o + 1]! + m[o + 4]!, m[o + 2]! + m[o + 8]!, m[o + 6]! + m[o + 9]!];
	const rows = [
		[squares[0]!, x, y, z],
		[x, squares[1]!, xy, xz],
		[y, xy, squares[2]!, yz],
		[z, xz, yz, squares[3]!],
	];
	const q = rows[largest]!;
	const scale = (q[0]! < 0 ? -1 : 1) / Math.hypot(...q);
	return q.map((v) => v * scale);
}

/** Yaw, pitch and roll [rad] of the rows of [R p]: R = Rz(yaw) Ry(pitch) Rx(roll). Upright, roll is taken as zero. */
export function eulerAngles(m: ArrayLike<number>, o = 0): [number, number, number] {
	const pitch = Math.atan2(-m[o + 8]!, Math.hypot(m[o]!, m[o + 4]!));
	if (Math.hypot(m[o]!, m[o + 4]!) < 1e-6) return [Math.atan2(-m[o + 1]!, m[o + 5]!), pitch, 0];
	return [Math.atan2(m[o + 4]!, m[o]!), pitch, Math.atan2(m[o + 9]!, m[o + 10]!)];
}
