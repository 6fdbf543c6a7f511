// SPDX-License-Identifier: Apache-2.0
/*
 * page.ts — puts the page together. What it shows is up to who opens it: a replay or a simulation at a server (main.ts), or
 * one that runs in the page (playground/).
 */
import "uplot/dist/uPlot.min.css";
import "./style.css";
import { App } from "./app.js";
import { decodeCampaign, isCampaign } from "./data/campaign.js";
import { decodeReplay } from "./data/decode.js";
import { embeddedText } from "./data/embedded.js";
import type { Replay } from "./data/replay.js";
import { fileName, saveBlob, scenePng } from "./export.js";
import { askForFile, onDrop, readReplay } from "./files.js";
import { applyHash, makeHash } from "./link.js";
import { LiveLink, type LiveSocket } from "./live.js";
import { signalsOf } from "./selection.js";
import { renderForServer, renderRequest } from "./studio.js";
import { CampaignPanel } from "./ui/campaign_panel.js";
import { button, el, setText } from "./ui/dom.js";
import { embedBar } from "./ui/embed.js";
import { FilmDialog } from "./ui/film_dialog.js";
import { Header } from "./ui/header.js";
import { icon, logo } from "./ui/icons.js";
import { Inspector } from "./ui/inspector.js";
import { helpDialog, keyList, listenToKeys } from "./ui/keyboard.js";
import { measurePanel, sectionPanel } from "./ui/measure_panel.js";
import type { MenuItem } from "./ui/menu.js";
import { momentsPanel, parametersPanel } from "./ui/lab_panel.js";
import { livePanel } from "./ui/live_panel.js";
import { arrowPanel, displayPanel, flexiblePanel, ModesPanel } from "./ui/panels.js";
import { PlotDock } from "./ui/plots.js";
import { SignalList } from "./ui/signals.js";
import { Sheets } from "./ui/sheets.js";
import { Timeline } from "./ui/timeline.js";
import { Tree } from "./ui/tree.js";
import { Viewport } from "./ui/viewport.js";

const VERSION = "Calder viewer, replay format 1";

function makeApp(): App {
	try {
		return new App(canvas);
	} catch (error) {
		document.body.append(
			el("p", {}, "This browser cannot draw the scene: it has no WebGL 2, or it is switched off."),
		);
		throw error;
	}
}

/* ---- parts of the page --------------------------------------------------------------------- */

const canvas = el("canvas", {
	class: "view",
	tabindex: "0",
	role: "img",
	"aria-label": "The scene. Keys W, A, S, D turn it, Q and E zoom.",
});
export const app = makeApp();
const plots = new PlotDock(app);
export const viewport = new Viewport(app, canvas);
const tree = new Tree(app);
const signals = new SignalList(app, plots);
const timeline = new Timeline(app);
const inspector = new Inspector(app, plots, () => viewport.toggleFollow());
const sheets = new Sheets();
const left = el("nav", { class: "side left", "aria-label": "Scene and signals" });
const right = el("aside", { class: "side right", "aria-label": "Properties" });
const header = new Header(app, plots, {
	exportItems,
	compareItems,
	copyLink,
	help: () => help.showModal(),
	sheets: [
		sheets.add(left, "side-left", "Scene and signals", "panel"),
		sheets.add(right, "side-right", "Properties", "sliders"),
	],
});
const keys = keyList(app, {
	search: () => {
		showTab(0);
		tree.focusSearch();
	},
	plotSelection,
	trails: () => viewport.toggleTrails(),
	follow: () => viewport.toggleFollow(),
	measure: () => viewport.setMeasuring(!viewport.measure.armed),
	endTools: () => {
		viewport.setMeasuring(false);
		sheets.close();
	},
	force: () => viewport.setForceTool(!viewport.drag.armed),
	help: () => help.showModal(),
	copyLink,
});
const help = helpDialog(keys, VERSION);
const films = new FilmDialog(app);
const pages: HTMLElement[] = [];
const tabs: HTMLButtonElement[] = [];
const startTitle = el("h2");
const startText = el("p");
const startButton = button("Open a replay…", icon("file"), () => void openFile(), { class: "button primary" });
const start = el("div", { class: "start" }, logo(), startTitle, startText, startButton);

