// SPDX-License-Identifier: Apache-2.0
/*
 * framing.ts — from where a run is looked at first, and how far away the camera must be.
 *
 * What moves is known by points (corners of the boxes of its bodies over the run). The distance at which all of them are
 * in the free part of the picture follows from their directions; the target is shifted until they are centered there.
 * Among directions that people expect, the one from which the points cover most of the picture is taken: a planar
 * mechanism is seen from its front, not along its plane.
 */
import { Vector3 } from "three";

export interface Bounds {
	center: Vector3;
	radius: number; // of a ball that holds all
	low: number; // along the up direction
	corners: Vector3[];
}

/** Half the tangents of the angles that the free part of the picture covers. */
export interface Opening {
	wide: number;
	tall: number;
}

const MARGIN = 0.94; // of the free part of the picture

/** Of many points those that are outermost in some direction: enough to frame them. */
export function outermost(points: Vector3[]): Vector3[] {
	if (points.length <= 64) return points;
	const found = new Set<Vector3>();
	for (let i = 0; i < 96; i++) {
		// Directions of a spiral, evenly over the sphere.
		const z = 1 - (2 * i + 1) / 96,
			a = i * 2.399963,
			r = Math.sqrt(1 - z * z);
		const [x, y] = [r * Math.cos(a), r * Math.sin(a)];
		let best = points[0]!,
			most = -Infinity;
		for (const p of points) {
			const along = x * p.x + y * p.y + z * p.z;
			if (along > most) ((most = along), (best = p));
		}
		found.add(best);
	}
	return [...found];
}

/** Points in the frame of a picture taken from `direction`: to the right, upward, towards the eye; from `center`. */
function inPicture(points: Vector3[], center: Vector3, direction: Vector3, up: Vector3): Vector3[] {
	right.crossVectors(up, direction);
	if (right.lengthSq() < 1e-6) right.set(1, 0, 0).addScaledVector(direction, -direction.x);
	right.normalize();
	above.crossVectors(direction, right);
	return points.map((p) => {
		offset.copy(p).sub(center);
		return new Vector3(offset.dot(right), offset.dot(above), offset.dot(direction));
	});
}

/** How far the eye must be from the shifted target, and the shift; points as inPicture() gives them. */
function fit(points: Vector3[], { wide, tall }: Opening, radius: number): { distance: number; x: number; y: number } {
	let [x, y, distance] = [0, 0, radius * 3];
	for (let round = 0; round < 8; round++) {
		let [left, right, low, high, need] = [Infinity, -Infinity, Infinity, -Infinity, radius * 0.2];
		for (const p of points) {
			const depth = Math.max(distance - p.z, 1e-3 * radius);
			const [u, v] = [(p.x - x) / depth, (p.y - y) / depth];
			((left = Math.min(left, u)), (right = Math.max(right, u)));
			((low = Math.min(low, v)), (high = Math.max(high, v)));
			need = Math.max(need, p.z + Math.max(Math.abs(p.x - x) / wide, Math.abs(p.y - y) / tall) / MARGIN);
		}
		// The middle of the picture to the middle of what is seen; the distance follows in the next round.
		if (round < 7) ((x += ((left + right) / 2) * distance), (y += ((low + high) / 2) * distance));
		distance = need;
	}
	return { distance, x, y };
}

export interface Framing {
	target: Vector3;
	position: Vector3;
}

export function frame(bounds: Bounds, direction: Vector3, up: Vector3, opening: Opening): Framing {
	const { distance, x, y } = fit(
		inPicture(outermost(bounds.corners), bounds.center, direction, up),
		opening,
		bounds.radius,
	);
	const target = bounds.center.clone().addScaledVector(right, x).addScaledVector(above, y);
	return { target, position: target.clone().addScaledVector(direction, distance) };
}

/* ---- the initial view ------------------------------------------------------------------------ */

/** The area of the convex hull of points in the plane. */
function hullArea(points: { x: number; y: number }[]): number {
	const sorted = [...points].sort((a, b) => a.x - b.x || a.y - b.y);
	const hull: { x: number; y: number }[] = [];
	for (const list of [sorted, sorted.slice().reverse()]) {
		const start = hull.length;
		for (const p of list) {
			while (hull.length >= start + 2 && !leftTurn(hull[hull.length - 2]!, hull[hull.length - 1]!, p)) hull.pop();
			hull.push(p);
		}
		hull.pop();
	}
	let twice = 0;
	hull.forEach((p, i) => {
		const q = hull[(i + 1) % hull.length]!;
		twice += p.x * q.y - p.y * q.x;
	});
	return Math.abs(twice) / 2;
}

const leftTurn = (a: { x: number; y: number }, b: { x: number; y: number }, c: { x: number; y: number }): boolean =>
	(b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x) > 0;

/** The part of the picture that the hull of the points covers, seen from a direction at the distance that fits. */
function coverage(points: Vector3[], bounds: Bounds, direction: Vector3, up: Vector3, opening: Opening): number {
	const seen = inPicture(points, bounds.center, direction, up);
	const { distance } = fit(seen, opening, bounds.radius);
	// Without perspective: what is near must not count for more.
	return hullArea(seen) / (4 * opening.wide * opening.tall * distance * distance);
}

/** A direction of the eye, and how much it is preferred. */
export interface Candidate {
	direction: Vector3;
	weight: number;
}

/** The direction from which most is seen, times its weight. */
export function bestDirection(
	bounds: Bounds,
	candidates: readonly Candidate[],
	up: Vector3,
	opening: Opening,
): Vector3 {
	const points = outermost(bounds.corners);
	let best = candidates[0]!.direction,
		most = -1;
	for (const { direction, weight } of candidates) {
		const seen = weight * coverage(points, bounds, direction, up, opening);
		if (seen > most) ((most = seen), (best = direction));
	}
	return best;
}

const right = new Vector3();
const above = new Vector3();
const offset = new Vector3();
