// SPDX-License-Identifier: Apache-2.0
/*
 * inspector.ts — what is selected: its properties, how it moves, its mass, its signals.
 */
import { Vector3 } from "three";
import type { App } from "../app.js";
import { eulerAngles, quaternionOf } from "../data/angles.js";
import { principalInertia } from "../data/inertia.js";
import { bodyRates } from "../data/rates.js";
import type { Joint } from "../data/replay.js";
import type { View } from "../scene/view.js";
import { jointOf, selectionName, signalsOf, type Selection } from "../selection.js";
import { check, properties, section } from "./controls.js";
import { button, el, formatNumber, setText, unitText } from "./dom.js";
import { icon } from "./icons.js";
import type { PlotDock } from "./plots.js";

export class Inspector {
	readonly element: HTMLElement;
	private readonly app: App;
	private readonly plots: PlotDock;
	private readonly body = el("div", { class: "section-body" });
	private readonly position = el("dd", { class: "wide" });
	private readonly parent = el("dd");
	private readonly motion = new Motion();
	private readonly at = new Vector3();

	constructor(app: App, plots: PlotDock, follow: () => void) {
		this.app = app;
		this.plots = plots;
		this.follow = follow;
		this.element = section("Selection", this.body, true);
		app.on("replay", () => this.show());
		app.on("selection", () => this.show());
		app.on("topology", () => this.show());
		app.on("time", () => this.onTime());
		app.on("visibility", () => this.show());
		plots.onChange(() => this.show());
	}

	private readonly follow: () => void;

	private show(): void {
		const { replay, selection } = this.app;
		if (!replay || !selection) {
			const hint = "Click a body in the scene, or a line in the tree.";
			this.body.replaceChildren(el("p", { class: "hint" }, hint), ...this.runProperties());
			return;
		}
		const { kind } = selection;
		const title = el(
			"p",
			{ class: "selection-name" },
			icon(kind === "body" ? "cube" : kind === "loop" ? "loopIcon" : kind),
			selectionName(replay, selection),
		);
		const joint = jointOf(replay, selection);
		this.body.replaceChildren(
			title,
			joint ? this.jointProperties(joint) : this.bodyProperties(),
			...(kind === "body" ? this.mass() : []),
			this.buttons(),
			...this.signals(),
		);
		this.onTime();
	}

	private runProperties(): Node[] {
		const { replay } = this.app;
		if (!replay) return [];
		const rows: [string, string][] = [
			["Bodies", String(replay.bodies.length - 1)],
			["Joints", String(replay.joints.length)],
			["Loops", String(replay.loops.length)],
			["Frames", this.app.live ? "" : String(replay.frames.t.count)],
			["Signals", String(replay.signals.length)],
			["Made", replay.created.slice(0, 10)],
			["By", replay.software],
		];
		return [properties(rows.filter(([, value]) => value !== "" && value !== "0"))];
	}

	private bodyProperties(): HTMLElement {
		const { replay, view, selectedBody } = this.app;
		const body = replay!.bodies[selectedBody]!;
		const p = view!.sample.parent[selectedBody]!;
		setText(this.parent, p >= 0 ? replay!.bodies[p]!.name : "–");
		const list = properties([
			["Group", view!.sample.group[selectedBody] || "–"],
			["Modes", body.flexible ? String(body.flexible.modes) : "rigid"],
		]);
		list.append(el("dt", {}, "Parent"), this.parent, el("dt", {}, "Position [m]"), this.position);
		list.append(...this.motion.rows);
		return list;
	}

	/** Mass properties as the document has them, and the ellipsoid of the inertia. */
	private mass(): Node[] {
		const { app } = this;
		const mass = app.replay!.bodies[app.selectedBody]!.mass;
		if (!mass) return [];
		const rows: [string, string][] = [["Mass", `${formatNumber(mass.mass)} kg`]];
		if (mass.center) rows.push(["Center of mass [m]", mass.center.map(formatNumber).join("  ")]);
		if (!mass.inertia) return [properties(rows)];
		const [diagonal, products] = [mass.inertia.slice(0, 3), mass.inertia.slice(3)];
		const { moments } = principalInertia(mass.inertia);
		rows.push(["Ixx Iyy Izz [kg m²]", diagonal.map(formatNumber).join("  ")]);
		if (products.some((v) => v !== 0)) rows.push(["Ixy Ixz Iyz [kg m²]", products.map(formatNumber).join("  ")]);
		rows.push(["Principal [kg m²]", moments.map(formatNumber).join("  ")]);
		const ellipsoid = check(
			"Inertia ellipsoid",
			() => app.settings.ellipsoid,
			(on) => app.set("ellipsoid", on),
			app,
		);
		ellipsoid.querySelector("input")!.checked = app.settings.ellipsoid;
		return [properties(rows), ellipsoid];
	}

