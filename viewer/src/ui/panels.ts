// SPDX-License-Identifier: Apache-2.0
/*
 * panels.ts — the right side: what is selected, how things are drawn, mode shapes, and of a live run its sliders.
 */
import { Vector3 } from "three";
import type { App } from "../app.js";
import type { ArrowKind } from "../data/document.js";
import type { Joint } from "../data/replay.js";
import { ARROW_COLORS } from "../scene/arrows.js";
import type { FlexColoring } from "../scene/flexible.js";
import { jointOf, selectionName, signalsOf } from "../selection.js";
import { button, el, formatNumber, setAttribute, setText, uniqueId } from "./dom.js";
import { icon } from "./icons.js";
import type { PlotDock } from "./plots.js";
import type { Viewport } from "./viewport.js";

function section(title: string, body: HTMLElement, open: boolean): HTMLDetailsElement {
	const details = el("details", { class: "section" }, el("summary", {}, title), body);
	details.open = open;
	return details;
}

interface SliderOptions {
	label: string;
	min: number;
	max: number;
	value: number;
	step?: number | "any";
	show(value: number): string;
	input(value: number): void;
}

interface Slider {
	element: HTMLElement;
	input: HTMLInputElement;
	set(value: number): void;
}

function slider(options: SliderOptions): Slider {
	const id = uniqueId("slider");
	const output = el("output", { class: "value", for: id });
	const input = el("input", {
		type: "range",
		id,
		min: String(options.min),
		max: String(options.max),
		step: String(options.step ?? "any"),
	});
	const show = (): void => {
		const value = Number(input.value);
		setText(output, options.show(value));
		setAttribute(input, "aria-valuetext", options.show(value));
		input.style.setProperty("--fill", `${(100 * (value - options.min)) / (options.max - options.min)}%`);
	};
	const set = (value: number): void => {
		input.value = String(value);
		show();
	};
	input.addEventListener("input", () => {
		show();
		options.input(Number(input.value));
	});
	set(options.value);
	return {
		element: el("div", { class: "field" }, el("label", { for: id }, options.label), input, output),
		input,
		set,
	};
}

function check(
	label: string,
	get: () => boolean,
	set: (on: boolean) => void,
	app: App,
	mark?: HTMLElement,
): HTMLElement {
	const input = el("input", { type: "checkbox", onchange: () => set(input.checked) });
	app.on("settings", () => (input.checked = get()));
	return el("label", { class: "toggle" }, input, mark, el("span", {}, label));
}

function choose<T extends string>(
	label: string,
	choices: readonly (readonly [T, string])[],
	change: (value: T) => void,
): { element: HTMLElement; select: HTMLSelectElement } {
	const id = uniqueId("choice");
	const select = el(
		"select",
		{ id, class: "small", onchange: () => change(select.value as T) },
		...choices.map(([value, text]) => el("option", { value }, text)),
	);
	return { element: el("div", { class: "field" }, el("label", { for: id }, label), select), select };
}

/* ---- selection ----------------------------------------------------------------------------- */

export class Inspector {
	readonly element: HTMLElement;
	private readonly app: App;
	private readonly plots: PlotDock;
	private readonly body = el("div", { class: "section-body" });
	private readonly position = el("dd");
	private readonly parent = el("dd");
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
		return list;
	}

	private jointProperties(joint: Joint): HTMLElement {
		const name = (body: number): string => this.app.replay!.bodies[body]!.name;
		const list = properties([
			["Type", joint.type || "–"],
			["From", name(joint.from.body)],
			["To", name(joint.to.body)],
			["Axis", joint.axis ? Array.from(joint.axis, formatNumber).join(", ") : "–"],
		]);
		list.append(el("dt", {}, "Position [m]"), this.position);
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
					el("span", { class: "detail" }, signal.unit),
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
	}
}

function properties(rows: readonly (readonly [string, string])[]): HTMLElement {
	return el(
		"dl",
		{ class: "properties" },
		...rows.flatMap(([name, value]) => [el("dt", {}, name), el("dd", { title: value }, value)]),
	);
}

