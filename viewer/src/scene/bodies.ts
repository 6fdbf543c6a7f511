// SPDX-License-Identifier: Apache-2.0
/*
 * bodies.ts — the rigid shapes of all bodies as instances: one draw call per kind of shape, whatever the number of
 * bodies. Each instance keeps its place in the body frame as rows of [R p], scaled; a frame multiplies it by the
 * body's pose into the buffer that the GPU reads. Capsules are a cylinder and two spheres, lines a cylinder per
 * segment. Bodies without shapes, and joints to the ground, are drawn as links.ts says.
 */
import { type Color, Group, type BufferGeometry } from "three";
import type { Body, Replay, Shape } from "../data/replay.js";
import type { Sample } from "../data/sample.js";
import { Bucket, type Glass, type Part } from "./bucket.js";
import { Links } from "./links.js";
import { between, scaled } from "./placing.js";
import { bodyMaterial, meshGeometry, unitGeometry, type UnitKind } from "./shapes.js";

export interface BodyStyle {
	ghost: boolean;
	scale: number; // size of the scene [m]: of bodies without shapes
	reach: number; // how far the run goes [m]: of unbounded planes
}

/** The point at points[i …] where `place` puts it. */
function transformed(place: Float32Array, points: Float32Array, i: number): number[] {
	const x = points[i]!,
		y = points[i + 1]!,
		z = points[i + 2]!;
	return [0, 4, 8].map((r) => place[r]! * x + place[r + 1]! * y + place[r + 2]! * z + place[r + 3]!);
}

function offset(shape: Shape, along: number): number[] {
	const m = scaled(shape.at, shape.orientation, 1, 1, 1);
	return [0, 1, 2].map((r) => m[r * 4 + 3]! + along * m[r * 4 + 2]!);
}

export class BodySet {
	readonly object = new Group();
	readonly boxes: Float32Array; // [bodies 6]: around each body in its frame, low and high corners
	/** [bodies]: radius of a ball about the middle of the box that holds the body, too; Infinity: not known */
	readonly balls: Float32Array;
	/** Balls that hold the pedestals of joints to the ground. */
	readonly pedestals: { at: ArrayLike<number>; radius: number }[] = [];
	private readonly held: { at: ArrayLike<number>; radius: number }[][]; // balls that hold parts of each body
	private readonly buckets = new Map<
		string,
		{ geometry: (instances: number) => BufferGeometry; opacity: number; kind: UnitKind | null; parts: Part[] }
	>();
	private readonly built: Bucket[] = [];
	private readonly replay: Replay;
	private readonly style: BodyStyle;

	constructor(replay: Replay, style: BodyStyle) {
		this.replay = replay;
		this.style = style;
		this.boxes = Float32Array.from({ length: replay.bodies.length * 6 }, (_, i) =>
			i % 6 < 3 ? Infinity : -Infinity,
		);
		this.held = replay.bodies.map(() => []);
		for (const body of replay.bodies) this.addBody(body);
		for (const { body, kind, local, color, at, radius } of new Links(replay, style.scale).parts) {
			this.add(body, kind, local, color, 1);
			this.reach(body, at, radius);
			if (body.index === replay.bodies.length - 1) this.pedestals.push({ at, radius });
		}
		this.boxes.forEach((v, i) => (this.boxes[i] = Number.isFinite(v) ? v : 0));
		this.balls = Float32Array.from(replay.bodies, (_, i) => this.ballAround(i));
		for (const { geometry, opacity, kind, parts } of this.buckets.values()) {
			const material = bodyMaterial(style.ghost ? 0.28 * opacity : opacity, kind);
			if (style.ghost)
				Object.assign(material, { polygonOffset: true, polygonOffsetFactor: 2, polygonOffsetUnits: 2 });
			const bucket = new Bucket(this.object, geometry(parts.length), material, kind, parts);
			bucket.mesh.receiveShadow = !style.ghost;
			bucket.mesh.castShadow = !style.ghost && opacity >= 1 && kind !== "plane";
			this.built.push(bucket);
		}
	}

	private add(body: Body, kind: UnitKind, local: Float32Array, color: string | null, opacity: number): void {
		const bucket = this.bucket(`${kind} ${opacity}`, (instances) => unitGeometry(kind, instances), opacity, kind);
		bucket.parts.push({ body: body.index, local, color });
	}

	private bucket(
		key: string,
		geometry: (instances: number) => BufferGeometry,
		opacity: number,
		kind: UnitKind | null,
	) {
		let bucket = this.buckets.get(key);
		if (!bucket) this.buckets.set(key, (bucket = { geometry, opacity, kind, parts: [] }));
		return bucket;
	}

	private addBody(body: Body): void {
		for (const shape of body.shapes) this.addShape(body, shape);
		if (body.flexible) this.reachPoints(body, body.flexible.points);
	}

	private ballAround(body: number): number {
		const [a, b] = [this.boxes.subarray(body * 6, body * 6 + 3), this.boxes.subarray(body * 6 + 3, body * 6 + 6)];
		const far = ({ at, radius }: { at: ArrayLike<number>; radius: number }): number =>
			Math.hypot(...[0, 1, 2].map((k) => at[k]! - (a[k]! + b[k]!) / 2)) + radius;
		return Math.max(...this.held[body]!.map(far));
	}

	/** The body's box and ball hold a ball. */
	private reach(body: Body, at: ArrayLike<number>, radius: number): void {
		this.held[body.index]!.push({ at, radius });
		this.stretch(body, at, radius);
	}

