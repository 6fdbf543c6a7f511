// SPDX-License-Identifier: Apache-2.0
/*
 * live_panel.ts — what a person can do to a live run: sliders of its joints, the stiffness of pushing. A slider follows its
 * joint until somebody moves it; then it holds the joint at its place, until it is released.
 */
import type { App } from "../app.js";
import { jointValue } from "../data/joint_value.js";
import type { Joint } from "../data/replay.js";
import type { LiveLink } from "../live.js";
import { section, slider } from "./controls.js";
import { button, el, formatNumber, setAttribute, setText, uniqueId, unitText } from "./dom.js";
import { icon } from "./icons.js";
import type { Viewport } from "./viewport.js";

/** The slider of a degree of freedom, and what it holds. */
class JointSlider {
	readonly element: HTMLElement;
	held = false;
	private readonly app: App;
	private readonly live: LiveLink;
	private readonly joint: Joint;
	private readonly dof: number;
	private readonly input: HTMLInputElement;
	private readonly value = el("output", { class: "value" });
	private readonly free: HTMLButtonElement;

	constructor(app: App, live: LiveLink, joint: Joint, dof: number) {
		this.app = app;
		this.live = live;
		this.joint = joint;
		this.dof = dof;
		const { name, min, max, value } = joint.dofs[dof]!;
		const label = joint.dofs.length > 1 ? `${joint.name} ${name}` : joint.name;
		const id = uniqueId("joint");
		this.input = el("input", { type: "range", id, min: String(min), max: String(max), step: "any" });
		this.input.value = String(value);
		this.input.dataset.joint = String(joint.index);
		this.input.addEventListener("input", () => this.hold());
		this.free = button(`Release ${label}`, icon("close"), () => this.release(), {
			iconOnly: true,
			class: "icon-button small",
		});
		this.element = el(
			"div",
			{ class: "joint-slider" },
			el("label", { for: id }, label),
			this.value,
			this.input,
			this.free,
		);
		this.onTime();
	}

	private hold(): void {
		this.held = true;
		this.live.command({
			command: "joint",
			joint: this.joint.index,
			dof: this.dof,
			value: Number(this.input.value),
		});
		this.onTime();
	}

	release(): void {
		if (!this.held) return;
		this.held = false;
		this.live.command({ command: "release_joint", joint: this.joint.index, dof: this.dof });
		this.onTime();
	}

	/** The thumb is where the joint is, or, while it holds, where the joint shall be. */
	onTime(): void {
		const { unit: raw, min, max } = this.joint.dofs[this.dof]!;
		const unit = unitText(raw);
		const now = this.app.view ? jointValue(this.app.view.sample, this.joint, this.dof) : NaN;
		if (!this.held && Number.isFinite(now)) this.input.value = String(now);
		const target = Number(this.input.value);
		const at = Number.isFinite(now) ? now.toFixed(3) : "–";
		const text = this.held ? `${at} → ${formatNumber(Number(target.toPrecision(3)))} ${unit}` : `${at} ${unit}`;
		setText(this.value, text);
		setAttribute(this.input, "aria-valuetext", text);
		this.input.style.setProperty("--fill", `${(100 * (target - min)) / (max - min)}%`);
		this.free.disabled = !this.held;
	}
}

export function livePanel(app: App, viewport: Viewport): HTMLElement {
	const body = el("div", { class: "section-body" });
	const made = section("Live run", body, true);
	let sliders: JointSlider[] = [];
	made.hidden = true;
	const fill = (): void => {
		const { replay, live } = app;
		made.hidden = live === null || replay === null;
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
		sliders = replay.joints.flatMap((joint) =>
			joint.dofs.flatMap((dof, k) => (dof.command ? [new JointSlider(app, live, joint, k)] : [])),
		);
		const all = button("Release all joints", icon("close"), () => sliders.forEach((s) => s.release()), {
			class: "button small outlined",
		});
		body.replaceChildren(
			el("p", { class: "hint" }, "Push a body: hold Alt and drag it, or choose Push above the scene."),
			stiffness.element,
			...sliders.map((s) => s.element),
			...(sliders.length > 1 ? [all] : []),
		);
	};
	app.on("replay", fill);
	app.on("time", () => {
		for (const s of sliders) s.onTime();
	});
	return made;
}
