// SPDX-License-Identifier: Apache-2.0
/*
 * controls.ts — the pieces of the panels: sections, sliders, check boxes, choices, tables of properties.
 */
import type { App } from "../app.js";
import { el, setAttribute, setText, uniqueId } from "./dom.js";

export function section(title: string, body: HTMLElement, open: boolean): HTMLDetailsElement {
	const details = el("details", { class: "section" }, el("summary", {}, title), body);
	details.open = open;
	return details;
}

export interface SliderOptions {
	label: string;
	min: number;
	max: number;
	value: number;
	step?: number | "any";
	show(value: number): string;
	input(value: number): void;
}

export interface Slider {
	element: HTMLElement;
	input: HTMLInputElement;
	set(value: number): void;
}

export function slider(options: SliderOptions): Slider {
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

export function check(
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

export function choose<T extends string>(
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

export function properties(rows: readonly (readonly [string, string])[]): HTMLElement {
	return el(
		"dl",
		{ class: "properties" },
		...rows.flatMap(([name, value]) => [
			el("dt", {}, name),
			el("dd", { title: value, class: value.length > 18 ? "wide" : undefined }, value),
		]),
	);
}
