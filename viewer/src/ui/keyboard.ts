// SPDX-License-Identifier: Apache-2.0
/*
 * keyboard.ts — the keys, each with what it does: the list serves the handler and the help dialog alike. Keys are not
 * taken while the person types, nor arrows and Space from controls that use them.
 */
import type { App } from "../app.js";
import { button, el } from "./dom.js";
import { icon } from "./icons.js";

export interface Key {
	group: "Playing" | "Camera" | "Selection" | "Show" | "Page";
	keys: string[]; // as event.key, letters in lower case; "Shift+…" where it matters
	label: string; // on the keycap
	text: string;
	run(): void;
}

export interface KeyActions {
	search(): void;
	plotSelection(): void;
	trails(): void;
	follow(): void;
	force(): void;
	measure(): void;
	endTools(): void;
	help(): void;
	copyLink(): void;
}

const ORBIT = Math.PI / 36;

export function keyList(app: App, actions: KeyActions): Key[] {
	const body = (): number[] => (app.selectedBody >= 0 ? [app.selectedBody] : []);
	const hidden = (): boolean => app.view?.hidden[app.selectedBody] === 1;
	const orbit = (x: number, y: number) => (): void => {
		app.camera.orbit(x, y);
		app.draw();
	};
	const zoom = (factor: number) => (): void => {
		app.camera.zoom(factor);
		app.draw();
	};
	return [
		{ group: "Playing", keys: [" "], label: "Space", text: "Play or pause", run: () => app.togglePlaying() },
		{ group: "Playing", keys: ["ArrowLeft"], label: "←", text: "One frame back", run: () => app.step(-1) },
		{ group: "Playing", keys: ["ArrowRight"], label: "→", text: "One frame forward", run: () => app.step(1) },
		{ group: "Playing", keys: ["Home"], label: "Home", text: "To the start", run: () => app.seek(app.start) },
		{ group: "Playing", keys: ["End"], label: "End", text: "To the end", run: () => app.seek(app.end) },
		{
			group: "Playing",
			keys: ["PageUp"],
			label: "Page ↑",
			text: "To the event before",
			run: () => app.jumpEvent(-1),
		},
		{
			group: "Playing",
			keys: ["PageDown"],
			label: "Page ↓",
			text: "To the next event",
			run: () => app.jumpEvent(1),
		},
		{ group: "Playing", keys: ["+", "="], label: "+", text: "Play faster", run: () => app.changeRate(1) },
		{ group: "Playing", keys: ["-"], label: "−", text: "Play slower", run: () => app.changeRate(-1) },
		{ group: "Playing", keys: ["l"], label: "L", text: "Repeat", run: () => app.setLoop(!app.loop) },
		{ group: "Camera", keys: ["1"], label: "1", text: "Iso view", run: () => app.preset("iso") },
		{ group: "Camera", keys: ["2"], label: "2", text: "Front view", run: () => app.preset("front") },
		{ group: "Camera", keys: ["3"], label: "3", text: "Top view", run: () => app.preset("top") },
		{ group: "Camera", keys: ["4"], label: "4", text: "Side view", run: () => app.preset("side") },
		{
			group: "Camera",
			keys: ["5"],
			label: "5",
			text: "With or without perspective",
			run: () => app.setOrthographic(!app.stage.camera.orthographic),
		},
		{ group: "Camera", keys: ["f"], label: "F", text: "Fit everything", run: () => app.fit() },
		{ group: "Camera", keys: ["z"], label: "Z", text: "Zoom to the selection", run: () => app.fit(true) },
		{ group: "Camera", keys: ["o"], label: "O", text: "Follow the selected body", run: actions.follow },
		{ group: "Camera", keys: ["a", "Shift+ArrowLeft"], label: "A", text: "Turn left", run: orbit(-ORBIT, 0) },
		{ group: "Camera", keys: ["d", "Shift+ArrowRight"], label: "D", text: "Turn right", run: orbit(ORBIT, 0) },
		{ group: "Camera", keys: ["w", "Shift+ArrowUp"], label: "W", text: "Turn up", run: orbit(0, ORBIT) },
		{ group: "Camera", keys: ["s", "Shift+ArrowDown"], label: "S", text: "Turn down", run: orbit(0, -ORBIT) },
		{ group: "Camera", keys: ["q"], label: "Q", text: "Nearer", run: zoom(1 / 1.15) },
		{ group: "Camera", keys: ["e"], label: "E", text: "Farther", run: zoom(1.15) },
		{ group: "Selection", keys: ["/"], label: "/", text: "Search the scene", run: actions.search },
		{
			group: "Selection",
			keys: ["h"],
			label: "H",
			text: "Hide or show the selected body",
			run: () => app.setHidden(body(), !hidden()),
		},
		{
			group: "Selection",
			keys: ["i"],
			label: "I",
			text: "Show only the selected body",
			run: () => app.selectedBody >= 0 && app.isolate(body()),
		},
		{ group: "Selection", keys: ["u"], label: "U", text: "Show all bodies", run: () => app.showAll() },
		{
			group: "Selection",
			keys: ["p"],
			label: "P",
			text: "Plot the selection's signals",
			run: actions.plotSelection,
		},
		{
			group: "Selection",
			keys: ["Escape"],
			label: "Esc",
			text: "Select nothing; end measuring and the mode shape",
			run: () => {
				actions.endTools();
				app.showMode(-1, -1);
				app.select(null);
			},
		},
		{
			group: "Show",
			keys: ["j"],
			label: "J",
			text: "Joint frames",
			run: () => app.set("jointFrames", !app.settings.jointFrames),
		},
		{
			group: "Show",
			keys: ["n"],
			label: "N",
			text: "Node frames",
			run: () => app.set("nodeFrames", !app.settings.nodeFrames),
		},
		{
			group: "Show",
			keys: ["y"],
			label: "Y",
			text: "Names of bodies and joints",
			run: () => {
				const { bodyNames } = app.settings;
				app.settings.jointNames = !bodyNames;
				app.set("bodyNames", !bodyNames);
			},
		},
		{ group: "Show", keys: ["v"], label: "V", text: "Measure distances and angles", run: actions.measure },
		{ group: "Show", keys: ["t"], label: "T", text: "Trails", run: actions.trails },
		{ group: "Show", keys: ["r"], label: "R", text: "Arrows", run: () => app.set("arrows", !app.settings.arrows) },
		{ group: "Show", keys: ["k"], label: "K", text: "Grid", run: () => app.set("grid", !app.settings.grid) },
		{
			group: "Show",
			keys: ["g"],
			label: "G",
			text: "Other runs",
			run: () => app.set("ghost", !app.settings.ghost),
		},
		{ group: "Page", keys: ["c"], label: "C", text: "Copy a link to this moment", run: actions.copyLink },
		{ group: "Page", keys: ["x"], label: "X", text: "Push bodies by dragging (live)", run: actions.force },
		{ group: "Page", keys: ["m"], label: "M", text: "Light or dark", run: () => app.theme.toggle() },
		{ group: "Page", keys: ["b"], label: "B", text: "Large text", run: () => app.theme.toggleLarge() },
		{ group: "Page", keys: ["?"], label: "?", text: "This list", run: actions.help },
	];
}

