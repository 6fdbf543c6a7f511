// SPDX-License-Identifier: Apache-2.0
/*
 * turn.ts — the pose of a body between two frames (docs/replay.md, "Between frames").
 *
 * Two orientations do not say how often a body has turned between them; the angular velocities w0, w1 at both ends do. They
 * predict the rotation exp(dt (w0 + w1)/2) in world axes. What is left to the second orientation, the residual, is small where
 * the frames resolve the motion; it is spread over the interval such that the velocities at both ends stay. Positions follow
 * a cubic with the velocities at both ends. Nothing here allocates.
 */

type Numbers = Float32Array | Float64Array;

const first = new Float64Array(4); // quaternions w x y z
const second = new Float64Array(4);
const third = new Float64Array(4);
const vector = new Float64Array(3);

/** A residual above a quarter turn means that the frames do not resolve the motion [rad]. */
export const TURN_LIMIT = Math.PI / 2;

/** out = exp(x, y, z), the quaternion of a rotation vector. */
function exponential(x: number, y: number, z: number, out: Float64Array): void {
	const angle = Math.sqrt(x * x + y * y + z * z);
	const scale = angle < 1e-6 ? 0.5 : Math.sin(angle / 2) / angle;
	out[0] = Math.cos(angle / 2);
	out[1] = scale * x;
	out[2] = scale * y;
	out[3] = scale * z;
}

/** out[o …] = a b; out may be b. */
function product(a: Numbers, b: Numbers, bi: number, out: Numbers, o: number): void {
	const w = b[bi]!,
		x = b[bi + 1]!,
		y = b[bi + 2]!,
		z = b[bi + 3]!;
	out[o] = a[0]! * w - a[1]! * x - a[2]! * y - a[3]! * z;
	out[o + 1] = a[0]! * x + a[1]! * w + a[2]! * z - a[3]! * y;
	out[o + 2] = a[0]! * y - a[1]! * z + a[2]! * w + a[3]! * x;
	out[o + 3] = a[0]! * z + a[1]! * y - a[2]! * x + a[3]! * w;
}

/**
 * The residual rotation vector from the pose at p to that at q, into `out`; its length [rad]. `velocity`: linear and
 * angular, at v and w.
 */
export function residual(
	pose: Numbers,
	p: number,
	q: number,
	velocity: Numbers,
	v: number,
	w: number,
	dt: number,
	out: Float64Array,
): number {
	const half = dt / 2;
	exponential(
		half * (velocity[v + 3]! + velocity[w + 3]!),
		half * (velocity[v + 4]! + velocity[w + 4]!),
		half * (velocity[v + 5]! + velocity[w + 5]!),
		first,
	);
	product(first, pose, p + 3, second, 0);
	second[1] = -second[1]!;
	second[2] = -second[2]!;
	second[3] = -second[3]!;
	for (let k = 0; k < 4; k++) third[k] = pose[q + 3 + k]!;
	product(third, second, 0, first, 0);
	const sign = first[0]! < 0 ? -1 : 1;
	const sine = Math.sqrt(first[1]! * first[1]! + first[2]! * first[2]! + first[3]! * first[3]!);
	const angle = 2 * Math.atan2(sine, Math.abs(first[0]!));
	const scale = sine > 1e-12 ? (sign * angle) / sine : 2 * sign;
	for (let k = 0; k < 3; k++) out[k] = scale * first[1 + k]!;
	return angle;
}

/** The pose at the fraction f of the way from p to q, to out[o … o + 6]. */
export function between(
	pose: Numbers,
	p: number,
	q: number,
	velocity: Numbers,
	v: number,
	w: number,
	dt: number,
	f: number,
	out: Float32Array,
	o: number,
): void {
	const g = 1 - f;
	const blend = f * f * (3 - 2 * f);
	for (let k = 0; k < 3; k++)
		out[o + k] =
			(1 - blend) * pose[p + k]! +
			blend * pose[q + k]! +
			dt * f * g * (g * velocity[v + k]! - f * velocity[w + k]!);
	residual(pose, p, q, velocity, v, w, dt, vector);
	exponential(blend * vector[0]!, blend * vector[1]!, blend * vector[2]!, third);
	const late = (dt * f * f) / 2;
	const early = dt * f - late;
	exponential(
		early * velocity[v + 3]! + late * velocity[w + 3]!,
		early * velocity[v + 4]! + late * velocity[w + 4]!,
		early * velocity[v + 5]! + late * velocity[w + 5]!,
		first,
	);
	product(first, pose, p + 3, second, 0);
	product(third, second, 0, out, o + 3);
}
