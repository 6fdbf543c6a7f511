// SPDX-License-Identifier: Apache-2.0
/*
 * dom.ts — makes elements. Strings become text nodes, never markup: that is why names from a document cannot do harm.
 */

type Child = Node | string | null | undefined | false;

export interface Attributes {
	class?: string;
	title?: string;
	hidden?: boolean;
	disabled?: boolean;
	checked?: boolean;
	onclick?: (event: MouseEvent) => void;
	oninput?: (event: Event) => void;
	onchange?: (event: Event) => void;
	/** Everything else, by name: role, aria-…, type, for … */
	[name: string]: unknown;
}

export function el<K extends keyof HTMLElementTagNameMap>(
	tag: K,
	attributes: Attributes = {},
	...children: Child[]
): HTMLElementTagNameMap[K] {
	const node = document.createElement(tag);
	for (const [name, value] of Object.entries(attributes)) {
		if (value === undefined || value === false || value === null) continue;
		if (name.startsWith("on") && typeof value === "function")
			node.addEventListener(name.slice(2), value as EventListener);
		else node.setAttribute(name, value === true ? "" : String(value));
	}
	node.append(...children.filter((c): c is Node | string => c !== null && c !== undefined && c !== false));
	return node;
}

/** Writes only what differs: the browser lays out text that was set, even if it is the same. */
export function setText(node: Node, text: string): void {
	if (node.textContent !== text) node.textContent = text;
}

export function setAttribute(node: Element, name: string, value: string): void {
	if (node.getAttribute(name) !== value) node.setAttribute(name, value);
}

/** A button with an icon and, unless it is only an icon, its label beside it. */
export function button(
	label: string,
	icon: SVGElement | null,
	onclick: (event: MouseEvent) => void,
	options: Attributes & { iconOnly?: boolean } = {},
): HTMLButtonElement {
	const { iconOnly, ...attributes } = options;
	const text = iconOnly ? null : el("span", {}, label);
	// The text of a button may be hidden where there is little room; its name stays.
	const named = {
		"aria-label": label,
		...(iconOnly ? { title: (attributes.title as string | undefined) ?? label } : {}),
	};
	return el(
		"button",
		{ type: "button", class: iconOnly ? "icon-button" : "button", onclick, ...named, ...attributes },
		icon,
		text,
	);
}

let counter = 0;
export const uniqueId = (prefix: string): string => `${prefix}-${++counter}`;

/** Numbers for people: four significant digits, powers of ten where they help. */
export function formatNumber(value: number): string {
	if (!Number.isFinite(value)) return Number.isNaN(value) ? "–" : value > 0 ? "∞" : "-∞";
	if (value === 0) return "0";
	const magnitude = Math.abs(value);
	if (magnitude < 1e-3 || magnitude >= 1e5) return value.toExponential(2).replace("e+", "e");
	return value
		.toPrecision(4)
		.replace(/(\.\d*?)0+$/, "$1")
		.replace(/\.$/, "");
}

/** A unit for people: "kg*m^2" as kg m², as `calder plot` writes it. */
export const unitText = (unit: string): string =>
	unit
		.replaceAll("*", " ")
		.replace(/\^2(?!\d)/g, "²")
		.replace(/\^3(?!\d)/g, "³");

export function withUnit(value: number, unit: string): string {
	return unit ? `${formatNumber(value)} ${unitText(unit)}` : formatNumber(value);
}
