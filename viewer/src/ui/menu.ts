// SPDX-License-Identifier: Apache-2.0
/*
 * menu.ts — a menu below a button: arrow keys move, Escape and a click elsewhere close it.
 */
import { el } from "./dom.js";
import { icon, type IconName } from "./icons.js";

export interface MenuItem {
	label: string;
	icon: IconName;
	disabled?: boolean;
	run(): void;
}

export function openMenu(anchor: HTMLElement, items: MenuItem[]): void {
	if (anchor.getAttribute("aria-expanded") === "true") return;
	const name = anchor.getAttribute("aria-label");
	const menu = el("div", { class: "menu", role: "menu", "aria-label": name });
	const region = el("section", { "aria-label": name }, menu);
	const close = (focus: boolean): void => {
		document.removeEventListener("pointerdown", outside, true);
		region.remove();
		anchor.setAttribute("aria-expanded", "false");
		if (focus) anchor.focus();
	};
	const outside = (event: Event): void => {
		if (!menu.contains(event.target as Node)) close(false);
	};
	for (const item of items) {
		const run = (): void => {
			close(true);
			item.run();
		};
		menu.append(
			el(
				"button",
				{
					type: "button",
					class: "item",
					role: "menuitem",
					tabindex: "-1",
					disabled: item.disabled,
					onclick: run,
				},
				icon(item.icon),
				el("span", { class: "grow" }, item.label),
			),
		);
	}
	menu.addEventListener("keydown", (event) => {
		const buttons = [...menu.querySelectorAll<HTMLButtonElement>("button:not(:disabled)")];
		const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
		if (event.key === "Escape" || event.key === "Tab") close(true);
		else if (event.key === "ArrowDown") buttons[(at + 1) % buttons.length]?.focus();
		else if (event.key === "ArrowUp") buttons[(at + buttons.length - 1) % buttons.length]?.focus();
		else if (event.key !== "Enter" && event.key !== " ") return;
		event.stopPropagation();
		if (event.key !== "Enter" && event.key !== " ") event.preventDefault();
	});
	document.body.append(region);
	const box = anchor.getBoundingClientRect();
	menu.style.top = `${box.bottom + 4}px`;
	menu.style.left = `${Math.max(8, Math.min(box.left, window.innerWidth - menu.offsetWidth - 8))}px`;
	anchor.setAttribute("aria-expanded", "true");
	document.addEventListener("pointerdown", outside, true);
	menu.querySelector<HTMLButtonElement>("button:not(:disabled)")?.focus();
}