/* ---- display ------------------------------------------------------------------------------- */

const ARROW_NAMES: Record<ArrowKind, string> = {
	force: "Forces",
	moment: "Moments",
	reaction: "Reactions",
	contact: "Contact",
};

export function displayPanel(app: App): HTMLElement {
	const { settings } = app;
	const second = check(
		"Second run",
		() => settings.ghost,
		(on) => app.set("ghost", on),
		app,
	);
	app.on("ghost", () => (second.hidden = !app.view?.ghost));
	const frames = el(
		"div",
		{ class: "toggles" },
		check(
			"Body frames",
			() => settings.bodyFrames,
			(on) => app.set("bodyFrames", on),
			app,
		),
		check(
			"Node frames",
			() => settings.nodeFrames,
			(on) => app.set("nodeFrames", on),
			app,
		),
		check(
			"Joint frames",
			() => settings.jointFrames,
			(on) => app.set("jointFrames", on),
			app,
		),
		check(
			"Grid",
			() => settings.grid,
			(on) => app.set("grid", on),
			app,
		),
		check(
			"Name label",
			() => settings.labels,
			(on) => app.set("labels", on),
			app,
		),
		second,
	);
	const trails = choose(
		"Trails",
		[
			["none", "None"],
			["selected", "Of the selection"],
			["named", "As the model says"],
			["all", "Of all bodies"],
		] as const,
		(value) => app.set("trails", value),
	);
	const span = slider({
		label: "Trail length",
		min: -1,
		max: 3.1,
		value: 3.1,
		show: (v) => (v > 3 ? "all" : `${formatNumber(Number((10 ** v).toPrecision(2)))} s`),
		input: (v) => app.setTrailSpan(v > 3 ? Infinity : 10 ** v),
	});
	app.on("settings", () => (trails.select.value = settings.trails));
	return section("Display", el("div", { class: "section-body" }, frames, trails.element, span.element), true);
}

export function arrowPanel(app: App): HTMLElement {
	const toggles = el("div", { class: "toggles" });
	const scale = slider({
		label: "Arrow scale",
		min: -1.5,
		max: 1.5,
		value: 0,
		show: (v) => `${formatNumber(Number((10 ** v).toPrecision(2)))}×`,
		input: (v) => app.setArrowScale(10 ** v),
	});
	const made = section("Forces", el("div", { class: "section-body" }, toggles, scale.element), true);
	app.on("replay", () => {
		const kinds = [...new Set(app.replay?.arrows.map((a) => a.kind) ?? [])];
		made.hidden = kinds.length === 0;
		scale.set(0);
		toggles.replaceChildren(
			...kinds.map((kind) => {
				const mark = el("span", { class: "swatch" });
				mark.style.backgroundColor = ARROW_COLORS[kind];
				const { shown } = app.view!.arrows;
				const input = el("input", {
					type: "checkbox",
					onchange: () => {
						shown[kind] = input.checked;
						if (input.checked) app.settings.arrows = true;
						app.applySettings();
					},
				});
				input.checked = shown[kind];
				return el("label", { class: "toggle" }, input, mark, el("span", {}, ARROW_NAMES[kind]));
			}),
		);
	});
	return made;
}

/* ---- flexible bodies ----------------------------------------------------------------------- */

export function flexiblePanel(app: App): HTMLElement {
	const exaggeration = slider({
		label: "Exaggeration",
		min: 0,
		max: 3,
		value: 0,
		show: (v) => `${formatNumber(Number((10 ** v).toPrecision(2)))}×`,
		input: (v) => app.setExaggeration(10 ** v),
	});
	exaggeration.input.dataset.test = "exaggeration";
	const coloring = choose<FlexColoring>(
		"Color",
		[
			["plain", "Plain"],
			["displacement", "Displacement"],
			["strain", "Strain energy"],
		],
		(value) => app.setColoring(value),
	);
	coloring.select.dataset.test = "coloring";
	const made = section(
		"Deformation",
		el("div", { class: "section-body" }, exaggeration.element, coloring.element),
		true,
	);
	const sync = (): void => {
		const flexible = app.view?.flexible;
		if (!flexible) return;
		exaggeration.set(Math.log10(flexible.exaggeration));
		coloring.select.value = flexible.coloring;
	};
	app.on("settings", sync);
	app.on("replay", () => {
		made.hidden = !app.view?.flexible.bodies.length;
		sync();
	});
	return made;
}

