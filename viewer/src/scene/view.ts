// SPDX-License-Identifier: Apache-2.0
/*
 * view.ts — everything that is drawn of a run, from one sample: bodies, flexible bodies, frames, trails, arrows, the
 * other runs.
 */
import { Box3, Color, Raycaster, Vector3 } from "three";
import type { Replay } from "../data/replay.js";
import { Sample } from "../data/sample.js";
import { bodyOf, jointOf, type Selection } from "../selection.js";
import { Arrows } from "./arrows.js";
import { BodySet } from "./bodies.js";
import type { Glass } from "./bucket.js";
import { Ellipsoid } from "./ellipsoid.js";
import { FlexibleSet } from "./flexible.js";
import { outermost, type Bounds } from "./framing.js";
import { Ghosts, type Ghost } from "./ghosts.js";
import { Section } from "./section.js";
import type { Stage } from "./stage.js";
import { Trails } from "./trails.js";
import { Triads } from "./triads.js";

/** Quiet tones that hold on a light and on a dark background. */
export const PALETTE = [
	"#7f9ccc",
	"#c9906b",
	"#7fb098",
	"#b7a46a",
	"#a08cc4",
	"#79adb9",
	"#c0869c",
	"#97a3b3",
] as const;

export interface Hit {
	body: number;
	point: Vector3;
	flexible: boolean; // its deformed surface, not a rigid shape
}

/** Half the size of the scene at its first frames: what arrows and frames are measured by. */
function sceneSize(replay: Replay): number {
	const { pose, t } = replay.frames;
	const bodies = replay.bodies.length - 1;
	if (t.count === 0 || bodies === 0) return 1;
	const low = [Infinity, Infinity, Infinity],
		high = [-Infinity, -Infinity, -Infinity];
	for (let i = 0; i < bodies; i++) {
		const body = replay.bodies[i]!;
		const extra = Math.max(
			0,
			...body.shapes.map((s) =>
				s.kind === "plane" || s.kind === "mesh" ? 0 : Math.hypot(...s.dimensions) / 2 + Math.hypot(...s.at),
			),
			...body.nodes.map((n) => Math.hypot(...n.at)),
		);
		for (let c = 0; c < 3; c++) {
			const v = pose.data[i * 7 + c]!;
			if (!Number.isFinite(v)) continue;
			low[c] = Math.min(low[c]!, v - extra);
			high[c] = Math.max(high[c]!, v + extra);
		}
	}
	const size = Math.hypot(...high.map((h, c) => h - low[c]!)) / 2;
	return Number.isFinite(size) && size > 0 ? size : 1;
}

/** How far from the origin bodies come, at least the size of the scene [m]. */
function runReach(replay: Replay, size: number): number {
	const { pose } = replay.frames;
	let far = size;
	for (let f = 0; f < pose.count; f += Math.max(1, pose.count >> 6))
		for (let i = 0; i < pose.width; i += 7)
			for (let c = 0; c < 3; c++) {
				const v = Math.abs(pose.data[f * pose.width + i + c]!);
				if (v > far && v < Infinity) far = v;
			}
	return far;
}

/** How a run is looked at first. */
export interface FirstLook {
	bounds: Bounds;
	follow: number; // a body; -1: none
}

const MOMENTS = 40; // of a run that are looked at
const FOLLOW_FROM = 8; // a run that is so many times as large as the mechanism is followed

export class View {
	readonly replay: Replay;
	readonly sample: Sample;
	readonly hidden: Uint8Array;
	readonly size: number; // [m]
	readonly bodies: BodySet;
	readonly flexible: FlexibleSet;
	readonly trails: Trails;
	readonly arrows: Arrows;
	readonly triads: { bodies: Triads; nodes: Triads; joints: Triads };
	readonly ellipsoid: Ellipsoid;
	readonly glass: Glass;
	readonly section = new Section();
	trailSpan = Infinity;
	readonly ghosts: Ghosts;
	private readonly stage: Stage;
	private readonly raycaster = new Raycaster();
	private readonly placed = new Float32Array(12);
	private selected = -1;

