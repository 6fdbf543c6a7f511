// SPDX-License-Identifier: Apache-2.0
/*
 * section.ts — a plane that cuts bodies open. What is inside a closed shape is seen as its back, which is drawn flat in the
 * body's color, as the cut surface would be.
 */
import { DoubleSide, FrontSide, type Material, Mesh, type Object3D, Plane, type Vector3 } from "three";
import { screen } from "./shapes.js";

export type SectionAxis = "none" | "x" | "y" | "z";

export class Section {
	axis: SectionAxis = "none";
	at = 0; // along the axis [m]
	flipped = false;
	readonly plane = new Plane();
	private readonly planes = [this.plane];

	/** Cuts what is drawn below these objects. */
	apply(objects: Object3D[]): void {
		const { axis } = this;
		const cut = axis !== "none";
		const sign = this.flipped ? 1 : -1;
		this.plane.normal.set(axis === "x" ? sign : 0, axis === "y" ? sign : 0, axis === "z" ? sign : 0);
		this.plane.constant = -sign * this.at;
		screen.cut.value = cut ? 1 : 0;
		for (const object of objects)
			object.traverse((node) => {
				if (node instanceof Mesh) this.cutMaterial(node.material as Material, cut);
			});
	}

	private cutMaterial(material: Material, cut: boolean): void {
		if ((material.clippingPlanes !== null) === cut) return;
		material.clippingPlanes = cut ? this.planes : null;
		material.clipShadows = cut;
		// Materials that show both sides anyway keep doing so.
		if (cut) material.userData.side ??= material.side;
		material.side = cut ? DoubleSide : ((material.userData.side as typeof FrontSide | undefined) ?? FrontSide);
		material.needsUpdate = true;
	}

	/** Whether a point is on the side that is drawn. */
	shows(point: Vector3): boolean {
		return this.axis === "none" || this.plane.distanceToPoint(point) >= 0;
	}
}
