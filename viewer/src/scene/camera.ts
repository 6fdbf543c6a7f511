// SPDX-License-Identifier: Apache-2.0
/*
 * camera.ts — orbit by mouse and keys, presets, fitting, following a body. Moves between views take a quarter of a
 * second; while a body is followed, camera and target move with it and the person still orbits freely. Until somebody
 * has moved it, the camera is `automatic`: it may be placed anew when more of a live run is known.
 */
import { Vector3 } from "three";
import { bestDirection, frame, type Bounds, type Opening } from "./framing.js";
import type { Stage } from "./stage.js";
import type { StageCamera } from "./stage_camera.js";
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

// Where the initial view may come from, in degrees about z from x, and the weights of these directions (framing.ts):
// obliquely from the front and above unless much more is seen from elsewhere.
const AZIMUTHS = { "-51": 1.3, "-90": 1, "-72": 1.05, "-35": 1.05, "-15": 1, "0": 0.95, "20": 0.95 };
const ELEVATIONS = { "24": 1, "12": 0.95, "50": 0.85 };

const MOVE_S = 0.28;

export class CameraControl {
	controls: OrbitControls; // made anew for another up direction, which it takes only when made
	following = -1;
	/** Nobody has moved it yet. */
	automatic = true;
	private readonly camera: StageCamera;
	private readonly stage: Stage;
	private readonly canvas: HTMLElement;
	private up: "x" | "y" | "z" = "z";
	/** It rides on a body, at a place and aimed at another one in the body's frame. */
	private rider: { body: number; from: Vector3; at: Vector3 } | null = null;
	private readonly last = new Vector3();
	private readonly from = { position: new Vector3(), target: new Vector3() };
	private readonly to = { position: new Vector3(), target: new Vector3() };
	private progress = 1;

	constructor(stage: Stage, canvas: HTMLElement) {
		this.stage = stage;
		this.camera = stage.camera;
		this.canvas = canvas;
		this.controls = this.makeControls();
	}

	private makeControls(): OrbitControls {
		const controls = new OrbitControls(this.camera, this.canvas);
		controls.enableDamping = true;
		controls.dampingFactor = 0.16;
		controls.zoomToCursor = true;
		controls.addEventListener("start", () => {
			this.progress = 1;
			this.automatic = false;
		});
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

	private get opening(): Opening {
		const tan = Math.tan((this.camera.fov * Math.PI) / 360);
		return { wide: tan * this.camera.aspect, tall: tan * this.stage.freeHeight };
	}

	/** A direction given for z up. */
	private turned(x: number, y: number, z: number, out: Vector3): Vector3 {
		if (this.up === "z") return out.set(x, y, z).normalize();
		if (this.up === "y") return out.set(x, z, -y).normalize();
		return out.set(z, x, y).normalize();
	}

	preset(preset: Preset, bounds: Bounds, atOnce = false): void {
		this.automatic = false;
		this.lookFrom(this.turned(...DIRECTIONS[preset], view), bounds, atOnce);
	}

	/** The initial view: from where most is seen. */
	begin(bounds: Bounds): void {
		this.automatic = true;
		const candidates = Object.entries(ELEVATIONS).flatMap(([elevation, high]) =>
			Object.entries(AZIMUTHS).map(([azimuth, beside]) => {
				const [e, a] = [(Number(elevation) * Math.PI) / 180, (Number(azimuth) * Math.PI) / 180];
				const [x, y] = [Math.cos(e) * Math.cos(a), Math.cos(e) * Math.sin(a)];
				return { direction: this.turned(x, y, Math.sin(e), new Vector3()), weight: high * beside };
			}),
		);
		this.lookFrom(bestDirection(bounds, candidates, this.camera.up, this.opening), bounds, true);
	}

	/** Whether all corners are in the free part of the picture, and are not lost in it. */
	shows({ center, corners, radius }: Bounds): boolean {
		const { top, bottom } = this.stage.insets;
		const { height } = this.stage;
		if (radius * 12 < offset.copy(center).sub(this.camera.position).length()) return false;
		return corners.every((corner) => {
			offset.copy(corner).project(this.camera);
			const free = offset.y < 1 - (2 * top) / height && offset.y > -1 + (2 * bottom) / height;
			return free && Math.abs(offset.x) < 1 && offset.z < 1;
		});
	}

	/** Keeps the direction, shows everything. */
	fit(bounds: Bounds): void {
		this.lookFrom(view.copy(this.camera.position).sub(this.controls.target).normalize(), bounds, false);
	}

	private lookFrom(direction: Vector3, bounds: Bounds, atOnce: boolean): void {
		const { target, position } = frame(bounds, direction, this.camera.up, this.opening);
		this.to.target.copy(target);
		this.to.position.copy(position);
		this.start(atOnce);
	}

	place(numbers: readonly number[], atOnce = true): void {
		const [x = 0, y = 0, z = 0, a = 0, b = 0, c = 0] = numbers;
		this.to.position.set(x, y, z);
		this.to.target.set(a, b, c);
		this.start(atOnce);
	}

	numbers(): number[] {
		return [...this.camera.position.toArray(), ...this.controls.target.toArray()];
	}

	/** Rides on a body: it turns with it, and the body's z is up. */
	ride(body: number, from: readonly number[], at: readonly number[]): void {
		this.leave();
		this.following = -1;
		this.progress = 1;
		this.rider = { body, from: new Vector3(...from), at: new Vector3(...at) };
		this.controls.enabled = false;
	}

	get riding(): boolean {
		return this.rider !== null;
	}

	private leave(): void {
		if (!this.rider) return;
		this.rider = null;
		this.controls.enabled = true;
		this.camera.up.set(this.up === "x" ? 1 : 0, this.up === "y" ? 1 : 0, this.up === "z" ? 1 : 0);
	}

	/** matrix: rows of [R p] of all bodies. */
	carry(matrix: Float32Array): void {
		if (!this.rider) return;
		const { body, from, at } = this.rider;
		const o = body * 12;
		const place = (v: Vector3, w: number, out: Vector3): Vector3 => {
			const row = (r: number): number =>
				matrix[o + r]! * v.x + matrix[o + r + 1]! * v.y + matrix[o + r + 2]! * v.z + w * matrix[o + r + 3]!;
			return out.set(row(0), row(4), row(8));
		};
		place(from, 1, this.camera.position);
		place(at, 1, this.controls.target);
		place(axis.set(0, 0, 1), 0, this.camera.up);
		this.camera.lookAt(this.controls.target);
	}

	private start(atOnce: boolean): void {
		this.leave();
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
		this.automatic = false;
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
		this.automatic = false;
		offset.copy(this.camera.position).sub(this.controls.target).multiplyScalar(factor);
		this.camera.position.copy(this.controls.target).add(offset);
	}

	/** So many times as far away; nobody has moved it. */
	stretch(factor: number): void {
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
		const changed = this.move(seconds);
		this.stage.target.copy(this.controls.target);
		return changed;
	}

	private move(seconds: number): boolean {
		if (this.rider) return false;
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
const axis = new Vector3();
