// SPDX-License-Identifier: Apache-2.0
/*
 * signals.ts — the list of all signals with a search; a click puts one into the current plot or takes it out.
 */
import type { App } from "../app.js";
import type { Signal } from "../data/replay.js";
import { el, setAttribute, setText, unitText } from "./dom.js";
import { icon } from "./icons.js";
import { VirtualList, type Row } from "./list.js";
import type { PlotDock } from "./plots.js";

interface SignalRow extends Row {
	label: string;
	signal: Signal | null; // null: a heading
}

export class SignalList {
	readonly element: HTMLElement;
	private readonly app: App;
	private readonly plots: PlotDock;
	private readonly list: VirtualList<SignalRow>;
	private readonly input: HTMLInputElement;
	private readonly count = el("span", { class: "count", role: "status" });
	private readonly closed = new Set<string>();

	constructor(app: App, plots: PlotDock) {
		this.app = app;
		this.plots = plots;
		this.list = new VirtualList("Signals", {
			fill: (element, row) => this.fill(element, row),
			activate: (row) => (row.signal ? plots.toggle(row.signal) : this.toggle(row)),
			toggle: (row) => this.toggle(row),
			key: () => false,
		});
		this.input = el("input", {
			type: "search",
			placeholder: "Search signals",
			"aria-label": "Search signals",
			oninput: () => this.show(),
		});
		this.element = el(
			"div",
			{ class: "side-page" },
			el("div", { class: "search" }, icon("search"), this.input),
			el("div", { class: "tree-tools" }, this.count),
			this.list.element,
		);
		app.on("replay", () => this.show());
		plots.onChange(() => this.list.refresh());
	}

	private show(): void {
		const signals = this.app.replay?.signals ?? [];
		const words = this.input.value.trim().toLowerCase();
		const found = signals.filter((s) => `${s.name} ${s.about} ${s.unit}`.toLowerCase().includes(words));
		setText(this.count, words ? `${found.length} found` : `${signals.length} signals`);
		const groups = new Map<string, Signal[]>();
		for (const signal of found) {
			const title = signal.about ? `${signal.kind} ${signal.about}` : "system";
			const list = groups.get(title);
			if (list) list.push(signal);
			else groups.set(title, [signal]);
		}
		const rows: SignalRow[] = [];
		for (const [title, list] of groups) {
			const expanded = words !== "" || !this.closed.has(title);
			rows.push({ key: title, label: title, level: 0, children: true, expanded, signal: null });
			if (expanded)
				for (const signal of list)
					rows.push({
						key: `${title} ${signal.index}`,
						label: signal.name,
						level: 1,
						children: false,
						expanded: false,
						signal,
					});
		}
		this.list.setRows(rows);
	}

	private toggle(row: SignalRow): void {
		if (row.expanded) this.closed.add(row.key);
		else this.closed.delete(row.key);
		this.show();
	}

	private fill(element: HTMLElement, row: SignalRow): void {
		const color = row.signal && this.plots.colorOf(row.signal);
		setAttribute(element, "data-kind", row.signal ? "signal" : "group");
		setAttribute(element, "aria-selected", String(color !== null && color !== undefined));
		const mark = row.signal
			? el("span", { class: "swatch" })
			: el("span", { class: "twisty", "aria-hidden": "true" }, icon("chevron"));
		if (color) mark.style.backgroundColor = color;
		else if (row.signal) mark.style.border = "1.5px solid var(--strong-line)";
		element.replaceChildren(
			mark,
			el("span", { class: "name", title: row.label }, row.label),
			el("span", { class: "detail" }, unitText(row.signal?.unit ?? "")),
		);
	}
}
