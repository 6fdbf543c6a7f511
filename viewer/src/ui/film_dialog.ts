// SPDX-License-Identifier: Apache-2.0
/*
 * film_dialog.ts — figures and films of the scene at any size: what is asked for, how far it is, and the file. Frames are drawn
 * one after the other, each at its time (studio.ts): the same choices give the same file, however busy the machine is.
 */
import type { App } from "../app.js";
import { fileName, saveBlob } from "../export.js";
import { FilmEncoder, filmConfig, type FilmFormat } from "../film/encoder.js";
import { frameTimes, stampDigits, Studio, type Picture } from "../studio.js";
import { button, el, setText, uniqueId } from "./dom.js";
import { icon } from "./icons.js";

type Kind = "png" | FilmFormat;
const KINDS: Record<Kind, string> = { png: "Figure (PNG)", mp4: "Film (MP4, H.264)", webm: "Film (WebM, VP9)" };
const MOST_PIXELS = 8192;
const MOST_FRAMES = 36_000;

/** What the form says, checked. */
interface Request {
	kind: Kind;
	picture: Picture;
	times: number[];
	fps: number;
}

export class FilmDialog {
	readonly element: HTMLDialogElement;
	private readonly app: App;
	private readonly kind: HTMLSelectElement;
	private readonly width = this.number("Width [px]");
	private readonly height = this.number("Height [px]");
	private readonly from = this.number("From [s]");
	private readonly to = this.number("To [s]");
	private readonly fps = this.number("Frames per second");
	private readonly speed = this.number("Seconds of the run per second");
	private readonly stamp = this.check("Time in the corner");
	private readonly captions = this.check("Captions");
	private readonly clear = this.check("Without background");
	private readonly status = el("p", { class: "hint", role: "status" });
	private readonly progress = el("progress", { "aria-label": "Frames drawn", max: "1", value: "0" });
	private readonly make: HTMLButtonElement;
	private cancelled = false;
	private busy = false;

	constructor(app: App) {
		this.app = app;
		const id = uniqueId("film");
		this.kind = el(
			"select",
			{ id, onchange: () => this.arrange() },
			...Object.entries(KINDS).map(([value, text]) => el("option", { value }, text)),
		);
		this.make = button("Make", icon("download"), () => void this.run(), { class: "button primary" });
		const title = uniqueId("film-title");
		this.element = el(
			"dialog",
			{ class: "film", "aria-labelledby": title },
			el(
				"header",
				{},
				el("h2", { id: title }, "Figure or film"),
				button("Close", icon("close"), () => this.close(), { iconOnly: true }),
			),
			el("div", { class: "film-row" }, el("label", { for: id }, "Kind"), this.kind),
			...[this.width, this.height, this.from, this.to, this.fps, this.speed].map((n) => n.row),
			el("div", { class: "toggles" }, ...[this.stamp, this.captions, this.clear].map((c) => c.row)),
			this.progress,
			this.status,
			el("div", { class: "film-end" }, this.make),
		);
		this.element.addEventListener("close", () => (this.cancelled = true));
	}

	private number(name: string): { row: HTMLElement; input: HTMLInputElement } {
		const id = uniqueId("film");
		const input = el("input", { type: "number", id, step: "any", min: "0", oninput: () => this.describe() });
		return { row: el("div", { class: "film-row" }, el("label", { for: id }, name), input), input };
	}

	private check(name: string): { row: HTMLElement; input: HTMLInputElement } {
		const input = el("input", { type: "checkbox" });
		return { row: el("label", { class: "toggle" }, input, name), input };
	}

	/** The form with what suits the run. */
	open(): void {
		const { app } = this;
		const { width, height } = app.stage;
		const even = (n: number): string => String(2 * Math.round(n));
		this.width.input.value = even(width);
		this.height.input.value = even(height);
		this.from.input.value = String(app.start);
		this.to.input.value = String(app.end);
		this.fps.input.value ||= "30";
		this.speed.input.value = String(app.rate || 1);
		this.stamp.input.checked = true;
		this.captions.input.checked = (app.replay?.view.steps.length ?? 0) > 0;
		this.element.showModal();
		this.arrange();
	}

	private close(): void {
		this.element.close();
	}

	private get format(): Kind {
		return this.kind.value as Kind;
	}

