// SPDX-License-Identifier: Apache-2.0
/*
 * timeline.ts — transport buttons, clock, slider with the marks of events, play rate; of a live run the state of the
 * connection.
 */
import { RATES, type App } from "../app.js";
import { button, el, formatNumber, setAttribute, setText } from "./dom.js";
import { icon } from "./icons.js";

const FASTEST = "fastest";
const GAP = 2; // between a name and the next mark [px]
const MARK = 2; // the width of a mark

export class Timeline {
	readonly element: HTMLElement;
	private readonly app: App;
	private readonly play: HTMLButtonElement;
	private readonly loop: HTMLButtonElement;
	private readonly slider: HTMLInputElement;
	private readonly now = el("b");
	private readonly total = el("span");
	private readonly marks = el("div", { class: "marks", role: "group", "aria-label": "Events" });
	private readonly rate: HTMLInputElement;
	private readonly rates = el("datalist", { id: "rates" });
	private readonly live: HTMLElement;
	private readonly liveState = el("span", { class: "live-state", role: "status" });
	private readonly edge: HTMLButtonElement;
	private digits = 2;
	private drawnEnd = NaN;

	constructor(app: App) {
		this.app = app;
		const plain = { iconOnly: true };
		this.play = button("Play", icon("play"), () => app.togglePlaying(), {
			...plain,
			class: "icon-button play",
			title: "Play or pause (Space)",
		});
		this.loop = button("Repeat", icon("loop"), () => app.setLoop(!app.loop), {
			...plain,
			"aria-pressed": "false",
			title: "Repeat (L)",
		});
		this.slider = el("input", {
			type: "range",
			min: "0",
			max: "1",
			step: "any",
			value: "0",
			"aria-label": "Time",
			id: "time-slider",
		});
		this.slider.addEventListener("input", () => {
			app.setPlaying(false);
			app.seek(Number(this.slider.value));
		});
		this.rate = el("input", {
			type: "text",
			class: "rate",
			inputmode: "decimal",
			autocomplete: "off",
			list: "rates",
			"aria-label": "Play rate",
			title: "Play rate (+ and -): seconds of the run per second; any factor can be typed",
			onchange: () => this.typeRate(),
		});
		// The list offers only what fits the text: without one it offers all.
		this.rate.addEventListener("focus", () => (this.rate.value = ""));
		this.rate.addEventListener("blur", () => this.showRate());
		this.edge = button("To now", icon("end"), () => app.seek(app.end), { class: "button small outlined" });
		this.live = el("div", { class: "live-bar" }, this.liveState, this.edge);
		this.live.hidden = true;
		this.element = el(
			"section",
			{ class: "timeline", "aria-label": "Time" },
			el(
				"div",
				{ class: "transport" },
				button("To the start", icon("start"), () => app.seek(app.start), {
					...plain,
					title: "To the start (Home)",
				}),
				button("One frame back", icon("back"), () => app.step(-1), { ...plain, title: "One frame back (←)" }),
				this.play,
				button("One frame forward", icon("forward"), () => app.step(1), {
					...plain,
					title: "One frame forward (→)",
				}),
				button("To the end", icon("end"), () => app.seek(app.end), { ...plain, title: "To the end (End)" }),
				this.loop,
			),
			el("div", { class: "clock" }, this.now, this.total),
			el("div", { class: "scrub" }, this.marks, this.slider),
			this.rate,
			this.rates,
			this.live,
		);
		this.fillRates();
		app.on("replay", () => this.reset());
		app.on("time", () => this.onTime());
		app.on("play", () => this.onPlay());
		app.on("live", () => this.onLive());
		app.on("size", () => this.arrange());
		new ResizeObserver(() => this.arrange()).observe(this.marks);
	}

	private fillRates(): void {
		const offered = [...RATES.map((r) => `${formatNumber(r)}×`), ...(this.app.live ? [FASTEST] : [])];
		if (this.rates.childElementCount !== offered.length)
			this.rates.replaceChildren(...offered.map((text) => el("option", { value: text })));
		if (document.activeElement !== this.rate) this.showRate();
	}

	private showRate(): void {
		const { rate } = this.app;
		this.rate.value = rate === 0 ? FASTEST : `${formatNumber(rate)}×`;
	}

	/** "0.25", "0.25×" or "1/4"; anything else leaves the rate as it is. */
	private typeRate(): void {
		const typed = this.rate.value.trim().replace(/[×x]$/, "");
		const [a, b = "1"] = typed.split("/");
		const rate = typed === FASTEST && this.app.live ? 0 : Number(a) / Number(b);
		if (typed !== "" && Number.isFinite(rate) && (rate > 0 || typed === FASTEST)) this.app.setRate(rate);
		this.rate.blur();
		this.showRate();
	}

