// SPDX-License-Identifier: Apache-2.0
/*
 * ellipsoid.ts — the homogeneous ellipsoid with the mass and the inertia of the selected body, at its center of mass.
 */
import { DoubleSide, Matrix4, Mesh, MeshBasicMaterial, SphereGeometry } from "three";
import { ellipsoidAxes, principalInertia } from "../data/inertia.js";
import type { Replay } from "../data/replay.js";
import type { Sample } from "../data/sample.js";

export class Ellipsoid {
	readonly object: Mesh<SphereGeometry, MeshBasicMaterial>;
	shown = false;
	private readonly replay: Replay;
	private readonly local = new Matrix4();
	private body = -1;

	constructor(replay: Replay) {
		this.replay = replay;
		this.object = new Mesh(
			new SphereGeometry(1, 48, 24),
			new MeshBasicMaterial({
				color: "#d6408a",
				transparent: true,
				opacity: 0.3,
				depthTest: false,
				depthWrite: false,
				side: DoubleSide,
			}),
		);
		this.object.renderOrder = 9;
		this.object.matrixAutoUpdate = false;
		this.object.frustumCulled = false;
	}

	/** -1: none; a body without inertia has none either. */
	select(body: number): void {
		const mass = this.replay.bodies[body]?.mass;
		this.body = -1;
		if (!mass?.inertia || !(mass.mass > 0)) return;
		const { moments, axes } = principalInertia(mass.inertia);
		const sizes = ellipsoidAxes(mass.mass, moments);
		const largest = Math.max(...sizes);
		if (!(largest > 0)) return;
		const [u, v, w] = axes.map((axis, k) => axis.map((x) => x * Math.max(sizes[k]!, 0.004 * largest)));
		const [x = 0, y = 0, z = 0] = mass.center ?? [];
		this.local.set(u![0]!, v![0]!, w![0]!, x, u![1]!, v![1]!, w![1]!, y, u![2]!, v![2]!, w![2]!, z, 0, 0, 0, 1);
		this.body = body;
	}

	update(sample: Sample): void {
		const { body, object } = this;
		object.visible = this.shown && body >= 0 && sample.present[body] === 1;
		if (!object.visible) return;
		const m = sample.matrix.subarray(body * 12, body * 12 + 12);
		object.matrix.set(...(Array.from(m) as Rows), 0, 0, 0, 1).multiply(this.local);
		object.matrixWorldNeedsUpdate = true;
	}

	dispose(): void {
		this.object.geometry.dispose();
		this.object.material.dispose();
	}
}

type Rows = [number, number, number, number, number, number, number, number, number, number, number, number];
