// SPDX-License-Identifier: Apache-2.0
/*
 * view.ts — everything that is drawn of a run, from one sample: bodies, flexible bodies, frames, trails, arrows, the
 * ghost.
 */
import { Color, Raycaster, Vector2, Vector3 } from "three";
import type { Replay } from "../data/replay.js";
import { Sample } from "../data/sample.js";
import { bodyOf, jointOf, type Selection } from "../selection.js";
import { Arrows } from "./arrows.js";
import { BodySet } from "./bodies.js";
import { FlexibleSet } from "./flexible.js";
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
const GHOST_COLOR = "#f0a92e";

export interface Bounds {
	center: Vector3;
	radius: number; // of a ball that holds all
	low: number; // along the up direction
	corners: Vector3[];
}

export interface Hit {
	body: number;
	point: Vector3;
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
	trailSpan = Infinity;
	ghost: { replay: Replay; sample: Sample; bodies: BodySet; flexible: FlexibleSet } | null = null;
	private readonly stage: Stage;
	private readonly raycaster = new Raycaster();
	private readonly placed = new Float32Array(12);
	private selected = -1;

	constructor(stage: Stage, replay: Replay) {
		this.stage = stage;
		this.replay = replay;
		this.sample = new Sample(replay);
		this.hidden = new Uint8Array(replay.bodies.length);
		this.size = sceneSize(replay);
		this.bodies = new BodySet(replay, { ghost: false, scale: this.size });
		this.flexible = new FlexibleSet(replay, false);
		this.trails = new Trails(replay);
		this.arrows = new Arrows(replay, this.size * 2);
		const axes = this.size * 0.05;
		this.triads = {
			bodies: Triads.bodies(replay, axes * 1.3),
			nodes: Triads.nodes(replay, axes * 0.7),
			joints: Triads.joints(replay, axes),
		};
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
		];
	}

	setGhost(replay: Replay | null): void {
		if (this.ghost) {
			this.stage.scene.remove(this.ghost.bodies.object, this.ghost.flexible.object);
			this.ghost.bodies.dispose();
			this.ghost.flexible.dispose();
			this.ghost = null;
		}
		if (!replay) return;
		const bodies = new BodySet(replay, { ghost: true, scale: this.size });
		const flexible = new FlexibleSet(replay, true);
		const tint = new Color(GHOST_COLOR);
		bodies.paint((_, __, out) => out.copy(tint));
		for (const drawn of flexible.bodies) drawn.setColor(tint);
		this.ghost = { replay, sample: new Sample(replay), bodies, flexible };
		this.stage.scene.add(bodies.object, flexible.object);
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
		this.paint();
	}

	update(time: number): void {
		this.sample.at(time);
		this.refresh();
	}

	/** Draws the sample as it is; also when the camera moved, since frames and arrows are not larger than it can bear. */
	refresh(): void {
		const { sample, hidden, flexible, stage } = this;
		const eye = stage.camera.position;
		this.bodies.update(sample, hidden);
		flexible.update(sample, hidden);
		this.triads.bodies.update(sample, hidden, flexible.exaggeration, eye);
		this.triads.nodes.update(sample, hidden, flexible.exaggeration, eye);
		this.triads.joints.update(sample, hidden, flexible.exaggeration, eye);
		this.trails.update(sample.time, this.trailSpan, stage.width, stage.height, stage.renderer.getPixelRatio());
		if (this.arrows.object.visible) this.arrows.update(sample, eye);
		this.updateGhost(sample.time);
	}

	private updateGhost(time: number): void {
		const { ghost } = this;
		if (!ghost || !ghost.bodies.object.visible) return;
		ghost.sample.at(time);
		ghost.flexible.exaggeration = this.flexible.exaggeration;
		const hidden = ghost.replay.bodies.length === this.hidden.length ? this.hidden : NONE;
		ghost.bodies.update(ghost.sample, hidden);
		ghost.flexible.update(ghost.sample, hidden);
	}

	/** Where a body's origin, a node or a joint is now. */
	positionOf(selection: Selection, out: Vector3): Vector3 {
		const body = this.replay.bodies[bodyOf(this.replay, selection)]!;
		const node = selection.kind === "node" ? body.nodes[selection.node]! : jointOf(this.replay, selection)?.to;
		if (node) this.sample.place(body, node, this.flexible.exaggeration, this.placed);
		else this.placed.set(this.sample.matrix.subarray(body.index * 12, body.index * 12 + 12));
		return out.set(this.placed[3]!, this.placed[7]!, this.placed[11]!);
	}

	/** What the whole run covers, from moments of it; where that is far more than its first, only the first. */
	runBounds(start: number, end: number): Bounds {
		const moments = 24;
		const first = this.boundsAt(start);
		const box = {
			low: new Vector3(Infinity, Infinity, Infinity),
			high: new Vector3(-Infinity, -Infinity, -Infinity),
		};
		const corners: Vector3[] = [];
		for (let i = 0; i <= moments; i++)
			corners.push(...this.boundsAt(start + ((end - start) * i) / moments).corners);
		this.sample.at(start);
		for (const corner of corners) {
			box.low.min(corner);
			box.high.max(corner);
		}
		const radius = box.low.distanceTo(box.high) / 2;
		if (!(radius <= 8 * first.radius)) return first;
		return { low: box.low[this.replay.up], center: box.low.add(box.high).multiplyScalar(0.5), radius, corners };
	}

	private boundsAt(time: number): Bounds {
		this.sample.at(time);
		return this.bounds();
	}

	/** The corners of the boxes of the bodies shown now, or of one. */
	bounds(only = -1): Bounds {
		const low = new Vector3(Infinity, Infinity, Infinity);
		const high = new Vector3(-Infinity, -Infinity, -Infinity);
		const corners: Vector3[] = [];
		const count = this.replay.bodies.length;
		for (let i = 0; i < count; i++) {
			const ground = i === count - 1;
			if (only >= 0 ? i !== only : !this.sample.present[i] || this.hidden[i] || (ground && count > 1)) continue;
			for (let k = 0; k < 8; k++) {
				const corner = this.corner(i, k);
				if (!Number.isFinite(corner.x + corner.y + corner.z)) continue;
				corners.push(corner);
				low.min(corner);
				high.max(corner);
			}
		}
		if (corners.length === 0)
			return {
				center: new Vector3(),
				radius: this.size,
				low: -this.size,
				corners: [new Vector3(this.size, 0, 0)],
			};
		const radius = Math.max(low.distanceTo(high) / 2, this.size * 1e-3);
		return { low: low[this.replay.up], center: low.add(high).multiplyScalar(0.5), radius, corners };
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
		this.raycaster.setFromCamera(new Vector2(x, y), this.stage.camera);
		for (const { mesh } of this.flexible.bodies) mesh.geometry.computeBoundingSphere();
		const hits = this.raycaster.intersectObjects([this.bodies.object, this.flexible.object], true);
		for (const hit of hits) {
			const flexible = this.flexible.bodies.find((b) => b.mesh === hit.object);
			const body = flexible ? flexible.body.index : this.bodies.bodyOf(hit.object, hit.instanceId ?? -1);
			if (body >= 0 && !this.hidden[body] && this.sample.present[body]) return { body, point: hit.point };
		}
		return null;
	}

	dispose(): void {
		this.setGhost(null);
		this.stage.scene.remove(...this.objects());
		this.bodies.dispose();
		this.flexible.dispose();
		this.trails.dispose();
		this.arrows.dispose();
		for (const triads of Object.values(this.triads)) triads.dispose();
	}
}

const NONE = new Uint8Array(1 << 16);
