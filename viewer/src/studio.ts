// SPDX-License-Identifier: Apache-2.0
/*
 * studio.ts — pictures of the scene at any size and time: for files, films and `calder render`. A frame is drawn when it is
 * asked for, at the time that is asked for: what comes out does not depend on how fast the machine is.
 */
import type { App } from "./app.js";
import { applyCamera, parseHash, plain } from "./link.js";
import type { Insets } from "./scene/stage.js";

export interface Picture {
	width: number; // [px]
	height: number;
	transparent: boolean; // no background
	stamp: number; // digits after the point of the time in the corner; -1: none
	captions: number; // those of the story and of events, as played at this rate; 0: none
}

/** Words in lines that are not wider than `most` [px]. */
function linesOf(context: CanvasRenderingContext2D, text: string, most: number): string[] {
	const lines: string[] = [];
	for (const word of text.split(/\s+/)) {
		const longer = lines.length ? `${lines.at(-1)} ${word}` : word;
		if (lines.length && context.measureText(longer).width <= most) lines[lines.length - 1] = longer;
		else lines.push(word);
	}
	return lines;
}

/** Holds the scene at the size of the picture until it is closed. */
export class Studio {
	readonly canvas = document.createElement("canvas");
	private readonly app: App;
	private readonly picture: Picture;
	private readonly before: { ratio: number; width: number; height: number; insets: Insets };
	private readonly context: CanvasRenderingContext2D;

	constructor(app: App, picture: Picture) {
		const { renderer, width, height, insets } = app.stage;
		const most = renderer.capabilities.maxTextureSize;
		if (Math.max(picture.width, picture.height) > most)
			throw new Error(`this browser draws at most ${most} pixels`);
		this.app = app;
		this.picture = picture;
		this.before = { ratio: renderer.getPixelRatio(), width, height, insets };
		this.canvas.width = picture.width;
		this.canvas.height = picture.height;
		const context = this.canvas.getContext("2d");
		if (!context) throw new Error("the browser could not make a picture");
		this.context = context;
		renderer.setPixelRatio(1);
		app.stage.insets = { top: 0, bottom: 0 }; // there are no toolbars in a picture
		app.stage.resize(picture.width, picture.height);
		app.sizeHeld = true;
	}

	/** The scene at a time, in `canvas`. */
	draw(time: number): void {
		const { app, context, picture } = this;
		const { stage } = app;
		const { background } = stage.scene;
		if (picture.transparent) {
			stage.scene.background = null;
			stage.renderer.setClearAlpha(0);
		}
		app.drawAt(time);
		context.clearRect(0, 0, picture.width, picture.height);
		context.drawImage(stage.renderer.domElement, 0, 0, picture.width, picture.height);
		if (picture.transparent) {
			stage.scene.background = background;
			stage.renderer.setClearAlpha(1);
		}
		const caption = picture.captions > 0 ? app.story.caption(picture.captions) : null;
		if (caption) this.say(caption.name ? `${caption.name}: ${caption.text}` : caption.text);
		if (picture.stamp >= 0) this.stamp(`t = ${app.time.toFixed(picture.stamp)} s`);
	}

	private get light(): boolean {
		return document.documentElement.dataset.theme !== "dark";
	}

	private get textSize(): number {
		return Math.max(11, Math.round(this.picture.height / 32));
	}

	/** Below the scene, in the middle: above the time, which is in the corner. */
	private say(text: string): void {
		const { context, picture, textSize: size } = this;
		context.save();
		context.font = `500 ${size}px system-ui, "DejaVu Sans", sans-serif`;
		const lines = linesOf(context, text, 0.76 * picture.width);
		const width = Math.max(...lines.map((line) => context.measureText(line).width)) + 1.6 * size;
		const height = (1.35 * lines.length + 0.7) * size;
		const [left, top] = [
			(picture.width - width) / 2,
			picture.height - height - (picture.stamp >= 0 ? 2.6 : 0.9) * size,
		];
		context.fillStyle = this.light ? "#ffffffe6" : "#141920e6";
		context.beginPath();
		context.roundRect(left, top, width, height, 0.5 * size);
		context.fill();
		context.fillStyle = this.light ? "#171c24" : "#e9edf3";
		context.textAlign = "center";
		lines.forEach((line, i) => context.fillText(line, picture.width / 2, top + (1.35 * i + 1.35) * size));
		context.restore();
	}

