// SPDX-License-Identifier: Apache-2.0
/*
 * stage_camera.ts — a perspective camera that can also draw without perspective. Both show the same at the distance
 * `reach`, where what is looked at is; orbiting, zooming and fitting are those of the perspective camera.
 */
import { PerspectiveCamera, type Raycaster, Vector2, Vector3 } from "three";

export class StageCamera extends PerspectiveCamera {
	orthographic = false;
	reach = 1;

	override updateProjectionMatrix(): void {
		super.updateProjectionMatrix();
		if (!this.orthographic) return;
		const m = this.projectionMatrix.elements;
		const x = this.reach / m[0]!,
			y = this.reach / m[5]!;
		const [cx, cy] = [m[8]! * x, m[9]! * y];
		// Nothing in front is cut off, however near the camera is to what it is aimed at.
		this.projectionMatrix.makeOrthographic(cx - x, cx + x, cy + y, cy - y, -this.far, this.far);
		this.projectionMatrixInverse.copy(this.projectionMatrix).invert();
	}

	/** The size of a pixel in the world [m]: out.x times the distance, plus out.y. */
	setPixel(out: Vector2, distance: number, height: number): void {
		const perDistance = (2 * Math.tan((this.fov * Math.PI) / 360)) / height;
		if (this.orthographic) out.set(0, perDistance * distance);
		else out.set(perDistance, 0);
	}

	/** The ray through a point of the picture, -1 … 1 each. */
	aim(raycaster: Raycaster, x: number, y: number): void {
		near.set(x, y, -1).unproject(this);
		far.set(x, y, 1).unproject(this);
		raycaster.camera = this;
		raycaster.set(near, far.sub(near).normalize());
	}
}

const near = new Vector3();
const far = new Vector3();