	/** Fields that do not apply are not shown. */
	private arrange(): void {
		const film = this.format !== "png";
		for (const { row } of [this.from, this.to, this.fps, this.speed]) row.hidden = !film;
		this.clear.row.hidden = film;
		this.progress.hidden = true;
		this.describe();
	}

	private describe(): void {
		try {
			const { kind, times, fps } = this.request();
			const film = `${times.length} frames, ${Number((times.length / fps).toPrecision(3))} s`;
			setText(this.status, kind === "png" ? `At ${times[0]} s, the time shown.` : film);
			this.make.disabled = this.busy;
		} catch (error) {
			setText(this.status, (error as Error).message);
			this.make.disabled = true;
		}
	}

	private request(): Request {
		const { app, format: kind } = this;
		const value = ({ input }: { input: HTMLInputElement }): number =>
			input.value === "" ? NaN : Number(input.value);
		const [width, height, fps, speed] = [this.width, this.height, this.fps, this.speed].map(value) as [
			number,
			number,
			number,
			number,
		];
		const film = kind !== "png";
		const whole = (n: number): boolean => Number.isInteger(n) && n >= 16 && n <= MOST_PIXELS && !(film && n % 2);
		if (!whole(width) || !whole(height))
			throw new Error(`Width and height are ${film ? "even " : ""}numbers from 16 to ${MOST_PIXELS}.`);
		let times = [app.time];
		if (film) {
			const [from, to] = [value(this.from), Math.min(app.end, value(this.to))];
			if (!(from >= app.start && from <= to)) throw new Error(`Times are from ${app.start} s to ${app.end} s.`);
			if (!(fps >= 1 && fps <= 240)) throw new Error("Frames per second are from 1 to 240.");
			if (!(speed > 0)) throw new Error("The speed is a number above zero.");
			if (((to - from) * fps) / speed >= MOST_FRAMES)
				throw new Error(`More than ${MOST_FRAMES} frames: play faster.`);
			times = frameTimes(from, to, speed / fps);
		}
		const stamp = this.stamp.input.checked ? stampDigits(film ? speed / fps : 0.01) : -1;
		const captions = this.captions.input.checked ? (film ? speed : app.rate || 1) : 0;
		const transparent = !film && this.clear.input.checked;
		return { kind, picture: { width, height, transparent, stamp, captions }, times, fps };
	}

	private async run(): Promise<void> {
		const { app } = this;
		const request = this.request();
		const time = app.time;
		app.setPlaying(false);
		this.cancelled = false;
		this.setBusy(true);
		try {
			const blob = await this.draw(request);
			if (blob) {
				saveBlob(blob, fileName(app.replay?.title ?? "", request.kind));
				this.setBusy(false);
				this.close();
			}
		} catch (error) {
			this.setBusy(false);
			setText(this.status, (error as Error).message);
		} finally {
			this.setBusy(false);
			app.seek(time);
		}
	}

	private setBusy(busy: boolean): void {
		this.busy = busy;
		this.make.disabled = busy;
		this.progress.hidden = !busy;
		for (const control of this.element.querySelectorAll<HTMLInputElement | HTMLSelectElement>("input, select"))
			control.disabled = busy;
	}

	/** null: the dialog was closed before the end. */
	private async draw({ kind, picture, times, fps }: Request): Promise<Blob | null> {
		const { width, height } = picture;
		const config = kind === "png" ? null : await filmConfig(kind, { width, height, fps });
		if (kind !== "png" && !config)
			throw new Error(
				`This browser cannot make such a film (${KINDS[kind]}, ${width} × ${height}). Take another kind or size, or \`calder render\`.`,
			);
		const studio = new Studio(this.app, picture);
		const encoder = config && new FilmEncoder(kind as FilmFormat, config);
		try {
			for (const [i, time] of times.entries()) {
				studio.draw(time);
				await encoder?.add(studio.canvas);
				this.progress.value = (i + 1) / times.length;
				setText(this.status, `Frame ${i + 1} of ${times.length}`);
				if (i % 8 === 0) await new Promise((done) => setTimeout(done)); // for the page to be drawn, and for Cancel
				if (this.cancelled) return null;
			}
			return encoder ? await encoder.finish() : await studio.png();
		} finally {
			encoder?.close();
			studio.close();
		}
	}
}