/** One more page of the list on the left. */
export function addTab(name: string, page: HTMLElement): void {
	const i = tabs.length;
	tabs.push(
		el(
			"button",
			{ type: "button", role: "tab", id: `tab-${i}`, "aria-controls": `page-${i}`, onclick: () => showTab(i) },
			name,
		),
	);
	page.id = `page-${i}`;
	page.setAttribute("role", "tabpanel");
	page.setAttribute("aria-labelledby", `tab-${i}`);
	page.style.cssText = "display:flex;flex-direction:column;flex:1;min-height:0";
	pages.push(page);
}

export function showTab(active: number): void {
	tabs.forEach((tab, i) => {
		tab.setAttribute("aria-selected", String(i === active));
		tab.tabIndex = i === active ? 0 : -1;
		pages[i]!.hidden = i !== active;
	});
}

function build(): void {
	const tablist = el("div", { class: "tabs", role: "tablist", "aria-label": "Lists" }, ...tabs);
	tablist.addEventListener("keydown", (event) => {
		if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
		const now = tabs.findIndex((tab) => tab.getAttribute("aria-selected") === "true");
		const other = (now + (event.key === "ArrowRight" ? 1 : tabs.length - 1)) % tabs.length;
		showTab(other);
		tabs[other]!.focus();
		event.preventDefault();
		event.stopPropagation();
	});
	left.append(tablist, ...pages);
	right.append(
		inspector.element,
		livePanel(app, viewport),
		momentsPanel(app),
		parametersPanel(app),
		measurePanel(app, viewport.measure, plots),
		displayPanel(app),
		sectionPanel(app),
		arrowPanel(app),
		flexiblePanel(app),
		new ModesPanel(app).element,
	);
	viewport.element.append(start, embedBar(app));
	document.body.append(
		el("div", { class: "app" }, header.element, left, viewport.element, right, plots.element, timeline.element),
		help,
		films.element,
	);
	showTab(tabs.length > 2 ? 2 : 0);
	app.resize(viewport.element.clientWidth, viewport.element.clientHeight);
	listenToKeys(keys);
}

/* ---- actions ------------------------------------------------------------------------------- */

function plotSelection(): void {
	if (app.replay && app.selection) plots.show(signalsOf(app.replay, app.selection));
	else viewport.message("Select a joint, node or body to plot");
}

export function report(error: unknown): void {
	viewport.message(error instanceof Error ? error.message : String(error));
}

/** Adds to links what is needed to show the same; nothing: the page has it. */
let more: () => Promise<string> = async () => "";

async function copyLink(): Promise<void> {
	const hash = makeHash(app, plots) + (await more());
	try {
		history.replaceState(null, "", hash);
		await navigator.clipboard.writeText(location.href);
		viewport.message("Link copied");
	} catch {
		viewport.message("The link is in the address bar");
	}
}

function exportItems(): MenuItem[] {
	const title = app.replay?.title ?? "";
	return [
		{
			label: "Picture of the scene (PNG)",
			icon: "camera",
			run: () => void scenePng(app).then((blob) => saveBlob(blob, fileName(title, "png")), report),
		},
		{
			label: "Figure or film: size, times, background…",
			icon: "video",
			disabled: app.live !== null || !app.replay,
			run: () => films.open(),
		},
		{ label: "Open another replay…", icon: "file", run: () => void openFile() },
	];
}

function compareItems(): MenuItem[] {
	const second = app.view?.ghost;
	const others = (app.view?.ghosts.list.length ?? 0) > 1 ? "the other runs" : "the second run";
	const items: MenuItem[] = [{ label: "Compare with another replay…", icon: "file", run: () => void openGhost() }];
	if (second) {
		items.push({
			label: `${app.settings.ghost ? "Hide" : "Show"} ${others}`,
			icon: app.settings.ghost ? "eyeOff" : "eye",
			run: () => app.set("ghost", !app.settings.ghost),
		});
		items.push({ label: `Remove ${others}`, icon: "close", run: () => app.setGhost(null) });
	}
	return items;
}

