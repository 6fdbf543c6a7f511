// SPDX-License-Identifier: Apache-2.0
/*
 * measure_tool.ts — distances and angles by clicking points on bodies. Origins of frames that are shown attract a click.
 * Lines and values are drawn over the scene and follow the motion; the list is in the panel.
 */
import { Vector3 } from "three";
import type { App } from "../app.js";
import { anchorAt, anchorOn, locate, measured, POINTS, UNITS, type Anchor, type MeasureKind } from "../measure.js";
import type { Measure } from "../measure.js";
import type { Hit, View } from "../scene/view.js";
import { svg } from "./icons.js";

const SNAP = 12; // [px]

export class MeasureTool {
	readonly element: SVGElement;
	readonly list: Measure[] = [];
	kind: MeasureKind = "distance";
	armed = false;
	pending: Anchor[] = [];
	private readonly app: App;
	private readonly listeners: (() => void)[] = [];
	private counter: Record<MeasureKind, number> = { distance: 0, angle: 0 };

	constructor(app: App) {
		this.app = app;
		this.element = svg("svg", { class: "measures", "aria-hidden": "true" });
		app.on("camera", () => this.draw());
		app.on("replay", () => this.clear());
	}

	onChange(listener: () => void): void {
		this.listeners.push(listener);
	}

	private changed(): void {
		for (const listener of this.listeners) listener();
		this.app.draw();
	}

	arm(armed: boolean, kind = this.kind): void {
		this.armed = armed;
		this.kind = kind;
		this.pending = [];
		this.changed();
	}

	remove(measure: Measure): void {
		this.list.splice(this.list.indexOf(measure), 1);
		this.changed();
	}

	clear(): void {
		this.list.length = 0;
		this.pending = [];
		this.counter = { distance: 0, angle: 0 };
		this.changed();
	}

	/** A click at a point of the canvas [px] that hit a body, or nothing. */
	click(x: number, y: number, hit: Hit | null): void {
		const { view } = this.app;
		if (!view) return;
		const anchor = this.snap(view, x, y) ?? (hit && anchorAt(view, hit));
		if (!anchor) return;
		this.pending.push(anchor);
		if (this.pending.length === POINTS[this.kind]) {
			const name = `${this.kind} ${++this.counter[this.kind]}`;
			this.list.push({ kind: this.kind, name, anchors: this.pending });
			this.pending = [];
		}
		this.changed();
	}

	/** The origin of a frame that is shown, near the click. */
	private snap(view: View, x: number, y: number): Anchor | null {
		const { replay, sample, hidden } = view;
		const { bodyFrames, nodeFrames, jointFrames } = this.app.settings;
		const offered: Anchor[] = [];
		for (const body of replay.bodies) {
			if (!sample.present[body.index] || hidden[body.index]) continue;
			if (bodyFrames) offered.push(anchorOn(body, null));
			if (nodeFrames) for (const node of body.nodes) offered.push(anchorOn(body, node));
		}
		if (jointFrames)
			for (const { to } of [...replay.joints, ...replay.loops])
				if (sample.present[to.body] && !hidden[to.body]) offered.push(anchorOn(replay.bodies[to.body]!, to));
		let [best, least]: [Anchor | null, number] = [null, SNAP];
		for (const anchor of offered) {
			const p = this.onScreen(view, anchor);
			const away = p ? Math.hypot(p[0] - x, p[1] - y) : Infinity;
			if (away < least) [best, least] = [anchor, away];
		}
		return best;
	}

	private onScreen(view: View, anchor: Anchor): [number, number] | null {
		const { camera, width, height } = this.app.stage;
		locate(view.sample, anchor, view.flexible.exaggeration, point).project(camera);
		return point.z < 1 ? [((point.x + 1) / 2) * width, ((1 - point.y) / 2) * height] : null;
	}

	text(measure: Measure): string {
		const value = measured(this.app.view!.sample, measure);
		const text = Number.isFinite(value) ? String(Number(value.toPrecision(5))) : "–";
		return measure.kind === "angle" ? `${text}°` : `${text} ${UNITS[measure.kind]}`;
	}

	/* ---- over the scene ------------------------------------------------------------------- */

	private draw(): void {
		const { view } = this.app;
		if (!this.element.childElementCount && !this.list.length && !this.pending.length) return;
		this.element.replaceChildren();
		if (!view) return;
		for (const measure of this.list) this.drawMeasure(view, measure);
		this.drawPoints(this.pending.map((anchor) => this.onScreen(view, anchor)));
	}

	private drawMeasure(view: View, measure: Measure): void {
		if (measure.anchors.some((a) => !view.sample.present[a.body])) return;
		const places = measure.anchors.map((anchor) => this.onScreen(view, anchor));
		const points = places.filter((p) => p !== null);
		if (points.length < measure.anchors.length) return;
		this.element.append(
			svg("polyline", { points: points.map((p) => p.map((v) => v.toFixed(1)).join()).join(" ") }),
		);
		this.drawPoints(points);
		const [x, y] =
			measure.kind === "angle"
				? points[1]!
				: [(points[0]![0] + points[1]![0]) / 2, (points[0]![1] + points[1]![1]) / 2];
		const text = svg("text", { x: x + 10, y: y - 10 });
		text.textContent = this.text(measure);
		this.element.append(text);
	}

	private drawPoints(points: ([number, number] | null)[]): void {
		for (const p of points)
			if (p) this.element.append(svg("circle", { cx: p[0].toFixed(1), cy: p[1].toFixed(1), r: 4 }));
	}
}

const point = new Vector3();
