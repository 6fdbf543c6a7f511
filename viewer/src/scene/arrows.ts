// SPDX-License-Identifier: Apache-2.0
/*
 * arrows.ts — forces, moments, reactions and contact forces as instanced arrows. Arrows with the same unit share a
 * scale: the longest of the run is a sixth of the scene, times the user's factor. Moments have two heads.
 */
import { Color, Group, InstancedMesh, type MeshLambertMaterial, Vector3 } from "three";
import type { ArrowKind } from "../data/document.js";
import type { Arrow, Replay } from "../data/replay.js";
import type { Sample } from "../data/sample.js";
import { bodyMaterial, unitGeometry } from "./shapes.js";

export const ARROW_COLORS: Record<ArrowKind, string> = {
	force: "#e8871e",
	moment: "#9d6be0",
	reaction: "#12a594",
	contact: "#e5484d",
};

const ROUND_OFF = 1e-12; // of a force times the size of the scene

export class Arrows {
	readonly object = new Group();
	readonly shown: Record<ArrowKind, boolean> = { force: true, moment: true, reaction: true, contact: true };
	factor = 1;
	private readonly arrows: Arrow[];
	private readonly size: number;
	private readonly shaft: InstancedMesh;
	private readonly head: InstancedMesh;
	private readonly longest = new Map<string, number>();
	private readonly lengths: Float64Array; // of the longest arrow with the same unit
	private scanned = 0;

	constructor(replay: Replay, size: number) {
		this.arrows = replay.arrows;
		this.size = size;
		this.lengths = new Float64Array(this.arrows.length);
		const count = Math.max(1, this.arrows.length * 2);
		this.shaft = make("cylinder", count);
		this.head = make("cone", count);
		this.object.add(this.shaft, this.head);
		const color = new Color();
		this.arrows.forEach((arrow, i) => {
			color.set(ARROW_COLORS[arrow.kind]);
			for (const mesh of [this.shaft, this.head]) {
				mesh.setColorAt(i * 2, color);
				mesh.setColorAt(i * 2 + 1, color);
			}
		});
	}

	/** The longest arrow per unit, over the frames that were not looked at yet. */
	private scan(): void {
		const first = this.arrows[0];
		if (!first || first.vector.count === this.scanned) return;
		for (const { unit, vector } of this.arrows) {
			let longest = this.longest.get(unit) ?? 0;
			for (let f = Math.min(this.scanned, vector.count); f < vector.count; f++) {
				const length = Math.hypot(vector.data[f * 3]!, vector.data[f * 3 + 1]!, vector.data[f * 3 + 2]!);
				if (length > longest && length < Infinity) longest = length;
			}
			this.longest.set(unit, longest);
		}
		this.dropRoundOff();
		this.scanned = first.vector.count;
		for (let i = 0; i < this.arrows.length; i++) this.lengths[i] = this.longest.get(this.arrows[i]!.unit) ?? 0;
	}

	/** Moments that forces of the run have by the last digits of their arms are none. */
	private dropRoundOff(): void {
		const unitsOf = (moment: boolean): string[] =>
			this.arrows.filter((a) => (a.kind === "moment") === moment).map((a) => a.unit);
		const force = Math.max(0, ...unitsOf(false).map((unit) => this.longest.get(unit) ?? 0));
		for (const unit of unitsOf(true))
			if (this.longest.get(unit)! < ROUND_OFF * force * this.size) this.longest.set(unit, 0);
	}

	update(sample: Sample, eye: Vector3): void {
		this.scan();
		const { frame, fraction: f } = sample;
		for (let i = 0; i < this.arrows.length; i++) {
			const { kind, at, vector } = this.arrows[i]!;
			const longest = this.lengths[i]!;
			if (!this.shown[kind] || frame >= vector.count || !(longest > 0)) {
				this.hide(i);
				continue;
			}
			const a = frame * 3;
			const b = f > 0 && frame + 1 < vector.count ? a + 3 : a;
			for (let k = 0; k < 3; k++) {
				tail[k] = at.data[a + k]! + f * (at.data[b + k]! - at.data[a + k]!);
				arm[k] = vector.data[a + k]! + f * (vector.data[b + k]! - vector.data[a + k]!);
			}
			this.draw(i, ((this.size / 6) * this.factor) / longest, kind === "moment", eye);
		}
		this.shaft.instanceMatrix.needsUpdate = true;
		this.head.instanceMatrix.needsUpdate = true;
	}

	/** How long an arrow of one unit is drawn [m]; 0: there is none. */
	scaleOf(unit: string): number {
		const longest = this.longest.get(unit) ?? 0;
		return longest > 0 ? ((this.size / 6) * this.factor) / longest : 0;
	}

	/** The units of the arrows that are shown, with their kinds. */
	units(): Map<string, ArrowKind[]> {
		this.scan();
		const found = new Map<string, ArrowKind[]>();
		for (const { kind, unit } of this.arrows) {
			if (!this.shown[kind] || !(this.scaleOf(unit) > 0)) continue;
			const kinds = found.get(unit) ?? [];
			if (!kinds.includes(kind)) kinds.push(kind);
			found.set(unit, kinds);
		}
		return found;
	}