	private reset(): void {
		const span = this.app.end - this.app.start;
		this.digits = span > 0 ? Math.min(6, Math.max(2, 3 - Math.floor(Math.log10(span)))) : 3;
		this.drawnEnd = NaN;
		this.setRange();
		this.makeMarks();
		this.onPlay();
		this.onTime();
	}

	private setRange(): void {
		if (this.app.end === this.drawnEnd) return;
		this.drawnEnd = this.app.end;
		this.slider.min = String(this.app.start);
		this.slider.max = String(Math.max(this.app.end, this.app.start + 1e-9));
		setText(this.total, ` / ${this.app.end.toFixed(this.digits)} s`);
		this.arrange();
	}

	private onTime(): void {
		const { time, start, end } = this.app;
		if (this.app.live) this.setRange();
		this.slider.value = String(time);
		const fill = end > start ? ((time - start) / (end - start)) * 100 : 0;
		this.slider.style.setProperty("--fill", `${fill.toFixed(2)}%`);
		const text = time.toFixed(this.digits);
		setText(this.now, text);
		setAttribute(this.slider, "aria-valuetext", `${text} seconds`);
		if (this.app.live) this.edge.disabled = this.app.atEdge;
	}

	private onPlay(): void {
		const { live, playing, loop } = this.app;
		const moving = playing || (live !== null && this.app.atEdge && live.running && live.state === "open");
		this.play.replaceChildren(icon(moving ? "pause" : "play"));
		setAttribute(this.play, "aria-label", moving ? "Pause" : "Play");
		setAttribute(this.loop, "aria-pressed", String(loop));
		this.fillRates();
	}

	/* ---- events ------------------------------------------------------------------------- */

	makeMarks(): void {
		const events = this.app.replay?.events ?? [];
		this.marks.replaceChildren(
			...events.map((event) => {
				const lost = Number.isFinite(event.kineticLost)
					? ` Kinetic energy lost: ${formatNumber(event.kineticLost)} J.`
					: "";
				const title = `${event.t.toFixed(this.digits)} s: ${event.name}${event.text ? `. ${event.text}` : ""}${lost}`;
				return el(
					"button",
					{
						type: "button",
						class: "mark",
						"data-kind": event.kind,
						title,
						"aria-label": title,
						onclick: () => this.app.seek(event.t),
					},
					el("span", {}, event.name),
				);
			}),
		);
		this.arrange();
	}

	/** A name is to the right of its mark, else to the left, else shown when pointed at: no two run into each other. */
	private arrange(): void {
		const { start, end, replay } = this.app;
		const events = replay?.events ?? [];
		const width = this.marks.clientWidth;
		const marks = [...this.marks.children] as HTMLElement[];
		const x = events.map((e) => (end > start ? ((e.t - start) / (end - start)) * width : 0));
		marks.forEach((mark) => ((mark.dataset.side = "right"), (mark.hidden = false)));
		const needed = marks.map((mark) => mark.offsetWidth);
		let free = 0; // from where on nothing is written
		marks.forEach((mark, i) => {
			const [at, next] = [x[i]!, Math.min(x[i + 1] ?? width, width)];
			mark.hidden = !(at >= -1 && at <= width + 1);
			const side = at + needed[i]! <= next - GAP ? "right" : at - needed[i]! >= free + GAP ? "left" : "none";
			mark.dataset.side = side;
			mark.style.left = `${side === "left" ? at - needed[i]! + MARK : at}px`;
			free = side === "right" ? at + needed[i]! : at + MARK;
		});
	}

	/* ---- live --------------------------------------------------------------------------- */

	private onLive(): void {
		const { live } = this.app;
		this.live.hidden = live === null;
		if (!live) return;
		const factor = Number.isFinite(live.realTimeFactor) ? ` · ${formatNumber(live.realTimeFactor)}× real time` : "";
		const dropped = live.dropped > 0 ? ` · ${live.dropped} frames skipped` : "";
		const texts = {
			connecting: "Connecting…",
			waiting: "Connection lost, trying again…",
			ended: live.text || "The run is over",
			open:
				(live.running ? "Live" : live.text || (live.busy ? "Paused after this step" : "Paused")) +
				factor +
				dropped,
		};
		setText(this.liveState, texts[live.state]);
		this.liveState.dataset.state = live.state === "open" ? (live.running ? "running" : "paused") : live.state;
		this.onPlay();
	}
}
