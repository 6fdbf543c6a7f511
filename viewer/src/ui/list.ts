// SPDX-License-Identifier: Apache-2.0
/*
 * list.ts — a tree as rows, of which only those in sight are in the page: a model with thousands of objects scrolls
 * like one with ten. It takes the focus as a whole; the active row is announced to assistive technology by
 * aria-activedescendant.
 */
import { el, setAttribute, uniqueId } from "./dom.js";

export interface Row {
	key: string;
	level: number;
	children: boolean;
	expanded: boolean;
}

export interface ListHooks<R extends Row> {
	fill(element: HTMLElement, row: R): void;
	activate(row: R): void;
	toggle(row: R): void;
	/** A key that the list does not know; true: it was used. */
	key(event: KeyboardEvent, row: R): boolean;
}

const MAX_INDENT = 9;

export class VirtualList<R extends Row> {
	readonly element: HTMLElement;
	private readonly spacer = el("div", { role: "presentation" });
	private readonly pool: HTMLElement[] = [];
	private readonly hooks: ListHooks<R>;
	private rows: R[] = [];
	private active = 0;
	private first = -1;
	private rowHeight = 28;

	constructor(label: string, hooks: ListHooks<R>) {
		this.hooks = hooks;
		this.element = el("div", { class: "list", role: "tree", "aria-label": label, tabindex: "0" }, this.spacer);
		this.element.addEventListener("scroll", () => this.render());
		this.element.addEventListener("keydown", (event) => this.onKey(event));
		new ResizeObserver(() => this.layout()).observe(this.element);
	}

	setRows(rows: R[]): void {
		const key = this.rows[this.active]?.key;
		this.rows = rows;
		const again = rows.findIndex((r) => r.key === key);
		this.active = Math.max(0, again);
		this.layout();
	}

	/** Redraws the rows in sight. */
	refresh(): void {
		this.first = -1;
		this.render();
	}

	reveal(key: string): void {
		const i = this.rows.findIndex((r) => r.key === key);
		if (i >= 0) this.setActive(i);
	}

	private layout(): void {
		this.rowHeight = parseFloat(getComputedStyle(document.documentElement).fontSize) * 2;
		this.spacer.style.height = `${this.rows.length * this.rowHeight}px`;
		this.refresh();
	}

	private render(): void {
		const first = Math.max(0, Math.floor(this.element.scrollTop / this.rowHeight) - 2);
		if (first === this.first) return;
		this.first = first;
		const count = Math.min(this.rows.length - first, Math.ceil(this.element.clientHeight / this.rowHeight) + 5);
		while (this.pool.length < count) this.pool.push(this.makeRow());
		this.pool.forEach((element, k) => {
			element.hidden = k >= count;
			if (k < count) this.fill(element, first + k);
		});
		this.markActive();
	}

	private makeRow(): HTMLElement {
		const element = el("div", { class: "row", role: "treeitem", id: uniqueId("row") });
		element.addEventListener("click", () => {
			const i = Number(element.dataset.row);
			this.active = i;
			this.hooks.activate(this.rows[i]!);
			this.markActive();
		});
		this.element.append(element);
		return element;
	}

	private fill(element: HTMLElement, i: number): void {
		const row = this.rows[i]!;
		element.dataset.row = String(i);
		element.style.transform = `translateY(${i * this.rowHeight}px)`;
		element.style.top = "0";
		element.style.paddingLeft = `${0.3 + 0.75 * Math.min(MAX_INDENT, row.level)}rem`;
		setAttribute(element, "aria-level", String(row.level + 1));
		setAttribute(element, "aria-posinset", String(i + 1));
		setAttribute(element, "aria-setsize", String(this.rows.length));
		if (row.children) setAttribute(element, "aria-expanded", String(row.expanded));
		else element.removeAttribute("aria-expanded");
		this.hooks.fill(element, row);
	}

	private markActive(): void {
		this.element.removeAttribute("aria-activedescendant");
		for (const element of this.pool) {
			const active = !element.hidden && Number(element.dataset.row) === this.active;
			setAttribute(element, "data-active", String(active));
			if (active) this.element.setAttribute("aria-activedescendant", element.id);
		}
	}

	private setActive(i: number): void {
		this.active = Math.min(this.rows.length - 1, Math.max(0, i));
		const top = this.active * this.rowHeight;
		const { scrollTop, clientHeight } = this.element;
		if (top < scrollTop) this.element.scrollTop = top;
		else if (top + this.rowHeight > scrollTop + clientHeight)
			this.element.scrollTop = top + this.rowHeight - clientHeight;
		this.refresh();
	}

	private onKey(event: KeyboardEvent): void {
		const row = this.rows[this.active];
		if (!row || event.ctrlKey || event.metaKey || event.altKey) return;
		if (this.move(event.key, row) || this.hooks.key(event, row)) {
			event.preventDefault();
			event.stopPropagation();
		}
	}

	private move(key: string, row: R): boolean {
		const page = Math.max(1, Math.floor(this.element.clientHeight / this.rowHeight) - 1);
		switch (key) {
			case "ArrowDown":
				this.setActive(this.active + 1);
				return true;
			case "ArrowUp":
				this.setActive(this.active - 1);
				return true;
			case "PageDown":
				this.setActive(this.active + page);
				return true;
			case "PageUp":
				this.setActive(this.active - page);
				return true;
			case "Home":
				this.setActive(0);
				return true;
			case "End":
				this.setActive(this.rows.length - 1);
				return true;
			case "ArrowRight":
				if (row.children && !row.expanded) this.hooks.toggle(row);
				else this.setActive(this.active + 1);
				return true;
			case "ArrowLeft":
				if (row.children && row.expanded) this.hooks.toggle(row);
				else this.setActive(this.parentOf(this.active));
				return true;
			case "Enter":
				this.hooks.activate(row);
				return true;
			default:
				return false;
		}
	}

	private parentOf(i: number): number {
		for (let k = i - 1; k >= 0; k--) if (this.rows[k]!.level < this.rows[i]!.level) return k;
		return i;
	}
}