	private jointProperties(joint: Joint): HTMLElement {
		const name = (body: number): string => this.app.replay!.bodies[body]!.name;
		const list = properties([
			["Type", joint.type || "–"],
			["From", name(joint.from.body)],
			["To", name(joint.to.body)],
			["Axis", joint.axis ? Array.from(joint.axis, formatNumber).join(", ") : "–"],
		]);
		list.append(el("dt", {}, "Position [m]"), this.position, ...this.motion.orientation);
		return list;
	}

	private buttons(): HTMLElement {
		const { app } = this;
		const body = app.selectedBody;
		const hidden = app.view!.hidden[body] === 1;
		const make = (label: string, name: Parameters<typeof icon>[0], run: () => void): HTMLElement =>
			button(label, icon(name), run, { class: "button small outlined" });
		return el(
			"div",
			{ class: "row-buttons" },
			make(hidden ? "Show" : "Hide", hidden ? "eye" : "eyeOff", () => app.setHidden([body], !hidden)),
			make(app.view!.glass.bodies[body] ? "Solid" : "Transparent", "box", () => {
				app.view!.setGlass([body], app.view!.glass.bodies[body] === 0);
				app.applySettings();
				this.show();
			}),
			make("Isolate", "target", () => app.isolate([body])),
			make("Zoom to", "fit", () => app.fit(true)),
			make("Follow", "camera", this.follow),
			make("Trail", "trail", () => app.set("trails", app.settings.trails === "none" ? "selected" : "none")),
		);
	}

	private signals(): Node[] {
		const { replay, selection } = this.app;
		const found = signalsOf(replay!, selection!);
		if (found.length === 0) return [];
		const items = found.map((signal) => {
			const color = this.plots.colorOf(signal);
			const mark = el("span", { class: "swatch" });
			if (color) mark.style.backgroundColor = color;
			else mark.style.border = "1.5px solid var(--strong-line)";
			return el(
				"li",
				{},
				el(
					"button",
					{
						type: "button",
						class: "item",
						"aria-pressed": String(color !== null),
						onclick: () => this.plots.toggle(signal),
					},
					mark,
					el("span", { class: "grow", title: signal.name }, signal.name),
					el("span", { class: "detail" }, unitText(signal.unit)),
				),
			);
		});
		const all = button("Plot all", icon("chart"), () => this.plots.show(found), { class: "button small outlined" });
		return [
			el("div", { class: "row-buttons" }, all),
			el("ul", { class: "plain-list", "aria-label": "Signals of the selection" }, ...items),
		];
	}

	private onTime(): void {
		const { view, selection } = this.app;
		if (!view || !selection) return;
		const { frame } = view.sample;
		const { origin } = view.replay.frames;
		const at = view.positionOf(selection, this.at).toArray();
		const text = at.map((v, k) => (v + (origin ? origin.data[frame * 3 + k]! : 0)).toFixed(3)).join("  ");
		setText(this.position, text);
		this.motion.update(view, selection);
	}
}

const three = (values: ArrayLike<number>, from = 0): string =>
	[0, 1, 2].map((k) => formatNumber(Number(values[from + k]!.toPrecision(4)))).join("  ");

/** Orientation of a body, node or joint; velocities of a body's origin. */
class Motion {
	private readonly quaternion = el("dd", { class: "wide" });
	private readonly euler = el("dd", { class: "wide" });
	private readonly velocity = el("dd", { class: "wide" });
	private readonly spin = el("dd", { class: "wide" });
	private readonly note = "Recorded, or by differences of the frames around this time (≈)";
	private readonly place = new Float32Array(12);
	private readonly rates = new Float64Array(6);
	readonly orientation = [
		el("dt", {}, "Quaternion w x y z"),
		this.quaternion,
		el("dt", { title: "About z, then the new y, then the new x" }, "Yaw pitch roll [deg]"),
		this.euler,
	];
	readonly rows = [
		...this.orientation,
		el("dt", { title: this.note }, "Velocity [m/s]"),
		this.velocity,
		el("dt", { title: this.note }, "Angular velocity [rad/s]"),
		this.spin,
	];

	update(view: View, selection: Selection): void {
		view.frameOf(selection, this.place);
		const q = quaternionOf(this.place);
		setText(this.quaternion, q.map((v) => v.toFixed(4)).join("  "));
		setText(
			this.euler,
			eulerAngles(this.place)
				.map((v) => ((v * 180) / Math.PI).toFixed(2))
				.join("  "),
		);
		if (selection.kind !== "body" && selection.kind !== "node") return;
		const source = bodyRates(view.sample, selection.body, this.rates);
		const mark = source === "recorded" ? "" : "≈ ";
		setText(this.velocity, source === "none" || selection.kind === "node" ? "–" : mark + three(this.rates));
		setText(this.spin, source === "none" ? "–" : mark + three(this.rates, 3));
	}
}