	/** The body's box holds points, which may be many: no ball is known. */
	private reachPoints(body: Body, points: Float32Array, place?: Float32Array): void {
		this.held[body.index]!.push({ at: [0, 0, 0], radius: Infinity });
		for (let i = 0; i < points.length; i += 3)
			this.stretch(body, place ? transformed(place, points, i) : points.subarray(i, i + 3), 0);
	}

	private stretch(body: Body, at: ArrayLike<number>, radius: number): void {
		const o = body.index * 6;
		for (let c = 0; c < 3; c++) {
			this.boxes[o + c] = Math.min(this.boxes[o + c]!, at[c]! - radius);
			this.boxes[o + 3 + c] = Math.max(this.boxes[o + 3 + c]!, at[c]! + radius);
		}
	}

	/** The body's box holds the box of half sides x, y, z that `local` places; its ball one of the radius about its middle. */
	private reachBox(body: Body, local: Float32Array, x: number, y: number, z: number, radius: number): void {
		const o = body.index * 6;
		this.held[body.index]!.push({ at: [local[3]!, local[7]!, local[11]!], radius });
		for (let c = 0; c < 3; c++) {
			const half =
				Math.abs(local[c * 4]!) * x + Math.abs(local[c * 4 + 1]!) * y + Math.abs(local[c * 4 + 2]!) * z;
			this.boxes[o + c] = Math.min(this.boxes[o + c]!, local[c * 4 + 3]! - half);
			this.boxes[o + 3 + c] = Math.max(this.boxes[o + 3 + c]!, local[c * 4 + 3]! + half);
		}
	}

	private addShape(body: Body, shape: Shape): void {
		const {
			kind,
			at,
			orientation,
			color,
			opacity,
			dimensions: [a = 0, b = 0, c = 0],
		} = shape;
		const put = (unit: UnitKind, x: number, y: number, z: number): void =>
			this.add(body, unit, scaled(at, orientation, x, y, z), color, opacity);
		const hold = (x: number, y: number, z: number, radius = Math.hypot(x, y, z)): void =>
			this.reachBox(body, scaled(at, orientation, 1, 1, 1), x, y, z, radius);
		switch (kind) {
			case "box":
				put("box", a, b, c);
				hold(a / 2, b / 2, c / 2);
				break;
			case "sphere":
				put("sphere", a, a, a);
				hold(a, a, a, a);
				break;
			case "cylinder":
				put("cylinder", a, a, b);
				hold(a, a, b / 2, Math.hypot(a, b / 2));
				break;
			case "cone":
				put("cone", a, a, b);
				hold(a, a, b / 2, Math.hypot(a, b / 2));
				break;
			case "plane":
				put("plane", a || this.style.reach * 8, b || this.style.reach * 8, 1);
				hold(a / 2, b / 2, 0);
				break;
			case "capsule":
				this.addCapsule(body, shape, a, b);
				hold(a, a, a + b / 2, a + b / 2);
				break;
			case "mesh":
				this.addMesh(body, shape, a || 1, b || 1, c || 1);
				break;
			case "line":
				this.addLine(body, shape, a || this.style.scale * 0.012);
				break;
		}
	}

	private addCapsule(body: Body, shape: Shape, radius: number, length: number): void {
		const { at, orientation, color, opacity } = shape;
		this.add(body, "cylinder", scaled(at, orientation, radius, radius, length), color, opacity);
		for (const end of [-length / 2, length / 2])
			this.add(body, "sphere", scaled(offset(shape, end), orientation, radius, radius, radius), color, opacity);
	}

	private addMesh(body: Body, shape: Shape, x: number, y: number, z: number): void {
		const mesh = this.replay.meshes[shape.mesh]!;
		const bucket = this.bucket(
			`mesh ${shape.mesh} ${shape.opacity}`,
			() => meshGeometry(mesh),
			shape.opacity,
			null,
		);
		const local = scaled(shape.at, shape.orientation, x, y, z);
		bucket.parts.push({ body: body.index, local, color: shape.color });
		this.reachPoints(body, mesh.vertices, local);
	}

	private addLine(body: Body, shape: Shape, diameter: number): void {
		const place = scaled(shape.at, shape.orientation, 1, 1, 1);
		const points = shape.points!;
		for (let i = 0; i < points.length; i += 3) {
			this.reach(body, transformed(place, points, i), diameter / 2);
			if (i === 0) continue;
			const local = between(transformed(place, points, i - 3), transformed(place, points, i), diameter / 2);
			this.add(body, "cylinder", local, shape.color, shape.opacity);
		}
	}

	/** Poses of the sample into the instances. */
	update(sample: Sample, hidden: Uint8Array, glass: Glass | null): void {
		for (let k = 0; k < this.built.length; k++) this.built[k]!.update(sample, hidden, glass);
	}

	/** color(body, own) writes the color of a part: own is the shape's, or null. */
	paint(color: (body: number, own: string | null, out: Color) => void): void {
		for (const bucket of this.built) bucket.paint(color);
	}

	/** The body that instance `i` of a drawn object belongs to; -1: not one of these. */
	bodyOf(object: object, i: number): number {
		for (const bucket of this.built) {
			const body = bucket.bodyOf(object, i);
			if (body >= 0) return body;
		}
		return -1;
	}

	dispose(): void {
		for (const bucket of this.built) bucket.dispose();
	}
}
