// SPDX-License-Identifier: Apache-2.0
/*
 * live_panel.ts — what a person can do to a live run: sliders of its joints, the stiffness of pushing.
 */
import type { App } from "../app.js";
import { section, slider } from "./controls.js";
import { el, formatNumber } from "./dom.js";
import type { Viewport } from "./viewport.js";

export function livePanel(app: App, viewport: Viewport): HTMLElement {
	const body = el("div", { class: "section-body" });
	const made = section("Live run", body, true);
	made.hidden = true;
	const fill = (): void => {
		made.hidden = app.live === null || app.replay === null;
		const { replay, live } = app;
		if (!replay || !live) return;
		const start = Math.log10(viewport.drag.stiffness);
		const stiffness = slider({
			label: "Stiffness",
			min: start - 3,
			max: start + 3,
			value: start,
			show: (v) => `${formatNumber(Number((10 ** v).toPrecision(2)))} N/m`,
			input: (v) => (viewport.drag.perMeter = 10 ** v),
		});
		const sliders = replay.joints.flatMap((joint) =>
			joint.dofs.flatMap((dof, k) => {
				if (!dof.command) return [];
				const made = slider({
					label: joint.dofs.length > 1 ? `${joint.name} ${dof.name}` : joint.name,
					min: dof.min,
					max: dof.max,
					value: dof.value,
					show: (v) => `${formatNumber(Number(v.toPrecision(3)))} ${dof.unit}`,
					input: (value) => live.command({ command: "joint", joint: joint.index, dof: k, value }),
				});
				made.input.dataset.joint = String(joint.index);
				return [made.element];
			}),
		);
		body.replaceChildren(
			el("p", { class: "hint" }, "Push a body: hold Alt and drag it, or choose Push above the scene."),
			stiffness.element,
			...sliders,
		);
	};
	app.on("replay", fill);
	return made;
}