async function openGhost(): Promise<void> {
	const file = await askForFile();
	if (file) await readReplay(file).then((replay) => app.setGhost(replay), report);
}

async function openFile(): Promise<void> {
	const file = await askForFile();
	if (file) await readReplay(file).then(open, report);
}

/* ---- what is shown ------------------------------------------------------------------------- */

function open(replay: Replay): void {
	start.hidden = true;
	app.open(replay);
	applyHash(app, plots, location.hash);
}

/** A campaign: its first case that can be replayed, with all of them below the scene. */
function openCampaign(document: unknown): void {
	const campaign = decodeCampaign(document);
	const panel = new CampaignPanel(app, campaign, ({ replay }) =>
		open(decodeReplay({ ...(replay as object), model_name: campaign.model }, false)),
	);
	plots.pin(panel.element);
	const first = campaign.cases.find((c) => c.replay !== undefined);
	if (first) panel.choose(first.number);
	else showStart(campaign.title, "This campaign has no replays: write the page with --case.", false);
}

/** A run or a campaign. */
function show(document: unknown): void {
	if (isCampaign(document)) openCampaign(document);
	else open(decodeReplay(document, false));
}

export function showStart(title: string, text: string, ask: boolean): void {
	setText(startTitle, title);
	setText(startText, text);
	startButton.hidden = !ask;
	start.hidden = false;
}

/** Shows a live run. What was shown before is let go. */
export function connect(socket: () => LiveSocket): void {
	let first = true;
	app.live?.close();
	app.live = new LiveLink(socket, {
		opened: (replay) => {
			start.hidden = true;
			app.open(replay, !first);
			if (first) applyHash(app, plots, location.hash);
			first = false;
			app.emit("live");
		},
		grown: () => app.grown(),
		events: () => timeline.makeMarks(),
		changed: () => app.liveChanged(),
		message: (text) => viewport.message(text),
	});
}

function connectToServer(): void {
	showStart("Connecting…", "Waiting for the simulation.", false);
	const url = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/live`;
	connect(() => new WebSocket(url));
}

/** The document in the page, else a simulation at the server that the page came from, else a file. */
export function begin(): void {
	applyHash(app, plots, location.hash); // before the scene has its size
	const text = embeddedText(document);
	const request = text === null ? null : renderRequest(location.hash);
	if (text !== null && request) {
		void renderForServer(app, request, () => show(JSON.parse(text)));
	} else if (text !== null) {
		try {
			show(JSON.parse(text));
		} catch (error) {
			showStart("This replay cannot be read", (error as Error).message, true);
		}
	} else if (location.protocol.startsWith("http")) connectToServer();
	else showStart("Calder viewer", "Open a replay that `calder view` wrote, or drop it here.", true);
}

/** The address follows while nothing moves; the browser allows few changes per second. */
function keepAddress(): void {
	let last = "";
	window.setInterval(() => {
		if (app.playing || app.live || !app.replay) return;
		const hash = makeHash(app, plots);
		if (hash === last) return;
		last = hash;
		try {
			history.replaceState(null, "", hash);
		} catch {
			// Some browsers do not allow it for files.
		}
	}, 700);
	window.addEventListener("hashchange", () => applyHash(app, plots, location.hash));
}

/** drop: takes files that are dropped on the page; link: what a link needs besides the address of the view. */
export function openPage(options: {
	begin: () => void;
	drop?: (files: File[]) => void;
	link?: () => Promise<string>;
}): void {
	more = options.link ?? more;
	build();
	options.begin();
	keepAddress();
	onDrop(options.drop ?? dropReplay);
}

function dropReplay([file]: File[]): void {
	if (file)
		void readReplay(file).then((replay) => (app.replay && !app.live ? app.setGhost(replay) : open(replay)), report);
}

addTab("Scene", tree.element);
addTab("Signals", signals.element);

// For scripts and tests: the same object that the interface works with.
(window as unknown as { calder: App }).calder = app;
