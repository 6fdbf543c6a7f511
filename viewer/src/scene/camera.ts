// SPDX-License-Identifier: Apache-2.0
/*
 * camera.ts — orbit by mouse and keys, presets, fitting, following a body. Moves between views take a quarter of a
 * second; while a body is followed, camera and target move with it and the person still orbits freely.
 */
import { Vector3, type PerspectiveCamera } from "three";
import type { Bounds } from "./view.js";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";

export type Preset = "iso" | "front" | "top" | "side";
export const PRESETS: readonly Preset[] = ["iso", "front", "top", "side"];

// Directions from the target, for z up; others are permuted.
const DIRECTIONS: Record<Preset, readonly [number, number, number]> = {
	iso: [1, -1.25, 0.72],
	front: [0, -1, 0],
	top: [0, -0.0001, 1],
	side: [1, 0, 0],
};

const MOVE_S = 0.28;

export class CameraControl {
	controls: OrbitControls; // made anew for another up direction, which it takes only when made
	following = -1;
	private readonly camera: PerspectiveCamera;
	private readonly canvas: HTMLElement;
	private up: "x" | "y" | "z" = "z";
	private readonly last = new Vector3();
	private readonly from = { position: new Vector3(), target: new Vector3() };
	private readonly to = { position: new Vector3(), target: new Vector3() };
	private progress = 1;

	constructor(camera: PerspectiveCamera, canvas: HTMLElement) {
		this.camera = camera;
		this.canvas = canvas;
		this.controls = this.makeControls();
	}

	private makeControls(): OrbitControls {
		const controls = new OrbitControls(this.camera, this.canvas);
		controls.enableDamping = true;
		controls.dampingFactor = 0.16;
		controls.zoomToCursor = true;
		controls.addEventListener("start", () => (this.progress = 1));
		return controls;
	}

	setUp(up: "x" | "y" | "z"): void {
		this.up = up;
		this.controls.dispose();
		this.controls = this.makeControls();
	}

	get distance(): number {
		return this.camera.position.distanceTo(this.controls.target);
	}

	/** How far from the middle all corners are in sight, seen from a direction. */
	private distanceFor({ center, radius, corners }: Bounds, direction: Vector3): number {
		const tall = Math.tan((this.camera.fov * Math.PI) / 360) * 0.86;
		const wide = tall * this.camera.aspect;
		right.crossVectors(this.camera.up, direction).normalize();
		above.crossVectors(direction, right);
		let distance = radius * 0.2;
		for (const corner of corners) {
			offset.copy(corner).sub(center);
			const need = Math.max(Math.abs(offset.dot(right)) / wide, Math.abs(offset.dot(above)) / tall);
			distance = Math.max(distance, need + offset.dot(direction));
		}
		return distance;
	}

	private direction(preset: Preset, out: Vector3): Vector3 {
		const [x, y, z] = DIRECTIONS[preset];
		if (this.up === "z") return out.set(x, y, z).normalize();
		if (this.up === "y") return out.set(x, z, -y).normalize();
		return out.set(z, x, y).normalize();
	}

	preset(preset: Preset, bounds: Bounds, atOnce = false): void {
		this.lookFrom(this.direction(preset, view), bounds, atOnce);
	}

	/** Keeps the direction, shows everything. */
	fit(bounds: Bounds): void {
		this.lookFrom(view.copy(this.camera.position).sub(this.controls.target).normalize(), bounds, false);
	}

	private lookFrom(direction: Vector3, bounds: Bounds, atOnce: boolean): void {
		this.to.target.copy(bounds.center);
		this.to.position.copy(direction).multiplyScalar(this.distanceFor(bounds, direction)).add(bounds.center);
		this.start(atOnce);
	}

	place(numbers: readonly number[]): void {
		const [x = 0, y = 0, z = 0, a = 0, b = 0, c = 0] = numbers;
		this.to.position.set(x, y, z);
		this.to.target.set(a, b, c);
		this.start(true);
	}

	numbers(): number[] {
		return [...this.camera.position.toArray(), ...this.controls.target.toArray()];
	}

	private start(atOnce: boolean): void {
		this.from.position.copy(this.camera.position);
		this.from.target.copy(this.controls.target);
		this.progress = atOnce ? 1 : 0;
		if (!atOnce) return;
		this.camera.position.copy(this.to.position);
		this.controls.target.copy(this.to.target);
		this.controls.update();
	}

	/** Turns about the target by keys [rad]. */
	orbit(right: number, upward: number): void {
		this.progress = 1;
		const arm = offset.copy(this.camera.position).sub(this.controls.target);
		arm.applyAxisAngle(this.camera.up, right);
		axis.crossVectors(this.camera.up, arm).normalize();
		const angle = this.camera.up.angleTo(arm);
		const turn = Math.min(Math.max(angle - upward, 0.02), Math.PI - 0.02) - angle;
		arm.applyAxisAngle(axis, turn);
		this.camera.position.copy(this.controls.target).add(arm);
	}

	zoom(factor: number): void {
		this.progress = 1;
		offset.copy(this.camera.position).sub(this.controls.target).multiplyScalar(factor);
		this.camera.position.copy(this.controls.target).add(offset);
	}

	follow(body: number, x: number, y: number, z: number): void {
		this.following = body;
		this.last.set(x, y, z);
	}

	/** The followed body is now here. */
	moved(x: number, y: number, z: number): void {
		offset.set(x, y, z).sub(this.last);
		if (!Number.isFinite(offset.x + offset.y + offset.z)) return;
		this.last.set(x, y, z);
		for (const point of [
			this.camera.position,
			this.controls.target,
			this.from.position,
			this.from.target,
			this.to.position,
			this.to.target,
		])
			point.add(offset);
	}

	/** True if the view changed. */
	update(seconds: number): boolean {
		if (this.progress < 1) {
			this.progress = Math.min(1, this.progress + seconds / MOVE_S);
			const s = this.progress * this.progress * (3 - 2 * this.progress);
			this.camera.position.lerpVectors(this.from.position, this.to.position, s);
			this.controls.target.lerpVectors(this.from.target, this.to.target, s);
			this.controls.update();
			return true;
		}
		return this.controls.update();
	}
}

const offset = new Vector3();
const view = new Vector3();
const right = new Vector3();
const above = new Vector3();
const axis = new Vector3();
