// SPDX-License-Identifier: Apache-2.0
/*
 * panels.ts — the right side: how things are drawn, mode shapes.
 */
import type { App, KeyOf } from "../app.js";
import { ARROW_COLORS } from "../scene/arrows.js";
import type { FlexColoring } from "../scene/flexible.js";
import { check, choose, section, slider } from "./controls.js";
import { button, el, formatNumber } from "./dom.js";
import { icon } from "./icons.js";
import { ARROW_NAMES } from "./scale_bar.js";

/* ---- display ------------------------------------------------------------------------------- */

export function displayPanel(app: App): HTMLElement {
	const { settings } = app;
	const second = check(
		"Other runs",
		() => settings.ghost,
		(on) => app.set("ghost", on),
		app,
	);
	const runs = el("ul", { class: "plain-list", "aria-label": "Other runs" });
	app.on("ghost", () => {
		const list = app.view?.ghosts.list ?? [];
		second.hidden = runs.hidden = list.length === 0;
		runs.replaceChildren(
			...list.map(({ replay, color }) => {
				const mark = el("span", { class: "swatch" });
				mark.style.backgroundColor = color;
				return el("li", { class: "measure" }, mark, el("span", { class: "grow" }, replay.title));
			}),
		);
	});
	const toggle = (label: string, key: KeyOf<boolean>): HTMLElement =>
		check(
			label,
			() => settings[key],
			(on) => app.set(key, on),
			app,
		);
	const frames = el(
		"div",
		{ class: "toggles" },
		toggle("Body frames", "bodyFrames"),
		toggle("Body names", "bodyNames"),
		toggle("Joint frames", "jointFrames"),
		toggle("Joint names", "jointNames"),
		toggle("Node frames", "nodeFrames"),
		toggle("Node names", "nodeNames"),
		toggle("Grid", "grid"),
		toggle("Grid labels", "gridLabels"),
		toggle("Name label", "labels"),
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
	return section("Display", el("div", { class: "section-body" }, frames, runs, trails.element, span.element), true);
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
	const values = check(
		"Values",
		() => app.settings.arrowValues,
		(on) => app.set("arrowValues", on),
		app,
	);
	const made = section("Forces", el("div", { class: "section-body" }, toggles, values, scale.element), true);
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