	constructor(stage: Stage, replay: Replay) {
		this.stage = stage;
		this.replay = replay;
		this.ghosts = new Ghosts(stage);
		this.sample = new Sample(replay);
		this.hidden = new Uint8Array(replay.bodies.length);
		this.glass = { bodies: new Uint8Array(replay.bodies.length), opacity: 0.3 };
		this.size = sceneSize(replay);
		this.bodies = new BodySet(replay, { ghost: false, scale: this.size, reach: runReach(replay, this.size) });
		this.flexible = new FlexibleSet(replay, false);
		this.trails = new Trails(replay);
		this.arrows = new Arrows(replay, this.size * 2);
		const axes = this.size * 0.05;
		this.triads = {
			bodies: Triads.bodies(replay, axes * 1.3),
			nodes: Triads.nodes(replay, axes * 0.7),
			joints: Triads.joints(replay, axes),
		};
		this.ellipsoid = new Ellipsoid(replay);
		stage.setUp(replay.up);
		stage.scene.add(...this.objects());
		this.paint();
	}

	private objects() {
		const { bodies, nodes, joints } = this.triads;
		return [
			this.bodies.object,
			this.flexible.object,
			this.trails.object,
			this.arrows.object,
			bodies.object,
			nodes.object,
			joints.object,
			this.ellipsoid.object,
		];
	}

	/** One more run over this one. */
	addGhost(replay: Replay): void {
		this.ghosts.add(replay, this.size, runReach(replay, this.size));
	}

	/** The first of the other runs. */
	get ghost(): Ghost | null {
		return this.ghosts.list[0] ?? null;
	}

	bodyColor(body: number): string {
		return this.replay.bodies[body]!.color ?? PALETTE[body % PALETTE.length]!;
	}

	/** Colors of all parts; the selected body is bright. */
	paint(): void {
		const accent = new Color("#ffb224");
		const apply = (body: number, own: string | null, out: Color): void => {
			const ground = body === this.replay.bodies.length - 1;
			out.set(own ?? (ground ? "#9aa2ad" : this.bodyColor(body)));
			if (body === this.selected) out.lerp(accent, 0.72);
		};
		this.bodies.paint(apply);
		const color = new Color();
		for (const drawn of this.flexible.bodies) {
			apply(drawn.body.index, drawn.flexible.color, color);
			drawn.setColor(color);
		}
	}

	select(body: number): void {
		if (body === this.selected) return;
		this.selected = body;
		this.ellipsoid.select(body);
		this.paint();
	}

	/** Bodies that are transparent, and how much of them is left. */
	setGlass(bodies: Iterable<number>, transparent: boolean): void {
		for (const body of bodies) this.glass.bodies[body] = transparent ? 1 : 0;
		this.applyGlass();
	}

	applyGlass(): void {
		for (const drawn of this.flexible.bodies)
			drawn.setOpacity(this.glass.bodies[drawn.body.index] ? this.glass.opacity : 1);
		this.bodies.update(this.sample, this.hidden, this.glass); // meshes for them are there before they are cut
		this.applySection();
	}

	applySection(): void {
		this.section.apply([this.bodies.object, this.flexible.object]);
	}

	update(time: number): void {
		this.sample.at(time);
		this.refresh();
	}

	/** Draws the sample as it is; also when the camera moved, since frames and arrows are not larger than it can bear. */
	refresh(): void {
		const { sample, hidden, flexible, stage } = this;
		const eye = stage.camera.position;
		this.bodies.update(sample, hidden, this.glass);
		this.ellipsoid.update(sample);
		flexible.update(sample, hidden);
		this.triads.bodies.update(sample, hidden, flexible.exaggeration, eye);
		this.triads.nodes.update(sample, hidden, flexible.exaggeration, eye);
		this.triads.joints.update(sample, hidden, flexible.exaggeration, eye);
		this.trails.update(sample.time, this.trailSpan, stage.width, stage.height, stage.renderer.getPixelRatio());
		if (this.arrows.object.visible) this.arrows.update(sample, eye);
		this.ghosts.update(sample.time, flexible.exaggeration, hidden);
	}

	/** The frame of a body, a node or a joint now, rows of [R p] into out [12]. */
	frameOf(selection: Selection, out: Float32Array): void {
		const body = this.replay.bodies[bodyOf(this.replay, selection)]!;
		const node = selection.kind === "node" ? body.nodes[selection.node]! : jointOf(this.replay, selection)?.to;
		if (node) this.sample.place(body, node, this.flexible.exaggeration, out);
		else out.set(this.sample.matrix.subarray(body.index * 12, body.index * 12 + 12));
	}

