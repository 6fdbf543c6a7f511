// SPDX-License-Identifier: Apache-2.0
/*
 * bucket.ts — all parts of one shape as instances of one mesh; of bodies that are made transparent, as instances of a
 * second one with the same geometry.
 */
import { Color, type Group, InstancedMesh, type BufferGeometry, type MeshLambertMaterial } from "three";
import { multiplyToGl, type Sample } from "../data/sample.js";
import { bodyMaterial, type UnitKind } from "./shapes.js";

export interface Part {
	body: number;
	local: Float32Array; // [12]
	color: string | null; // null: the body's
}

/** Bodies that are transparent, and how much of them is left. */
export interface Glass {
	readonly bodies: Uint8Array;
	opacity: number;
}

export class Bucket {
	readonly parts: Part[];
	readonly mesh: InstancedMesh<BufferGeometry, MeshLambertMaterial>;
	private readonly kind: UnitKind | null;
	private readonly bodies: Int32Array;
	private readonly locals: Float32Array;
	private readonly group: Group;
	private glass: InstancedMesh<BufferGeometry, MeshLambertMaterial> | null = null;

	constructor(
		group: Group,
		geometry: BufferGeometry,
		material: MeshLambertMaterial,
		kind: UnitKind | null,
		parts: Part[],
	) {
		this.group = group;
		this.kind = kind;
		this.parts = parts;
		this.bodies = Int32Array.from(parts, (p) => p.body);
		this.locals = new Float32Array(parts.length * 12);
		parts.forEach((p, i) => this.locals.set(p.local, i * 12));
		this.mesh = this.make(geometry, material);
	}

	private make(geometry: BufferGeometry, material: MeshLambertMaterial) {
		const mesh = new InstancedMesh(geometry, material, this.parts.length);
		mesh.frustumCulled = false;
		mesh.setColorAt(0, new Color());
		this.group.add(mesh);
		return mesh;
	}

	/** Made when a body of it is transparent for the first time. */
	private transparent() {
		if (this.glass) return this.glass;
		const material = bodyMaterial(0.5, this.kind);
		material.clippingPlanes = this.mesh.material.clippingPlanes;
		material.side = this.mesh.material.side;
		this.glass = this.make(this.mesh.geometry, material);
		this.glass.instanceColor = this.mesh.instanceColor;
		return this.glass;
	}

	/** Poses of the sample into the instances; hidden or absent bodies shrink to nothing. */
	update(sample: Sample, hidden: Uint8Array, glass: Glass | null): void {
		const { matrix, present } = sample;
		const { bodies, locals } = this;
		const out = this.mesh.instanceMatrix.array as Float32Array;
		let clear = this.glass?.instanceMatrix.array as Float32Array | undefined;
		for (let i = 0; i < bodies.length; i++) {
			const body = bodies[i]!;
			const drawn = present[body] && !hidden[body];
			const seeThrough = drawn && glass !== null && glass.bodies[body] === 1;
			if (seeThrough) clear ??= this.transparent().instanceMatrix.array as Float32Array;
			if (drawn && !seeThrough) multiplyToGl(matrix, body * 12, locals, i * 12, out, i * 16);
			else out.fill(0, i * 16, i * 16 + 16);
			if (seeThrough) multiplyToGl(matrix, body * 12, locals, i * 12, clear!, i * 16);
			else clear?.fill(0, i * 16, i * 16 + 16);
		}
		this.mesh.instanceMatrix.needsUpdate = true;
		this.mesh.boundingSphere = null;
		if (!this.glass) return;
		this.glass.material.opacity = glass?.opacity ?? 1;
		this.glass.instanceMatrix.needsUpdate = true;
		this.glass.boundingSphere = null;
	}

	paint(color: (body: number, own: string | null, out: Color) => void): void {
		const mixed = new Color();
		this.parts.forEach((part, i) => {
			color(part.body, part.color, mixed);
			this.mesh.setColorAt(i, mixed);
		});
		this.mesh.instanceColor!.needsUpdate = true;
	}

	/** The body that instance `i` of a drawn object belongs to; -1: not one of these. */
	bodyOf(object: object, i: number): number {
		return object === this.mesh || object === this.glass ? (this.bodies[i] ?? -1) : -1;
	}

	dispose(): void {
		this.mesh.geometry.dispose();
		for (const mesh of [this.mesh, this.glass]) {
			mesh?.material.dispose();
			mesh?.dispose();
		}
	}
}
