// SPDX-License-Identifier: Apache-2.0
/*
 * lab_panel.ts — a live run as a laboratory: the moments that it can go back to, and the numbers of the model that can be
 * changed while it runs. A number that the simulation refuses becomes what it was; the message says why.
 */
import type { App } from "../app.js";
import type { Moment, Parameter } from "../data/parameters.js";
import type { LiveLink } from "../live.js";
import { section } from "./controls.js";
import { button, el, formatNumber, setText, uniqueId, unitText } from "./dom.js";
import { icon } from "./icons.js";

const FEW = 8; // parameters that need no search, and owners that are open

/* ---- moments ----------------------------------------------------------------------------------------- */

function momentRow(live: LiveLink, { moment, t }: Moment): HTMLElement {
	const time = `${formatNumber(t)} s`;
	return el(
		"li",
		{ class: "moment" },
		button(`Back to ${time}`, null, () => live.command({ command: "return", moment }), {
			class: "button small outlined",
		}),
		button(`Forget ${time}`, icon("close"), () => live.command({ command: "forget", moment }), {
			iconOnly: true,
			class: "icon-button small",
		}),
	);
}

export function momentsPanel(app: App): HTMLElement {
	const kept = el("ul", { class: "moments" });
	const reset = button("Back to the start", null, () => app.live?.command({ command: "reset" }), {
		class: "button small outlined",
	});
	const keep = button("Keep this moment", null, () => app.live?.command({ command: "keep" }), {
		class: "button small outlined",
	});
	const hint = el("p", { class: "hint" }, "A moment has the state of the run and its parameters.");
	const made = section(
		"Moments",
		el("div", { class: "section-body" }, el("div", {}, reset, " ", keep), kept, hint),
		true,
	);
	let shown: Moment[] | null = null;
	made.hidden = true;
	app.on("live", () => {
		const { live } = app;
		made.hidden = !live?.moments.length;
		if (!live || live.moments === shown) return;
		shown = live.moments;
		kept.replaceChildren(...shown.filter((m) => m.moment > 0).map((m) => momentRow(live, m)));
	});
	return made;
}

/* ---- parameters --------------------------------------------------------------------------------------- */

class ParameterField {
	readonly element: HTMLElement;
	readonly parameter: Parameter;
	private readonly input: HTMLInputElement;
	private shown = NaN;

	constructor(live: LiveLink, parameter: Parameter, index: number) {
		const { name, key, unit, low, high, fixed } = parameter;
		const id = uniqueId("parameter");
		this.parameter = parameter;
		this.input = el("input", {
			type: "number",
			id,
			step: "any",
			min: Number.isFinite(low) ? String(low) : undefined,
			max: Number.isFinite(high) ? String(high) : undefined,
			disabled: fixed !== "",
			title: fixed ? `${name}: ${fixed}` : name,
			onchange: () => {
				const value = this.input.valueAsNumber;
				if (Number.isFinite(value)) live.command({ command: "parameter", parameter: index, value });
				else this.show();
			},
		});
		this.input.dataset.parameter = name;
		this.element = el(
			"div",
			{ class: "parameter" },
			el("label", { for: id }, key),
			this.input,
			el("span", { class: "value" }, unitText(unit)),
		);
		this.show();
	}

	/** What the simulation says, also after a refusal. */
	show(): void {
		const { value } = this.parameter;
		this.shown = value;
		this.input.value = Number.isFinite(value) ? String(value) : "";
	}

	/** Something has changed: not what somebody is typing. */
	update(force: boolean): void {
		if (force || !Object.is(this.shown, this.parameter.value)) this.show();
	}
}

export function parametersPanel(app: App): HTMLElement {
	const search = el("input", {
		type: "search",
		class: "parameter-search",
		"aria-label": "Search parameters",
		placeholder: "Search parameters",
	});
	const groups = el("div", { class: "parameter-groups" });
	const none = el("p", { class: "hint" }, "None has this name.");
	const made = section("Parameters", el("div", { class: "section-body" }, search, groups, none), true);
	let fields: ParameterField[] = [];
	let shown: Parameter[] | null = null;
	let changes = 0;
	made.hidden = true;

	const filter = (): void => {
		const wanted = search.value.trim().toLowerCase();
		let any = false;
		for (const f of fields) f.element.hidden = !f.parameter.name.toLowerCase().includes(wanted);
		for (const group of groups.querySelectorAll("details")) {
			const matches = [...group.querySelectorAll<HTMLElement>(".parameter")].some((p) => !p.hidden);
			group.hidden = !matches;
			if (wanted && matches) group.open = true;
			any ||= matches;
		}
		none.hidden = any;
	};
	search.addEventListener("input", filter);

	const fill = (live: LiveLink): void => {
		const owners = new Map<string, ParameterField[]>();
		shown = live.parameters;
		fields = shown.map((p, i) => new ParameterField(live, p, i));
		for (const f of fields) owners.set(f.parameter.owner, [...(owners.get(f.parameter.owner) ?? []), f]);
		groups.replaceChildren(
			...[...owners].map(([owner, own]) => {
				const summary = el("summary", {});
				setText(summary, owner);
				const group = el("details", { class: "parameter-group" }, summary, ...own.map((f) => f.element));
				group.open = owners.size <= FEW;
				return group;
			}),
		);
		search.hidden = fields.length <= FEW;
		filter();
	};

	app.on("live", () => {
		const { live } = app;
		made.hidden = !live?.parameters.length;
		if (!live) return;
		if (live.parameters !== shown) fill(live);
		const force = live.parameterChanges !== changes;
		changes = live.parameterChanges;
		for (const f of fields) f.update(force && !f.element.contains(document.activeElement));
		if (force && live.changed) fields[live.parameters.indexOf(live.changed)]?.show();
	});
	return made;
}
