// SPDX-License-Identifier: Apache-2.0
/*
 * editor.ts — the text of a model with the numbers of its lines. What is wrong with it is marked in its line; the message below
 * leads there.
 */
import { el, setText } from "../ui/dom.js";

export interface Problem {
	message: string;
	line: number | null; // from 1; null: of the whole text
	column: number | null;
}

export class Editor {
	readonly element: HTMLElement;
	private readonly area = el("textarea", {
		class: "editor-text",
		wrap: "off",
		spellcheck: "false",
		autocapitalize: "off",
		autocomplete: "off",
		"aria-label": "Text of the model",
	});
	private readonly numbers = el("div", { class: "editor-numbers", "aria-hidden": "true" });
	private readonly stripe = el("div", { class: "editor-stripe", hidden: true, "aria-hidden": "true" });
	private readonly message = el("button", { type: "button", class: "editor-message", hidden: true });
	private readonly status = el("p", { class: "hint editor-status", role: "status" });
	private problem: Problem | null = null;
	private lines = 0;

	/** changed: the person typed; run: Ctrl+Enter. */
	constructor(changed: () => void, run: () => void) {
		this.area.addEventListener("input", () => {
			this.count();
			changed();
		});
		this.area.addEventListener("scroll", () => this.follow());
		this.area.addEventListener("keydown", (event) => {
			event.stopPropagation(); // letters are keys of the viewer elsewhere
			if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
				event.preventDefault();
				run();
			}
		});
		this.message.addEventListener("click", () => this.goTo());
		const body = el(
			"div",
			{ class: "editor-body" },
			this.numbers,
			el("div", { class: "editor-page" }, this.stripe, this.area),
		);
		this.element = el("div", { class: "editor" }, body, this.message, this.status);
	}

	get text(): string {
		return this.area.value;
	}

	set text(text: string) {
		this.area.value = text;
		this.area.scrollTop = 0;
		this.count();
		this.show(null);
	}

	say(text: string): void {
		setText(this.status, text);
	}

	/** What is wrong; null: nothing. */
	show(problem: Problem | null): void {
		this.problem = problem;
		this.message.hidden = problem === null;
		setText(this.message, problem?.message ?? "");
		const line = problem?.line ?? null;
		[...this.numbers.children].forEach((child, i) => child.classList.toggle("bad", i + 1 === line));
		this.stripe.hidden = line === null;
		this.area.setAttribute("aria-invalid", String(problem !== null));
		this.follow();
	}

	private count(): void {
		const lines = this.area.value.split("\n").length;
		while (this.lines < lines) this.numbers.append(el("span", {}, String(++this.lines)));
		while (this.lines > lines) {
			this.numbers.lastElementChild?.remove();
			this.lines--;
		}
		this.follow();
	}

	private get lineHeight(): number {
		return Number.parseFloat(getComputedStyle(this.area).lineHeight);
	}

	/** Numbers and stripe go with the text. */
	private follow(): void {
		this.numbers.style.transform = `translateY(${-this.area.scrollTop}px)`;
		const line = this.problem?.line;
		if (line) this.stripe.style.transform = `translateY(${(line - 1) * this.lineHeight - this.area.scrollTop}px)`;
	}

	private goTo(): void {
		const { line, column } = this.problem ?? {};
		if (!line) return;
		const before = this.area.value.split("\n").slice(0, line - 1);
		const at = before.reduce((sum, text) => sum + text.length + 1, 0) + Math.max(0, (column ?? 1) - 1);
		this.area.focus();
		this.area.setSelectionRange(at, at);
		this.area.scrollTop = Math.max(0, (line - 4) * this.lineHeight);
		this.follow();
	}
}