	/** The arrows that are shown at the sample's time, with the tip and the magnitude of each. */
	each(sample: Sample, run: (arrow: Arrow, tip: Vector3, magnitude: number) => void): void {
		this.scan();
		const { frame, fraction: f } = sample;
		for (const arrow of this.arrows) {
			const { kind, unit, at, vector } = arrow;
			if (!this.shown[kind] || frame >= vector.count) continue;
			const next = f > 0 && frame + 1 < vector.count ? frame + 1 : frame;
			const value = (track: typeof at, k: number): number =>
				(1 - f) * track.data[frame * 3 + k]! + f * track.data[next * 3 + k]!;
			const arm = [0, 1, 2].map((k) => value(vector, k));
			const magnitude = Math.hypot(...arm);
			const scale = this.scaleOf(unit);
			if (!(magnitude * scale > this.size * 1e-4)) continue;
			const tip = arm.map((v, k) => scale * v + value(at, k));
			if (tip.every(Number.isFinite)) run(arrow, new Vector3(...tip), magnitude);
		}
	}

	/** The tips of the arrows that are shown at the sample's time. */
	tips(sample: Sample): Vector3[] {
		const found: Vector3[] = [];
		this.each(sample, (_, tip) => found.push(tip));
		return found;
	}

	private draw(i: number, scale: number, twoHeads: boolean, eye: Vector3): void {
		const magnitude = Math.sqrt(arm[0]! * arm[0]! + arm[1]! * arm[1]! + arm[2]! * arm[2]!);
		const length = magnitude * scale;
		const at = tail[0]! + tail[1]! + tail[2]!;
		if (!(length > this.size * 1e-4) || !Number.isFinite(length + at)) return this.hide(i);
		const away = Math.hypot(tail[0]! - eye.x, tail[1]! - eye.y, tail[2]! - eye.z);
		const radius = Math.min(this.size * 0.0032, away * 0.005);
		const headLength = Math.min(radius * 7, length * 0.6);
		basis(arm[0]! / magnitude, arm[1]! / magnitude, arm[2]! / magnitude);
		const shaft = this.shaft.instanceMatrix.array as Float32Array;
		const head = this.head.instanceMatrix.array as Float32Array;
		put(shaft, i * 2, radius, length - headLength, (length - headLength) / 2);
		put(head, i * 2, radius * 2.6, headLength, length - headLength / 2);
		shaft.fill(0, i * 32 + 16, i * 32 + 32);
		if (twoHeads) put(head, i * 2 + 1, radius * 2.6, headLength, length - headLength);
		else head.fill(0, i * 32 + 16, i * 32 + 32);
	}

	private hide(i: number): void {
		(this.shaft.instanceMatrix.array as Float32Array).fill(0, i * 32, i * 32 + 32);
		(this.head.instanceMatrix.array as Float32Array).fill(0, i * 32, i * 32 + 32);
	}

	dispose(): void {
		for (const mesh of [this.shaft, this.head]) {
			mesh.geometry.dispose();
			(mesh.material as MeshLambertMaterial).dispose();
			mesh.dispose();
		}
	}
}

const tail = new Float64Array(3);
const arm = new Float64Array(3);
const axes = new Float64Array(9); // x, y, z of the arrow, z along it

function basis(x: number, y: number, z: number): void {
	const [hx, hy, hz] = Math.abs(z) < 0.9 ? UP : SIDE;
	let ux = hy * z - hz * y,
		uy = hz * x - hx * z,
		uz = hx * y - hy * x;
	const norm = 1 / Math.sqrt(ux * ux + uy * uy + uz * uz);
	((ux *= norm), (uy *= norm), (uz *= norm));
	((axes[0] = ux), (axes[1] = uy), (axes[2] = uz));
	((axes[3] = y * uz - z * uy), (axes[4] = z * ux - x * uz), (axes[5] = x * uy - y * ux));
	((axes[6] = x), (axes[7] = y), (axes[8] = z));
}

const UP: readonly [number, number, number] = [0, 0, 1];
const SIDE: readonly [number, number, number] = [1, 0, 0];

function put(out: Float32Array, i: number, radius: number, length: number, along: number): void {
	const o = i * 16;
	for (let k = 0; k < 3; k++) {
		out[o + k] = axes[k]! * radius;
		out[o + 4 + k] = axes[3 + k]! * radius;
		out[o + 8 + k] = axes[6 + k]! * length;
		out[o + 12 + k] = tail[k]! + axes[6 + k]! * along;
	}
	out[o + 15] = 1;
}

function make(kind: "cylinder" | "cone", count: number): InstancedMesh {
	const mesh = new InstancedMesh(unitGeometry(kind, count), bodyMaterial(1, kind), count);
	(mesh.instanceMatrix.array as Float32Array).fill(0);
	mesh.frustumCulled = false;
	mesh.setColorAt(0, new Color());
	return mesh;
}
