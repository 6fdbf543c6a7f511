// SPDX-License-Identifier: Apache-2.0
/*
 * header.ts — title, badges and the actions that concern the whole page. A badge says in words and with a sign, not
 * only by its color, whether its number is within the limit.
 */
import type { App } from "../app.js";
import type { Badge } from "../data/replay.js";
import { valueAt } from "../data/sample.js";
import { button, el, formatNumber, setAttribute, setText, withUnit } from "./dom.js";
import { icon, logo } from "./icons.js";
import { openMenu, type MenuItem } from "./menu.js";
import type { PlotDock } from "./plots.js";

export interface HeaderActions {
	exportItems(): MenuItem[];
	compareItems(): MenuItem[];
	copyLink(): void;
	help(): void;
	sheets: HTMLElement[]; // buttons of panels that a narrow screen has no room for
}

class BadgeView {
	readonly element: HTMLElement;
	private readonly badge: Badge;
	private readonly value = el("span", { class: "value" });
	private readonly sign = el("span");
	private readonly worst: number;
	private state = "";
	private verdict = "";

	constructor(badge: Badge, show: () => void) {
		this.badge = badge;
		this.worst = largest(badge.signal.values.data.subarray(0, badge.signal.values.count));
		this.element = el(
			"button",
			{ type: "button", class: "badge", onclick: show },
			this.sign,
			el("span", { class: "label" }, badge.label),
			" ", // between words for those who hear them
			this.value,
		);
	}

	update(time: number): void {
		const { signal, good, label, text } = this.badge;
		const value = valueAt(signal.t, signal.values, time);
		const state = Math.abs(value) <= good || Number.isNaN(value) ? "good" : "bad";
		const shown = withUnit(Math.abs(value), signal.unit);
		setText(this.value, shown);
		setAttribute(this.element, "aria-label", `${label} ${shown}: ${this.verdict}`);
		if (state === this.state) return;
		this.state = state;
		this.element.dataset.state = state;
		this.sign.replaceChildren(icon(state === "good" ? "check" : "warn"));
		const limit = Number.isFinite(good)
			? `${state === "good" ? "within" : "above"} the limit ${withUnit(good, signal.unit)}`
			: "no limit set";
		const worst = this.worst > 0 ? `; largest of the run ${formatNumber(this.worst)}` : "";
		this.verdict = `${limit}${worst}. ${text}`.trim();
		setAttribute(this.element, "title", `${label}: ${this.verdict}`);
		setAttribute(this.element, "aria-label", `${label} ${shown}: ${this.verdict}`);
	}
}

function largest(values: ArrayLike<number>): number {
	let most = 0;
	for (let i = 0; i < values.length; i++) if (Math.abs(values[i]!) > most) most = Math.abs(values[i]!);
	return most;
}

export class Header {
	readonly element: HTMLElement;
	private readonly app: App;
	private readonly title = el("h1", {}, "Calder viewer");
	private readonly subtitle = el("p");
	private readonly badges = el("div", { class: "badges", role: "group", "aria-label": "Checks" });
	private views: BadgeView[] = [];
	private updated = 0;

	constructor(app: App, plots: PlotDock, actions: HeaderActions) {
		this.app = app;
		const plain = { iconOnly: true };
		const theme = button("Light or dark", icon("moon"), () => app.theme.toggle(), {
			...plain,
			title: "Light or dark (M)",
		});
		const large = button("Large text", icon("text"), () => app.theme.toggleLarge(), {
			...plain,
			title: "Large text, for a projector (B)",
			"aria-pressed": "false",
		});
		const shown = (): void => {
			theme.replaceChildren(icon(app.theme.theme === "dark" ? "sun" : "moon"));
			setAttribute(large, "aria-pressed", String(app.theme.large));
		};
		const menuButton = (label: string, name: "download" | "ghost", items: () => MenuItem[]): HTMLElement => {
			const made: HTMLButtonElement = button(label, icon(name), () => openMenu(made, items()), {
				"aria-haspopup": "menu",
			});
			return made;
		};
		this.element = el(
			"header",
			{ class: "header" },
			logo(),
			el("div", { class: "titles" }, this.title, this.subtitle),
			this.badges,
			el(
				"div",
				{ class: "actions" },
				...actions.sheets,
				menuButton("Compare", "ghost", actions.compareItems),
				menuButton("Export", "download", actions.exportItems),
				button("Copy link", icon("link"), actions.copyLink, {
					...plain,
					title: "Copy a link to this moment (C)",
				}),
				large,
				theme,
				button("Help", icon("help"), actions.help, { ...plain, title: "Keys and help (?)" }),
			),
		);
		app.on("theme", shown);
		shown();
		app.on("replay", () => this.reset(plots));
		app.on("time", () => this.onTime());
		app.on("ghost", () => this.describe());
	}

	private describe(): void {
		const { replay, view } = this.app;
		if (!replay) return;
		setText(this.title, replay.title);
		const parts = [
			replay.modelName.split(/[/\\]/).at(-1)!,
			replay.created.slice(0, 16).replace("T", " "),
			view?.ghost ? `compared with ${view.ghosts.list.map((g) => g.replay.title).join(", ")}` : "",
		];
		setAttribute(this.subtitle, "title", replay.modelName);
		setText(this.subtitle, parts.filter((p) => p !== "").join("  ·  "));
		document.title = `${replay.title} – Calder`;
	}

	private reset(plots: PlotDock): void {
		this.describe();
		this.views = (this.app.replay?.badges ?? []).map(
			(badge) => new BadgeView(badge, () => plots.toggle(badge.signal)),
		);
		this.badges.replaceChildren(...this.views.map((v) => v.element));
		this.updated = 0;
		this.onTime();
	}

	/** Ten times a second is as fast as a person reads. */
	private onTime(): void {
		const now = performance.now();
		if (this.app.playing && now - this.updated < 100) return;
		this.updated = now;
		for (let i = 0; i < this.views.length; i++) this.views[i]!.update(this.app.time);
	}
}