export class ModesPanel {
	readonly element: HTMLElement;
	private readonly app: App;
	private readonly body: { element: HTMLElement; select: HTMLSelectElement };
	private readonly list = el("ul", { class: "plain-list", "aria-label": "Modes" });
	private readonly stop: HTMLButtonElement;

	constructor(app: App) {
		this.app = app;
		this.body = choose("Body", [], (value) => {
			app.showMode(-1, -1);
			this.fill(Number(value));
		});
		this.stop = button("Back to the motion", icon("close"), () => app.showMode(-1, -1), {
			class: "button small outlined",
		});
		const amplitude = slider({
			label: "Amplitude",
			min: 0.1,
			max: 3,
			value: 1,
			show: (v) => `${formatNumber(v)}×`,
			input: (v) => (app.modeAmplitude = v),
		});
		const speed = slider({
			label: "Shown at",
			min: 0.2,
			max: 4,
			value: 1,
			show: (v) => `${formatNumber(Number(v.toPrecision(2)))} Hz`,
			input: (v) => (app.modeSpeed = v),
		});
		this.element = section(
			"Mode shapes",
			el(
				"div",
				{ class: "section-body" },
				this.body.element,
				this.list,
				this.stop,
				amplitude.element,
				speed.element,
			),
			true,
		);
		app.on("replay", () => this.reset());
		app.on("mode", () => this.mark());
		app.on("selection", () => {
			const selected = app.selectedBody;
			if (selected >= 0 && app.replay?.bodies[selected]?.flexible && !app.mode) this.fill(selected);
		});
	}

	private reset(): void {
		const flexible = this.app.view?.flexible.bodies ?? [];
		this.element.hidden = flexible.length === 0;
		this.body.select.replaceChildren(
			...flexible.map((b) => el("option", { value: String(b.body.index) }, b.body.name)),
		);
		if (flexible[0]) this.fill(flexible[0].body.index);
	}

	private fill(body: number): void {
		const { flexible } = this.app.replay!.bodies[body]!;
		this.body.select.value = String(body);
		this.list.replaceChildren(
			...(flexible?.frequencies ?? []).map((frequency, mode) => {
				const damping = flexible!.damping?.[mode];
				const detail =
					(frequency > 0 ? `${formatNumber(frequency)} Hz` : "static") +
					(damping !== undefined ? `, ${formatNumber(damping * 100)} %` : "");
				const press = (): void => {
					const shown = this.app.mode;
					this.app.showMode(body, shown && shown.body === body && shown.mode === mode ? -1 : mode);
				};
				return el(
					"li",
					{},
					el(
						"button",
						{
							type: "button",
							class: "item mode",
							"data-body": String(body),
							"data-mode": String(mode),
							onclick: press,
						},
						icon("wave"),
						el("span", { class: "grow" }, flexible!.names[mode]!),
						el("span", { class: "detail", title: "Frequency, damping ratio" }, detail),
					),
				);
			}),
		);
		this.mark();
	}

	private mark(): void {
		const { mode } = this.app;
		this.stop.hidden = mode === null;
		for (const item of this.list.querySelectorAll<HTMLElement>(".mode"))
			item.setAttribute(
				"aria-pressed",
				String(
					mode !== null && Number(item.dataset.body) === mode.body && Number(item.dataset.mode) === mode.mode,
				),
			);
	}
}

/* ---- live ---------------------------------------------------------------------------------- */

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
