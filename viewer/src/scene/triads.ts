// SPDX-License-Identifier: Apache-2.0
/*
 * triads.ts — frames as three colored axes (x red, y green, z blue), one instance each; of joints also the axis, as a
 * yellow rod. Drawn through everything, since frames sit inside bodies.
 */
import {
	BufferAttribute,
	BufferGeometry,
	Color,
	CylinderGeometry,
	Group,
	InstancedMesh,
	MeshBasicMaterial,
	Vector3,
} from "three";
import { isPresent, type BodyNode, type End, type Joint, type Replay } from "../data/replay.js";
import type { Sample } from "../data/sample.js";
import { between } from "./placing.js";
import { multiplyToGl } from "../data/sample.js";

interface Spot {
	body: number;
	where: BodyNode | End | null; // null: the body frame
	joint: Joint | null;
}

const AXES: readonly [string, Vector3][] = [
	["#e5484d", new Vector3(1, 0, 0)],
	["#30a46c", new Vector3(0, 1, 0)],
	["#3e83f8", new Vector3(0, 0, 1)],
];

/** Three thin cylinders of length 1 from the origin. */
function triadGeometry(): BufferGeometry {
	const positions: number[] = [],
		colors: number[] = [],
		indices: number[] = [];
	for (const [name, axis] of AXES) {
		const rod = new CylinderGeometry(0.035, 0.035, 1, 8).translate(0, 0.5, 0);
		if (axis.x) rod.rotateZ(-Math.PI / 2);
		if (axis.z) rod.rotateX(Math.PI / 2);
		const color = new Color(name);
		const base = positions.length / 3;
		const position = rod.getAttribute("position");
		for (let i = 0; i < position.count; i++) {
			positions.push(position.getX(i), position.getY(i), position.getZ(i));
			colors.push(color.r, color.g, color.b);
		}
		for (const i of rod.getIndex()!.array) indices.push(base + i);
		rod.dispose();
	}
	const geometry = new BufferGeometry();
	geometry.setAttribute("position", new BufferAttribute(new Float32Array(positions), 3));
	geometry.setAttribute("color", new BufferAttribute(new Float32Array(colors), 3));
	geometry.setIndex(indices);
	return geometry;
}

function layer(geometry: BufferGeometry, count: number, material: MeshBasicMaterial): InstancedMesh {
	material.depthTest = false;
	material.transparent = true;
	material.opacity = 0.9;
	const mesh = new InstancedMesh(geometry, material, Math.max(1, count));
	(mesh.instanceMatrix.array as Float32Array).fill(0);
	mesh.frustumCulled = false;
	mesh.renderOrder = 10;
	return mesh;
}

export class Triads {
	readonly object = new Group();
	private readonly spots: Spot[];
	private readonly replay: Replay;
	private readonly triads: InstancedMesh;
	private readonly axes: InstancedMesh | null = null;
	private readonly axisLocals: (Float32Array | null)[] = [];
	private readonly size: number;
	private readonly local = new Float32Array(12);
	private readonly scaledAxis = new Float32Array(12);
	private readonly world = new Float32Array(12);

	private constructor(replay: Replay, spots: Spot[], size: number) {
		this.replay = replay;
		this.spots = spots;
		this.object.visible = false;
		this.triads = layer(triadGeometry(), spots.length, new MeshBasicMaterial({ vertexColors: true }));
		this.object.add(this.triads);
		this.size = size;
		this.axisLocals = spots.map(({ joint }) => {
			if (!joint?.axis || !(Math.hypot(...joint.axis) > 0)) return null;
			const norm = (size * 1.4) / Math.hypot(...joint.axis);
			const end = Array.from(joint.axis, (v) => v * norm);
			return between(
				end.map((v) => -v),
				end,
				size * 0.06,
			);
		});
		if (this.axisLocals.some((a) => a)) {
			const rod = new CylinderGeometry(1, 1, 1, 12).rotateX(Math.PI / 2);
			this.axes = layer(rod, spots.length, new MeshBasicMaterial({ color: "#e2b203" }));
			this.object.add(this.axes);
		}
	}

	static bodies(replay: Replay, size: number): Triads {
		return new Triads(
			replay,
			replay.bodies.map((b) => ({ body: b.index, where: null, joint: null })),
			size,
		);
	}

	static nodes(replay: Replay, size: number): Triads {
		const spots = replay.bodies.flatMap((b) =>
			b.nodes.map((node): Spot => ({ body: b.index, where: node, joint: null })),
		);
		return new Triads(replay, spots, size);
	}

	static joints(replay: Replay, size: number): Triads {
		const all = [...replay.joints.filter((j) => j.type !== "weld"), ...replay.loops];
		return new Triads(
			replay,
			all.map((joint) => ({ body: joint.to.body, where: joint.to, joint })),
			size,
		);
	}

	/** Seen from `eye` no triad is longer than a twentieth of its distance: it marks a place and must not hide it. */
	update(sample: Sample, hidden: Uint8Array, exaggeration: number, eye: Vector3): void {
		if (!this.object.visible) return;
		const out = this.triads.instanceMatrix.array as Float32Array;
		const axes = this.axes?.instanceMatrix.array as Float32Array | undefined;
		for (let i = 0; i < this.spots.length; i++) {
			const { body, where, joint } = this.spots[i]!;
			const drawn = sample.present[body] && !hidden[body] && (!joint || isPresent(joint.present, sample.time));
			if (!drawn) {
				out.fill(0, i * 16, i * 16 + 16);
				axes?.fill(0, i * 16, i * 16 + 16);
				continue;
			}
			if (where) sample.place(this.replay.bodies[body]!, where, exaggeration, this.world);
			else for (let k = 0; k < 12; k++) this.world[k] = sample.matrix[body * 12 + k]!;
			const { world, local, scaledAxis } = this;
			const x = world[3]! - eye.x,
				y = world[7]! - eye.y,
				z = world[11]! - eye.z;
			const size = Math.min(this.size, Math.sqrt(x * x + y * y + z * z) / 20);
			local[0] = local[5] = local[10] = size;
			multiplyToGl(world, 0, local, 0, out, i * 16);
			const axis = this.axisLocals[i];
			if (!axis || !axes) continue;
			for (let k = 0; k < 12; k++) scaledAxis[k] = (axis[k]! * size) / this.size;
			multiplyToGl(world, 0, scaledAxis, 0, axes, i * 16);
		}
		this.triads.instanceMatrix.needsUpdate = true;
		if (this.axes) this.axes.instanceMatrix.needsUpdate = true;
	}

	dispose(): void {
		for (const mesh of [this.triads, this.axes]) {
			if (!mesh) continue;
			mesh.geometry.dispose();
			(mesh.material as MeshBasicMaterial).dispose();
			mesh.dispose();
		}
	}
}