	/** Where a body's origin, a node or a joint is now. */
	positionOf(selection: Selection, out: Vector3): Vector3 {
		this.frameOf(selection, this.placed);
		return out.set(this.placed[3]!, this.placed[7]!, this.placed[11]!);
	}

	/** The middle of a body's box. */
	middleOf(body: number, out: Vector3): Vector3 {
		return out.copy(this.corner(body, 0)).add(this.corner(body, 7)).multiplyScalar(0.5);
	}

	/** The part of a vector along the up direction. */
	upOf(vector: Vector3): number {
		return vector[this.replay.up];
	}

	/**
	 * What the camera shows first: the whole motion; where a run goes much farther than the mechanism is large, the
	 * mechanism, relative to its largest body, which is followed.
	 */
	firstLook(start: number, end: number): FirstLook {
		const times = Array.from({ length: MOMENTS + 1 }, (_, i) => start + ((end - start) * i) / MOMENTS);
		const moments = times.map((t) => {
			const { corners, radius } = this.boundsAt(t);
			const { pose } = this.sample;
			const at = new Vector3(pose[this.largest * 7], pose[this.largest * 7 + 1], pose[this.largest * 7 + 2]);
			// Long arrows may leave the picture: bodies must not become small because of them.
			const near = new Box3().setFromPoints(corners).expandByScalar(0.15 * radius);
			const tips = this.arrows.tips(this.sample).map((tip) => near.clampPoint(tip, tip));
			const shown = boundsOf([...corners, ...tips], this.replay.up);
			return { corners: outermost(shown.corners), radius: Math.max(radius, shown.radius), at };
		});
		this.sample.at(start);
		const mechanism = Math.max(...moments.map((m) => m.radius));
		const whole = boundsOf(
			moments.flatMap((m) => m.corners),
			this.replay.up,
		);
		if (this.largest < 0 || whole.radius <= FOLLOW_FROM * mechanism)
			return { bounds: this.withPedestals(whole), follow: -1 };
		const origin = moments[0]!.at;
		const near = moments.filter((m) => Number.isFinite(m.at.x + m.at.y + m.at.z));
		const relative = near.flatMap((m) => m.corners.map((c) => c.sub(m.at).add(origin)));
		return { bounds: boundsOf(relative, this.replay.up), follow: this.largest };
	}

	/** How fast the largest body turns at most [rad/s], from moments of the run. */
	turnRate(): number {
		const { pose, t, velocity } = this.replay.frames;
		const body = this.largest;
		const known = velocity.find((v) => v.body === body);
		let most = 0;
		for (let f = 0; f + 1 < t.count && body >= 0; f += Math.max(1, t.count >> 7)) {
			let rate = 0;
			if (known) {
				const o = f * known.values.width + known.offset + 3;
				rate = Math.hypot(known.values.data[o]!, known.values.data[o + 1]!, known.values.data[o + 2]!);
			} else {
				const [a, b] = [f, f + 1].map((i) => i * pose.width + body * 7 + 3) as [number, number];
				let cosine = 0;
				for (let k = 0; k < 4; k++) cosine += pose.data[a + k]! * pose.data[b + k]!;
				const angle = 2 * Math.acos(Math.min(1, Math.abs(cosine)));
				rate = angle > 0.01 ? angle / (t.data[f + 1]! - t.data[f]!) : 0; // below: rounding of the poses
			}
			if (rate > most && rate < Infinity) most = rate;
		}
		return most;
	}

	private boundsAt(time: number): Bounds {
		this.sample.at(time);
		return this.mechanism();
	}

	/** The body with the largest box; -1: there is none. */
	private get largest(): number {
		const { boxes } = this.bodies;
		let [best, most] = [-1, -1];
		for (let i = 0; i < this.replay.bodies.length - 1; i++) {
			const size = Math.hypot(...[0, 1, 2].map((c) => boxes[i * 6 + 3 + c]! - boxes[i * 6 + c]!));
			if (size > most) ((best = i), (most = size));
		}
		return best;
	}

	/** What a camera shows now: the bodies that are shown, or one. */
	bounds(only = -1): Bounds {
		const bounds = this.mechanism(only);
		return only < 0 ? this.withPedestals(bounds) : bounds;
	}