	/** Readable on any background: dark with a light edge, or the other way round. */
	private stamp(text: string): void {
		const { context, picture } = this;
		const { light, textSize: size } = this;
		context.font = `600 ${size}px ui-monospace, "DejaVu Sans Mono", monospace`;
		context.lineJoin = "round";
		context.lineWidth = size / 5;
		context.strokeStyle = light ? "#ffffffd0" : "#10141cd0";
		context.fillStyle = light ? "#1b2230" : "#eef2f8";
		context.strokeText(text, size, picture.height - size);
		context.fillText(text, size, picture.height - size);
	}

	async png(): Promise<Blob> {
		const blob = await new Promise<Blob | null>((done) => this.canvas.toBlob(done, "image/png"));
		if (!blob) throw new Error("the browser could not make a picture");
		return blob;
	}

	close(): void {
		const { renderer } = this.app.stage;
		this.app.sizeHeld = false;
		this.app.stage.insets = this.before.insets;
		renderer.setPixelRatio(this.before.ratio);
		this.app.resize(this.before.width, this.before.height);
	}
}

/** Digits after the point that distinguish times so far from each other. */
export function stampDigits(step: number): number {
	return Math.min(6, Math.max(0, Math.ceil(-Math.log10(step) - 1e-9) + (step < 1 ? 1 : 0)));
}

/** The times of the frames of a film: every `step` from the first, as far as the last. */
export function frameTimes(from: number, to: number, step: number): number[] {
	const count = Math.max(0, Math.floor((to - from) / step + 1e-6)) + 1;
	return Array.from({ length: count }, (_, i) => from + i * step);
}

/* ---- for `calder render` ------------------------------------------------------------------- */

/** What the address asks to be rendered (docs/replay.md, "Addresses"); null: nothing. */
export function renderRequest(hash: string): Map<string, string> | null {
	const values = parseHash(hash);
	return values.has("render") ? values : null;
}

/** The view that the address names, or a word about what is not there. */
function checkView(app: App, values: Map<string, string>): void {
	const camera = values.get("cam");
	const follow = values.get("follow");
	if (camera !== undefined && !applyCamera(app, plain(camera), app.view!.firstLook(app.start, app.end).bounds))
		throw new Error(`there is no camera "${plain(camera)}"`);
	if (follow !== undefined && app.camera.following < 0) throw new Error(`there is no body "${plain(follow)}"`);
}

/** When a picture shows most: as the view settings say, else in the middle of their story, else at two fifths of the run. */
function tellingTime(app: App): number {
	const { start, steps } = app.replay!.view;
	return start || (steps[steps.length >> 1]?.t ?? app.start + 0.4 * (app.end - app.start));
}

function timesOf(app: App, values: Map<string, string>, step: number): number[] {
	const numberOf = (key: string, fallback: number): number => (values.has(key) ? Number(values.get(key)) : fallback);
	const from = numberOf("from", step > 0 ? app.start : tellingTime(app));
	const to = Math.min(app.end, numberOf("to", app.end));
	if (!(from >= app.start && from <= app.end))
		throw new Error(`there is nothing at ${from} s: the run is from ${app.start} s to ${app.end} s`);
	return step > 0 ? frameTimes(from, to, step) : [from];
}

/** Opens the run at the size of the pictures, and posts frame after frame, then the end; or why there is none. */
export async function renderForServer(app: App, values: Map<string, string>, open: () => void): Promise<void> {
	const post = async (name: string, body: Blob | string): Promise<void> => {
		const answer = await fetch(`/upload/${values.get("render")}/${name}`, { method: "POST", body });
		if (!answer.ok) throw new Error(`${name} was not taken`);
	};
	try {
		const [width = 1280, height = 720] = (values.get("size") ?? "").split("x").map(Number);
		const step = values.has("fps") ? Number(values.get("speed") ?? 1) / Number(values.get("fps")) : 0;
		const stamp = values.get("stamp") === "1" ? stampDigits(step || 0.01) : -1;
		const captions = values.get("captions") === "1" ? Number(values.get("speed") ?? 1) : 0;
		const transparent = values.get("transparent") === "1";
		const studio = new Studio(app, { width, height, transparent, stamp, captions });
		open();
		checkView(app, values);
		for (const [i, time] of timesOf(app, values, step).entries()) {
			studio.draw(time);
			await post(`frame-${i}`, await studio.png());
		}
		await post("end", "");
	} catch (error) {
		await post("error", `cannot be rendered: ${(error as Error).message}`).catch(() => {});
	}
}
