// SPDX-License-Identifier: Apache-2.0
/*
 * measure.ts — distances between two points of bodies, and angles at the second of three. Points are kept in the frames of
 * their bodies, and of flexible bodies with their deformation: the values follow the motion. Values are true ones, whatever
 * the exaggeration of deformations.
 */
import { Vector3 } from "three";
import type { Body, BodyNode, End, Signal } from "./data/replay.js";
import { Sample } from "./data/sample.js";
import { Track } from "./data/track.js";
import type { Hit, View } from "./scene/view.js";

export interface Anchor {
	body: number;
	at: Float64Array; // [3] in the body frame, undeformed
	shapes: Float32Array | null; // [m 3] displacement per modal coordinate
}

export type MeasureKind = "distance" | "angle";

export interface Measure {
	kind: MeasureKind;
	name: string;
	anchors: Anchor[];
}

export const POINTS: Record<MeasureKind, number> = { distance: 2, angle: 3 };
export const UNITS: Record<MeasureKind, string> = { distance: "m", angle: "deg" };

/** Where an anchor is; factor: of the deformation. */
export function locate(sample: Sample, anchor: Anchor, factor: number, out: Vector3): Vector3 {
	const { body, at, shapes } = anchor;
	const [p0, p1, p2] = deflected(sample, body, at, shapes, factor);
	const m = sample.matrix;
	const o = body * 12;
	const row = (r: number): number => m[o + r]! * p0 + m[o + r + 1]! * p1 + m[o + r + 2]! * p2 + m[o + r + 3]!;
	return out.set(row(0), row(4), row(8));
}

function deflected(
	sample: Sample,
	body: number,
	at: Float64Array,
	shapes: Float32Array | null,
	factor: number,
): [number, number, number] {
	const offset = sample.replay.bodies[body]!.flexible?.etaOffset ?? 0;
	let [x, y, z] = [at[0]!, at[1]!, at[2]!];
	for (let m = 0; shapes && m * 3 < shapes.length; m++) {
		const value = factor * sample.eta[offset + m]!;
		((x += value * shapes[m * 3]!), (y += value * shapes[m * 3 + 1]!), (z += value * shapes[m * 3 + 2]!));
	}
	return [x, y, z];
}

/** The point of a body that was hit; of a flexible one it moves with the nearest of its points. */
export function anchorAt(view: View, hit: Hit): Anchor {
	const { sample } = view;
	const body = sample.replay.bodies[hit.body]!;
	const m = sample.matrix;
	const o = hit.body * 12;
	const { x, y, z } = hit.point;
	const d = [x - m[o + 3]!, y - m[o + 7]!, z - m[o + 11]!];
	const at = Float64Array.from([0, 1, 2], (k) => m[o + k]! * d[0]! + m[o + 4 + k]! * d[1]! + m[o + 8 + k]! * d[2]!);
	const shapes = body.flexible && hit.flexible ? nearestShapes(view, body, at) : null;
	if (!shapes) return { body: hit.body, at, shapes };
	// What was hit is drawn deformed: its place without that.
	const moved = deflected(sample, hit.body, new Float64Array(3), shapes, view.flexible.exaggeration);
	return { body: hit.body, at: at.map((v, k) => v - moved[k]!), shapes };
}

function nearestShapes(view: View, body: Body, at: Float64Array): Float32Array {
	const { points, shapes, components, modes } = body.flexible!;
	const count = points.length / 3;
	const of = (point: number): Float32Array =>
		Float32Array.from({ length: modes * 3 }, (_, i) => {
			const m = Math.floor(i / 3);
			return shapes[(m * count + point) * components + (i % 3)]!;
		});
	let [best, least] = [0, Infinity];
	for (let i = 0; i < count; i++) {
		const base = Float64Array.from(points.subarray(i * 3, i * 3 + 3));
		const p = deflected(view.sample, body.index, base, of(i), view.flexible.exaggeration);
		const away = Math.hypot(p[0] - at[0]!, p[1] - at[1]!, p[2] - at[2]!);
		if (away < least) ((least = away), (best = i));
	}
	return of(best);
}

/** A node or the end of a joint. */
export function anchorOn(body: Body, where: BodyNode | End | null): Anchor {
	const node = where && "node" in where && where.node >= 0 ? body.nodes[where.node]! : where;
	const full = node && "shapes" in node ? node.shapes : null;
	const shapes = full && Float32Array.from({ length: full.length / 2 }, (_, i) => full[2 * i - (i % 3)]!);
	return { body: body.index, at: Float64Array.from(where?.at ?? [0, 0, 0]), shapes };
}

/** [m] or [deg]. NaN: a body is absent. */
export function measured(sample: Sample, { kind, anchors }: Measure): number {
	if (anchors.some((a) => !sample.present[a.body])) return NaN;
	const [a, b, c] = anchors.map((anchor) => locate(sample, anchor, 1, new Vector3())) as [Vector3, Vector3, Vector3];
	if (kind === "distance") return a.distanceTo(b);
	return (a.sub(b).angleTo(c.sub(b)) * 180) / Math.PI;
}

/** The measure over all frames. */
export function measureSignal(view: View, measure: Measure): Signal {
	const { t } = view.replay.frames;
	const sample = new Sample(view.replay);
	const values = new Float64Array(t.count);
	for (let i = 0; i < t.count; i++) {
		sample.at(t.data[i]!);
		values[i] = measured(sample, measure);
	}
	const { name, kind } = measure;
	return {
		index: -1,
		name,
		unit: UNITS[kind],
		kind: "system",
		about: "",
		t,
		values: new Track(values, 1, t.count),
	};
}