	/** The corners of the boxes of the bodies shown now, or of one. */
	private mechanism(only = -1): Bounds {
		const corners: Vector3[] = [];
		const count = this.replay.bodies.length;
		for (let i = 0; i < count; i++) {
			const ground = i === count - 1;
			if (only >= 0 ? i !== only : !this.sample.present[i] || this.hidden[i] || (ground && count > 1)) continue;
			for (const corner of this.outline(i))
				if (Number.isFinite(corner.x + corner.y + corner.z)) corners.push(corner);
		}
		if (corners.length === 0) corners.push(new Vector3(this.size, 0, 0), new Vector3(-this.size, 0, 0));
		const bounds = boundsOf(corners, this.replay.up);
		bounds.radius = Math.max(bounds.radius, this.size * 1e-3);
		return bounds;
	}

	/** With the pedestals below joints to the ground, where they are not far from the mechanism. */
	private withPedestals(bounds: Bounds): Bounds {
		const { pedestals } = this.bodies;
		if (pedestals.length === 0 || this.hidden[this.replay.bodies.length - 1]) return bounds;
		const more = pedestals.flatMap(({ at, radius }) =>
			[radius, -radius].flatMap((r) =>
				[0, 1, 2].map((k) => new Vector3(at[0], at[1], at[2]).setComponent(k, at[k]! + r)),
			),
		);
		const wider = boundsOf([...bounds.corners, ...more], this.replay.up);
		return wider.radius <= 1.6 * bounds.radius ? wider : bounds;
	}

	/** Points around a body now: the corners of its box; of something round, for which they are too far out, 14 that are not. */
	private outline(body: number): Vector3[] {
		const corners = Array.from({ length: 8 }, (_, k) => this.corner(body, k));
		const [low, high] = [corners[0]!, corners[7]!];
		const middle = low.clone().add(high).multiplyScalar(0.5);
		const radius = this.bodies.balls[body]!;
		if (!(radius < 0.9 * low.distanceTo(middle))) return corners;
		const sides = [1, 2, 4].flatMap((k) => {
			const half = corners[k]!.clone().sub(low).multiplyScalar(0.5);
			return [middle.clone().add(half), middle.clone().sub(half)];
		});
		return [...sides, ...corners.map((c) => c.sub(middle).setLength(radius).add(middle))];
	}

	private corner(body: number, k: number): Vector3 {
		const { boxes } = this.bodies;
		const o = body * 6;
		const x = boxes[o + (k & 1 ? 3 : 0)]!,
			y = boxes[o + 1 + (k & 2 ? 3 : 0)]!,
			z = boxes[o + 2 + (k & 4 ? 3 : 0)]!;
		const m = this.sample.matrix;
		const r = body * 12;
		return new Vector3(
			m[r]! * x + m[r + 1]! * y + m[r + 2]! * z + m[r + 3]!,
			m[r + 4]! * x + m[r + 5]! * y + m[r + 6]! * z + m[r + 7]!,
			m[r + 8]! * x + m[r + 9]! * y + m[r + 10]! * z + m[r + 11]!,
		);
	}

	/** The body under a point of the canvas, -1 … 1 each. */
	pick(x: number, y: number): Hit | null {
		this.stage.camera.aim(this.raycaster, x, y);
		for (const { mesh } of this.flexible.bodies) mesh.geometry.computeBoundingSphere();
		const hits = this.raycaster.intersectObjects([this.bodies.object, this.flexible.object], true);
		for (const hit of hits) {
			const flexible = this.flexible.bodies.find((b) => b.mesh === hit.object);
			const body = flexible ? flexible.body.index : this.bodies.bodyOf(hit.object, hit.instanceId ?? -1);
			if (body >= 0 && !this.hidden[body] && this.sample.present[body] && this.section.shows(hit.point))
				return { body, point: hit.point, flexible: flexible !== undefined };
		}
		return null;
	}

	dispose(): void {
		this.ghosts.clear();
		this.stage.scene.remove(...this.objects());
		this.bodies.dispose();
		this.flexible.dispose();
		this.trails.dispose();
		this.arrows.dispose();
		this.ellipsoid.dispose();
		for (const triads of Object.values(this.triads)) triads.dispose();
	}
}

function boundsOf(corners: Vector3[], up: "x" | "y" | "z"): Bounds {
	const low = new Vector3(Infinity, Infinity, Infinity);
	const high = new Vector3(-Infinity, -Infinity, -Infinity);
	for (const corner of corners) {
		low.min(corner);
		high.max(corner);
	}
	const radius = low.distanceTo(high) / 2;
	return { low: low[up], center: low.add(high).multiplyScalar(0.5), radius, corners };
}