function isTyping(target: EventTarget | null): boolean {
	if (!(target instanceof HTMLElement)) return false;
	return (
		target instanceof HTMLSelectElement ||
		(target instanceof HTMLInputElement && target.type !== "range" && target.type !== "checkbox")
	);
}

/** Whether the control with the focus needs the key itself. */
function isUsedBy(target: EventTarget | null, key: string): boolean {
	if (target instanceof HTMLInputElement && target.type === "range" && target.id !== "time-slider")
		return /^(Arrow|Page|Home|End)/.test(key);
	if (key !== " " && key !== "Enter") return false;
	return (
		target instanceof HTMLButtonElement ||
		target instanceof HTMLInputElement ||
		(target instanceof HTMLElement && target.tagName === "SUMMARY")
	);
}

export function listenToKeys(keys: Key[]): void {
	const table = new Map(keys.flatMap((key) => key.keys.map((name) => [name, key] as const)));
	document.addEventListener("keydown", (event) => {
		if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
		if (document.querySelector("dialog[open]")) return;
		if (isTyping(event.target)) {
			if (event.key === "Escape") (event.target as HTMLElement).blur();
			return;
		}
		if (isUsedBy(event.target, event.key) && !(event.target as HTMLElement).classList.contains("play")) return;
		const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
		const key = (event.shiftKey && table.get(`Shift+${name}`)) || table.get(name);
		if (!key) return;
		event.preventDefault();
		key.run();
	});
}

export function helpDialog(keys: Key[], version: string): HTMLDialogElement {
	const groups = [...new Set(keys.map((k) => k.group))].map((group) =>
		el(
			"section",
			{ class: "key-group" },
			el("h3", {}, group),
			el(
				"dl",
				{},
				...keys
					.filter((k) => k.group === group)
					.flatMap((k) => [el("dt", {}, el("kbd", {}, k.label)), el("dd", {}, k.text)]),
			),
		),
	);
	const dialog = el(
		"dialog",
		{ "aria-labelledby": "help-title" },
		el(
			"header",
			{},
			el("h2", { id: "help-title" }, "Keys"),
			button("Close", icon("close"), () => dialog.close(), { iconOnly: true }),
		),
		el("div", { class: "key-columns" }, ...groups),
		el(
			"p",
			{ class: "hint" },
			"Mouse: drag to turn, right button or Shift to move, wheel to zoom, click to select, double click to zoom ",
			"to the selection. In a plot: click to set the time, drag to zoom, double click to show all. ",
			"In the tree: arrows move, Enter selects, H hides, I isolates.",
		),
		el("p", { class: "hint" }, version),
	);
	return dialog;
}
