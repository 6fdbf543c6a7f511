// SPDX-License-Identifier: Apache-2.0
/*
 * drag.ts — a force by dragging, in a live run. The point that was grabbed stays with its body; the force is a spring
 * from there to the mouse, in the plane through the point that faces the camera. It is sent thirty times a second
 * until the mouse lets go, since the body moves under it.
 */
import { Matrix4, Plane, Raycaster, Vector2, Vector3 } from "three";
import type { App } from "../app.js";
import type { Hit } from "../scene/view.js";
import { formatNumber, setText } from "./dom.js";
import { svg } from "./icons.js";

const PERIOD_MS = 33;

export class ForceDrag {
	armed = false;
	perMeter = 0; // [N/m], 0: as the document says
	readonly element: SVGElement;
	private readonly app: App;
	private readonly line = svg("line", { stroke: "#e8871e", "stroke-width": 3, "stroke-linecap": "round" });
	private readonly text = svg("text", { fill: "currentColor", "font-weight": 650, "font-size": 14 });
	private body = -1;
	private readonly local = new Vector3();
	private readonly world = new Vector3();
	private readonly target = new Vector3();
	private readonly plane = new Plane();
	private readonly raycaster = new Raycaster();
	private timer = 0;

	constructor(app: App) {
		this.app = app;
		this.element = svg("svg", { class: "drag", "aria-hidden": "true" });
		this.element.style.cssText = "position:absolute;inset:0;width:100%;height:100%;pointer-events:none";
		this.element.append(this.line, this.text);
		this.element.setAttribute("visibility", "hidden");
	}

	get stiffness(): number {
		return this.perMeter || this.app.replay?.forcePerMeter || 100;
	}

	start(canvas: HTMLElement, event: PointerEvent, hit: Hit): void {
		this.body = hit.body;
		this.toWorld();
		this.local.copy(hit.point).applyMatrix4(matrix.invert());
		this.target.copy(hit.point);
		canvas.setPointerCapture(event.pointerId);
		const move = (e: PointerEvent): void => this.aim(canvas, e);
		const up = (): void => {
			canvas.removeEventListener("pointermove", move);
			canvas.removeEventListener("pointerup", up);
			canvas.removeEventListener("pointercancel", up);
			this.stop();
		};
		canvas.addEventListener("pointermove", move);
		canvas.addEventListener("pointerup", up);
		canvas.addEventListener("pointercancel", up);
		this.timer = window.setInterval(() => this.send(), PERIOD_MS);
		this.element.setAttribute("visibility", "visible");
	}

	private stop(): void {
		window.clearInterval(this.timer);
		this.body = -1;
		this.app.live?.command({ command: "release" });
		this.element.setAttribute("visibility", "hidden");
	}

	/** The body's matrix, and the grabbed point in the world. */
	private toWorld(): void {
		const m = this.app.view!.sample.matrix;
		const o = this.body * 12;
		matrix.set(
			m[o]!,
			m[o + 1]!,
			m[o + 2]!,
			m[o + 3]!,
			m[o + 4]!,
			m[o + 5]!,
			m[o + 6]!,
			m[o + 7]!,
			m[o + 8]!,
			m[o + 9]!,
			m[o + 10]!,
			m[o + 11]!,
			0,
			0,
			0,
			1,
		);
		this.world.copy(this.local).applyMatrix4(matrix);
	}

	private aim(canvas: HTMLElement, event: PointerEvent): void {
		const box = canvas.getBoundingClientRect();
		pointer.set(((event.clientX - box.left) / box.width) * 2 - 1, 1 - ((event.clientY - box.top) / box.height) * 2);
		this.app.stage.camera.aim(this.raycaster, pointer.x, pointer.y);
		this.toWorld();
		this.app.stage.camera.getWorldDirection(this.plane.normal);
		this.plane.setFromNormalAndCoplanarPoint(this.plane.normal, this.world);
		this.raycaster.ray.intersectPlane(this.plane, this.target);
		this.onDraw();
	}

	private force(): Vector3 {
		this.toWorld();
		return arm.copy(this.target).sub(this.world).multiplyScalar(this.stiffness);
	}

	private send(): void {
		if (this.body < 0) return;
		const force = this.force().toArray();
		this.app.live?.command({ command: "force", body: this.body, point: this.local.toArray(), force });
	}

	/** Draws the spring; called after every picture. */
	onDraw(): void {
		if (this.body < 0) return;
		const { camera, width, height } = this.app.stage;
		const size = this.force().length();
		const ends = [this.world, this.target].map((p) => {
			arm.copy(p).project(camera);
			return [((arm.x + 1) / 2) * width, ((1 - arm.y) / 2) * height] as const;
		});
		const [[x1, y1], [x2, y2]] = ends as [readonly [number, number], readonly [number, number]];
		for (const [name, value] of [
			["x1", x1],
			["y1", y1],
			["x2", x2],
			["y2", y2],
		] as const)
			this.line.setAttribute(name, value.toFixed(1));
		this.text.setAttribute("x", (x2 + 12).toFixed(1));
		this.text.setAttribute("y", (y2 - 8).toFixed(1));
		setText(this.text, `${formatNumber(size)} N`);
	}
}

const matrix = new Matrix4();
const pointer = new Vector2();
const arm = new Vector3();
