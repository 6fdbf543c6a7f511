// SPDX-License-Identifier: Apache-2.0
/*
 * links.ts — what is drawn of bodies that have no shapes, and of joints to the ground: rods between the points where
 * joints and loops hold a body, a dark ball at its center of mass, a glyph per joint (a drum about a revolute axis, a
 * block along a prismatic one, a ball for others), and a pedestal below each joint to the ground. Everything is a part
 * of a body, placed in its frame.
 */
import type { Body, End, Joint, Replay } from "../data/replay.js";
import { poseToMatrix } from "../data/sample.js";
import { between, scaled } from "./placing.js";
import type { UnitKind } from "./shapes.js";

export interface LinkPart {
	body: Body;
	kind: UnitKind;
	local: Float32Array;
	color: string | null; // null: the body's
	at: ArrayLike<number>; // its middle
	radius: number; // of a ball that holds it, or what other parts do not [m]
}

const GLYPH_COLOR = "#59636f";
const CENTER_COLOR = "#2b3038";
const NO_TURN = [1, 0, 0, 0] as const;
const AXES = { x: [1, 0, 0], y: [0, 1, 0], z: [0, 0, 1] } as const;

const distance = (a: ArrayLike<number>, b: ArrayLike<number>): number =>
	Math.hypot(a[0]! - b[0]!, a[1]! - b[1]!, a[2]! - b[2]!);

/** A joint that is drawn: one that holds its bodies together, from the start to the end. */
const isHeld = (joint: Joint): boolean => joint.type !== "free" && joint.present === null;

export class Links {
	readonly parts: LinkPart[] = [];
	private readonly replay: Replay;
	private readonly held: number[][][]; // [bodies] points where something holds it
	private readonly thin: number; // radius of rods [m]

	/** size: of the scene [m]. */
	constructor(replay: Replay, size: number) {
		this.replay = replay;
		this.thin = size * 0.011;
		this.held = replay.bodies.map(() => []);
		for (const joint of [...replay.joints, ...replay.loops]) {
			if (!isHeld(joint)) continue;
			this.hold(joint.from);
			this.hold(joint.to);
		}
		const plain = (b: number): boolean => this.isPlain(replay.bodies[b]!);
		for (const body of replay.bodies) if (plain(body.index)) this.addBody(body);
		for (const joint of [...replay.joints, ...replay.loops]) {
			if (!isHeld(joint) || joint.type === "weld") continue;
			if (plain(joint.to.body) || plain(joint.from.body)) this.addGlyph(joint);
		}
		for (const joint of replay.joints)
			if (isHeld(joint) && joint.type !== "weld" && joint.from.body === replay.bodies.length - 1)
				this.addPedestal(joint.from);
	}

	private hold({ body, at }: End): void {
		const known = this.held[body]!;
		if (!known.some((p) => distance(p, at) < this.thin)) known.push([...at]);
	}

	private isPlain(body: Body): boolean {
		return body.shapes.length === 0 && !body.flexible && body.index < this.replay.bodies.length - 1;
	}

	private rod(body: Body, a: ArrayLike<number>, b: ArrayLike<number>, radius: number): void {
		if (!(distance(a, b) > radius)) return;
		const at = [0, 1, 2].map((k) => (a[k]! + b[k]!) / 2);
		// The balls at its ends hold the rest of it.
		this.parts.push({ body, kind: "cylinder", local: between(a, b, radius), color: null, at, radius });
		this.ball(body, a, radius, null);
		this.ball(body, b, radius, null);
	}

	private ball(body: Body, at: ArrayLike<number>, radius: number, color: string | null): void {
		this.parts.push({
			body,
			kind: "sphere",
			local: scaled(at, NO_TURN, radius, radius, radius),
			color,
			at,
			radius,
		});
	}

	private addBody(body: Body): void {
		const ends = this.held[body.index]!.map((p) => [...p]);
		for (const node of body.nodes) if (!ends.some((p) => distance(p, node.at) < this.thin)) ends.push([...node.at]);
		const center = body.mass?.center ?? (ends.length ? null : [0, 0, 0]);
		if (ends.length === 2) this.rod(body, ends[0]!, ends[1]!, this.thin);
		else if (ends.length === 3) for (let i = 0; i < 3; i++) this.rod(body, ends[i]!, ends[(i + 1) % 3]!, this.thin);
		else {
			const hub = center ?? [0, 1, 2].map((k) => ends.reduce((sum, p) => sum + p[k]!, 0) / ends.length);
			for (const end of ends) this.rod(body, hub, end, this.thin);
		}
		if (center) this.ball(body, center, this.thin * (ends.length ? 1.7 : 3), ends.length ? CENTER_COLOR : null);
	}

	/** On the outboard body; where that bends, on the inboard one, in whose frame the axis is the same at first. */
	private addGlyph(joint: Joint): void {
		const end = joint.to.node < 0 ? joint.to : joint.from;
		if (end.node >= 0) return;
		const body = this.replay.bodies[end.body]!;
		const r = this.thin * 2.2;
		const axis = joint.axis && Math.hypot(...joint.axis) > 0 ? turned(end.orientation, joint.axis) : null;
		const reach = { color: GLYPH_COLOR, at: end.at, radius: 2 * r };
		if (!axis) return this.ball(body, end.at, r, GLYPH_COLOR);
		const ends = [-1.4, 1.4].map((s) => [0, 1, 2].map((k) => end.at[k]! + s * r * axis[k]!));
		const local = between(ends[0]!, ends[1]!, joint.type === "prismatic" ? 2 * r : r);
		this.parts.push({ body, kind: joint.type === "prismatic" ? "box" : "cylinder", local, ...reach });
	}

	private addPedestal({ at }: End): void {
		const body = this.replay.bodies[this.replay.bodies.length - 1]!;
		const up = AXES[this.replay.up];
		const r = this.thin;
		const below = (h: number): number[] => [0, 1, 2].map((k) => at[k]! - h * r * up[k]!);
		const part = (kind: UnitKind, low: number, high: number, radius: number): void => {
			const local = between(below(low), below(high), radius * r);
			this.parts.push({ body, kind, local, color: GLYPH_COLOR, at: below((low + high) / 2), radius: 2.8 * r });
		};
		part("cone", 4, 0, 1.9);
		part("cylinder", 4.7, 4, 2.7);
	}
}

function turned(q: ArrayLike<number>, v: ArrayLike<number>): number[] {
	const m = new Float32Array(12);
	poseToMatrix(Float32Array.of(0, 0, 0, q[0]!, q[1]!, q[2]!, q[3]!), 0, m, 0);
	const norm = Math.hypot(v[0]!, v[1]!, v[2]!);
	return [0, 4, 8].map((r) => (m[r]! * v[0]! + m[r + 1]! * v[1]! + m[r + 2]! * v[2]!) / norm);
}
