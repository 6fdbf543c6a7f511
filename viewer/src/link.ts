// SPDX-License-Identifier: Apache-2.0
/*
 * link.ts — the address says what is shown (docs/replay.md, "Addresses"): read when a run opens and when the address
 * changes, written into links that the person copies, and kept in the address bar while nothing moves.
 */
import type { App } from "./app.js";
import { PRESETS, type Preset } from "./scene/camera.js";
import type { Bounds } from "./scene/framing.js";
import { findSelection, selectionName } from "./selection.js";
import type { PlotDock } from "./ui/plots.js";

export function parseHash(hash: string): Map<string, string> {
	const values = new Map<string, string>();
	for (const part of hash.replace(/^#/, "").split("&")) {
		const equals = part.indexOf("=");
		if (equals > 0) values.set(part.slice(0, equals), part.slice(equals + 1));
		else if (part === "embed") values.set(part, "1");
	}
	return values;
}

export const plain = (text: string): string => {
	try {
		return decodeURIComponent(text);
	} catch {
		return text;
	}
};

// Commas and semicolons separate names, so they are escaped within them.
const safe = (text: string): string =>
	encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16)}`);

/** Named views show what is within the bounds, or all that is drawn now. false: there is no such view. */
export function applyCamera(app: App, text: string, bounds: Bounds = app.view!.bounds()): boolean {
	if (PRESETS.includes(text as Preset)) {
		app.camera.preset(text as Preset, bounds, true);
		return true;
	}
	app.camera.automatic = false;
	const named = app.replay!.view.cameras.find((c) => c.name === text);
	if (named) {
		app.useCamera(named, true);
		return true;
	}
	const numbers = text.split(",").map(Number);
	const placed = numbers.length === 6 && numbers.every(Number.isFinite);
	if (placed) app.camera.place(numbers);
	return placed;
}

/** The page is part of another one: scene, play button and title only. */
export const isEmbedded = (): boolean => document.documentElement.dataset.embed === "true";

export function applyHash(app: App, plots: PlotDock, hash: string): void {
	const { replay } = app;
	const values = parseHash(hash);
	document.documentElement.dataset.embed = String(values.get("embed") === "1");
	if (!replay) return;
	const get = (key: string): string | null => (values.has(key) ? plain(values.get(key)!) : null);
	const finite = (key: string): number | null =>
		values.has(key) && Number.isFinite(Number(get(key))) ? Number(get(key)) : null;
	const t = finite("t"),
		rate = finite("rate"),
		exaggeration = finite("exaggeration");
	const theme = get("theme"),
		selected = get("sel"),
		follow = get("follow"),
		hide = values.get("hide"),
		plot = values.get("plot");
	if (theme === "light" || theme === "dark") app.theme.choose(theme);
	if (t !== null) app.seek(t);
	if (rate !== null && rate > 0) app.setRate(rate);
	if (exaggeration !== null && exaggeration > 0) app.setExaggeration(exaggeration);
	if (hide !== undefined) {
		const names = new Set(hide.split(",").map(plain));
		app.setHidden(
			replay.bodies.filter((b) => names.has(b.name)).map((b) => b.index),
			true,
		);
	}
	if (selected !== null) app.select(findSelection(replay, selected));
	if (get("trails") === "1") app.set("trails", "all");
	if (get("ortho") !== null) app.setOrthographic(get("ortho") === "1");
	if (t !== null) app.view!.update(app.time);
	if (values.has("cam")) applyCamera(app, get("cam")!);
	if (follow !== null) app.follow(replay.bodies.findIndex((b) => b.name === follow));
	if (plot !== undefined) applyPlots(app, plots, plot);
	else if (plots.names().length === 0) showPlots(app, plots, replay.view.plots);
	if (get("play") === "1") app.setPlaying(true);
}

function applyPlots(app: App, plots: PlotDock, text: string): void {
	showPlots(
		app,
		plots,
		text.split(";").map((group) => group.split(",").map(plain)),
	);
}

function showPlots(app: App, plots: PlotDock, groups: string[][]): void {
	for (const names of groups) {
		const signals = names.map((n) => app.replay!.signals.find((s) => s.name === n)).filter((s) => s !== undefined);
		const fresh = signals.filter((s) => !plots.colorOf(s));
		if (fresh.length) plots.addPlot(fresh);
	}
}

/** What is shown now. */
export function makeHash(app: App, plots: PlotDock): string {
	const { replay, view, selection, camera } = app;
	if (!replay || !view) return "";
	const parts = [...(isEmbedded() ? ["embed"] : []), `t=${Number(app.time.toFixed(6))}`];
	if (selection) parts.push(`sel=${selection.kind}:${safe(selectionName(replay, selection))}`);
	const numbers = camera.numbers().map((v) => Number(v.toPrecision(5)));
	if (!camera.automatic) parts.push(`cam=${numbers.join(",")}`);
	if (camera.following >= 0 && !camera.automatic) parts.push(`follow=${safe(replay.bodies[camera.following]!.name)}`);
	const names = plots.names();
	if (names.length) parts.push(`plot=${names.map((group) => group.map(safe).join(",")).join(";")}`);
	const hidden = replay.bodies.filter((b) => view.hidden[b.index]).map((b) => safe(b.name));
	if (hidden.length) parts.push(`hide=${hidden.join(",")}`);
	if (app.rate !== 1) parts.push(`rate=${app.rate}`);
	if (view.flexible.exaggeration !== 1)
		parts.push(`exaggeration=${Number(view.flexible.exaggeration.toPrecision(3))}`);
	if (app.settings.trails === "all") parts.push("trails=1");
	if (app.stage.camera.orthographic) parts.push("ortho=1");
	return `#${parts.join("&")}`;
}
