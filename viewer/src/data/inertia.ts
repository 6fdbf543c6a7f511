// SPDX-License-Identifier: Apache-2.0
/*
 * inertia.ts — principal moments and axes of an inertia, and the solid ellipsoid that has the same mass and inertia.
 */

export interface Principal {
	moments: number[]; // [3], in increasing order
	axes: number[][]; // [3][3]: unit vectors in body axes, right-handed
}

/** Jacobi rotations: a few of them make three by three diagonal to rounding. */
export function principalInertia(inertia: readonly number[]): Principal {
	const [xx = 0, yy = 0, zz = 0, xy = 0, xz = 0, yz = 0] = inertia;
	const a = [
		[xx, xy, xz],
		[xy, yy, yz],
		[xz, yz, zz],
	];
	const v = [
		[1, 0, 0],
		[0, 1, 0],
		[0, 0, 1],
	];
	for (let sweep = 0; sweep < 12; sweep++)
		for (const [p, q] of [
			[0, 1],
			[0, 2],
			[1, 2],
		] as const)
			rotate(a, v, p, q);
	const order = [0, 1, 2].sort((i, k) => a[i]![i]! - a[k]![k]!);
	const axes = order.map((k) => [0, 1, 2].map((r) => v[r]![k]!));
	const [x, y] = axes as [number[], number[]];
	axes[2] = [x[1]! * y[2]! - x[2]! * y[1]!, x[2]! * y[0]! - x[0]! * y[2]!, x[0]! * y[1]! - x[1]! * y[0]!];
	return { moments: order.map((k) => a[k]![k]!), axes };
}

/** Turns the plane of p and q so that a[p][q] is zero, and the vectors with it. */
function rotate(a: number[][], v: number[][], p: 0 | 1, q: 1 | 2): void {
	const apq = a[p]![q]!;
	if (Math.abs(apq) <= 1e-300) return;
	const angle = 0.5 * Math.atan2(2 * apq, a[q]![q]! - a[p]![p]!);
	const [c, s] = [Math.cos(angle), Math.sin(angle)];
	for (let k = 0; k < 3; k++) {
		const [kp, kq] = [a[k]![p]!, a[k]![q]!];
		((a[k]![p] = c * kp - s * kq), (a[k]![q] = s * kp + c * kq));
	}
	for (let k = 0; k < 3; k++) {
		const [pk, qk] = [a[p]![k]!, a[q]![k]!];
		((a[p]![k] = c * pk - s * qk), (a[q]![k] = s * pk + c * qk));
		const [vp, vq] = [v[k]![p]!, v[k]![q]!];
		((v[k]![p] = c * vp - s * vq), (v[k]![q] = s * vp + c * vq));
	}
}

/** Half the axes of the homogeneous ellipsoid of this mass with these moments; of none where it has no extent. */
export function ellipsoidAxes(mass: number, moments: readonly number[]): number[] {
	const sum = moments.reduce((a, b) => a + b, 0);
	return moments.map((m) => Math.sqrt(Math.max(0, (5 / (2 * mass)) * (sum - 2 * m))));
}
