// SPDX-License-Identifier: Apache-2.0
/*
 * scene_labels.ts — names of bodies, joints and nodes, values of arrows, coordinates of the grid.
 */
import { Vector3 } from "three";
import type { App } from "../app.js";
import { isPresent } from "../data/replay.js";
import type { View } from "../scene/view.js";
import { formatNumber, withUnit } from "./dom.js";
import { LabelLayer } from "./label_layer.js";

export class SceneLabels {
	readonly layer: LabelLayer;
	private readonly app: App;

	constructor(app: App) {
		this.app = app;
		this.layer = new LabelLayer(app.stage);
		app.on("camera", () => this.update());
	}

	private update(): void {
		const { view, settings } = this.app;
		const { layer } = this;
		layer.begin();
		if (view) {
			if (settings.arrows && settings.arrowValues) this.arrowValues(view);
			if (settings.bodyNames) this.bodyNames(view);
			if (settings.jointNames) this.jointNames(view);
			if (settings.nodeNames) this.nodeNames(view);
			if (settings.grid && settings.gridLabels && !view.replay.frames.origin) this.gridLabels(view);
		}
		layer.end();
	}

	private arrowValues(view: View): void {
		view.arrows.each(view.sample, ({ kind, unit }, tip, magnitude) =>
			this.layer.add(tip, withUnit(Number(magnitude.toPrecision(3)), unit), kind),
		);
	}

	private bodyNames(view: View): void {
		const { bodies } = view.replay;
		for (const { index, name } of bodies) {
			if (index === bodies.length - 1 || !view.sample.present[index] || view.hidden[index]) continue;
			this.layer.add(view.middleOf(index, at), name, "body");
		}
	}

	private jointNames(view: View): void {
		const { joints, loops } = view.replay;
		const { sample } = view;
		for (const [kind, list] of [
			["joint", joints],
			["loop", loops],
		] as const)
			for (const joint of list) {
				const { body } = joint.to;
				if (joint.type === "weld" || !isPresent(joint.present, sample.time)) continue;
				if (sample.present[body] && !view.hidden[body])
					this.layer.add(view.positionOf({ kind, joint: joint.index }, at), joint.name, "joint");
			}
	}

	private nodeNames(view: View): void {
		for (const { index: body, name, nodes } of view.replay.bodies) {
			if (!view.sample.present[body] || view.hidden[body]) continue;
			for (let node = 0; node < nodes.length; node++)
				this.layer.add(
					view.positionOf({ kind: "node", body, node }, at),
					`${name}/${nodes[node]!.name}`,
					"node",
				);
		}
	}

	/** Along the two thick lines that cross near the lower left corner of the picture. */
	private gridLabels(view: View): void {
		const { stage, camera } = this.app;
		const { up } = view.replay;
		const step = stage.cell * 5;
		const plane = stage.grid.position;
		const inPlane = (["x", "y", "z"] as const).filter((axis) => axis !== up);
		corner.setFromMatrixColumn(stage.camera.matrixWorld, 0).multiplyScalar(-stage.camera.aspect);
		at.setFromMatrixColumn(stage.camera.matrixWorld, 1);
		if (Math.abs(view.upOf(at)) > 0.995) return; // seen from the side there is no grid
		corner.sub(at)[up] = 0;
		const half = camera.distance * Math.tan((stage.camera.fov * Math.PI) / 360);
		corner.multiplyScalar(0.5 * half).add(camera.controls.target);
		for (const axis of inPlane) corner[axis] = Math.round(corner[axis] / step) * step;
		corner[up] = plane[up];
		for (const axis of inPlane)
			for (let k = -6; k <= 6; k++) {
				at.copy(corner)[axis] += k * step;
				const value = Number((at[axis] / step).toFixed(0)) * step;
				this.layer.add(at, `${axis} ${formatNumber(Number(value.toPrecision(9)))} m`, `grid-${axis}`, 3, -8);
			}
	}
}

const at = new Vector3();
const corner = new Vector3();
