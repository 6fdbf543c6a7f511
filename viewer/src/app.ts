// SPDX-License-Identifier: Apache-2.0
/*
 * app.ts — the state of the viewer and everything that can be done with it. The interface calls its methods and
 * listens to what changed; it draws once per display frame, and only if something did.
 */
import type { Replay } from "./data/replay.js";
import { lastBefore } from "./data/sample.js";
import { Emitter } from "./emitter.js";
import type { LiveLink } from "./live.js";
import { CameraControl, type Preset } from "./scene/camera.js";
import type { FlexColoring } from "./scene/flexible.js";
import { Stage } from "./scene/stage.js";
import type { TrailOf } from "./scene/trails.js";
import { View } from "./scene/view.js";
import type { ViewCamera } from "./data/view_settings.js";
import { Story } from "./story.js";
import { bodyOf, findSelection, sameSelection, type Selection } from "./selection.js";
import { ThemeControl } from "./ui/theme.js";

export type Change =
	| "replay" // another run is shown
	| "time" // every frame in which the time differs
	| "play" // playing, rate, looping
	| "selection"
	| "visibility" // bodies hidden or shown
	| "topology" // parents or groups differ from the frame before
	| "settings" // what is drawn
	| "mode" // a mode shape is shown
	| "camera"
	| "theme"
	| "signals" // a live run has more values
	| "live" // state of the connection
	| "ghost"
	| "size";

export const RATES = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000] as const;

/**
 * The rate at which a run is played at first: real time where that takes between 4 and 60 seconds, else such that it takes
 * about 5 or 40, rounded to 1, 2 or 5 times a power of ten; and not so fast that the largest body turns more than twice
 * a second [rad/s], since that cannot be seen.
 */
export function niceRate(duration: number, turnRate: number): number {
	if (!(duration > 0)) return 1;
	const wanted = duration > 60 ? duration / 40 : duration < 4 ? duration / 5 : 1;
	const most = turnRate > 0 ? (4 * Math.PI) / turnRate : Infinity;
	const raw = Math.min(wanted, Math.max(most, Math.min(1, wanted)));
	const power = 10 ** Math.floor(Math.log10(raw) + 1e-9);
	const factor = raw / power;
	return Number((power * (factor >= 7 ? 10 : factor >= 3.2 ? 5 : factor >= 1.4 ? 2 : 1)).toPrecision(1));
}

export interface Settings {
	bodyFrames: boolean;
	nodeFrames: boolean;
	jointFrames: boolean;
	arrows: boolean;
	grid: boolean;
	trails: "none" | "selected" | "named" | "all"; // named: those of the view settings
	ghost: boolean;
	labels: boolean; // the name of the selection
	bodyNames: boolean;
	jointNames: boolean;
	nodeNames: boolean;
	arrowValues: boolean;
	gridLabels: boolean;
	ellipsoid: boolean; // of the selected body's inertia
}

/** Settings of a type. */
export type KeyOf<T> = { [K in keyof Settings]: Settings[K] extends T ? K : never }[keyof Settings];

export interface ShownMode {
	body: number;
	mode: number;
	phase: number;
}

/** Times of the last frames' scripts [ms]: what a frame costs without the graphics card. */
export class Stats {
	readonly script = new Float64Array(240);
	frames = 0;
	first = NaN; // when the first frame of a run was drawn, since the page was asked for [ms]

	add(ms: number, shown: boolean): void {
		if (shown && Number.isNaN(this.first)) this.first = performance.now();
		this.script[this.frames++ % this.script.length] = ms;
	}
}

export class App extends Emitter<Change> {
	readonly stage: Stage;
	readonly camera: CameraControl;
	readonly theme: ThemeControl;
	readonly stats = new Stats();
	readonly story = new Story(this);
	readonly settings: Settings = {
		bodyFrames: false,
		nodeFrames: false,
		jointFrames: false,
		arrows: true,
		grid: true,
		trails: "none",
		ghost: true,
		labels: true,
		bodyNames: false,
		jointNames: false,
		nodeNames: false,
		arrowValues: false,
		gridLabels: false,
		ellipsoid: false,
	};
	view: View | null = null;
	live: LiveLink | null = null;
	selection: Selection | null = null;
	time = 0;
	playing = false;
	rate = 1;
	loop = false;
	/** A live run is shown at its newest time. */
	atEdge = true;
	mode: ShownMode | null = null;
	modeAmplitude = 1;
	modeSpeed = 1; // [Hz] on the screen
	/** Called at the end of a frame that was drawn, while the picture is in the canvas. */
	afterDraw: (() => void) | null = null;
	/** A picture of another size is being made (studio.ts). */
	sizeHeld = false;
	/** The last camera of the document: how much farther away it was placed, and its distance then [m]. */
	private steppedBack: { by: number; distance: number } | null = null;
	private drawNeeded = true;
	private timeNeeded = true;
	private last = 0;
	private topologyCount = -1;
	private trailFrames = 0;
	/** Another time was drawn since keepInSight() was called. */
	private sightDue = false;

	constructor(canvas: HTMLCanvasElement) {
		super();
		this.stage = new Stage(canvas);
		this.camera = new CameraControl(this.stage, canvas);
		this.theme = new ThemeControl(() => this.themeChanged());
		this.stage.setColors(this.theme.stageColors());
		requestAnimationFrame(this.frame);
	}

	get replay(): Replay | null {
		return this.view?.replay ?? null;
	}

	get start(): number {
		const t = this.replay?.frames.t;
		return t && t.count ? t.data[0]! : 0;
	}

	get end(): number {
		const t = this.replay?.frames.t;
		return t && t.count ? t.data[t.count - 1]! : 0;
	}

	private themeChanged(): void {
		this.stage.setColors(this.theme.stageColors());
		this.emit("theme");
		this.draw();
	}

	/* ---- runs -------------------------------------------------------------------------- */

	/** Shows a run. keepCamera: of a live run whose document came again. */
	open(replay: Replay, keepCamera = false): void {
		this.view?.dispose();
		this.selection = null;
		this.mode = null;
		this.playing = false;
		this.topologyCount = -1;
		const view = new View(this.stage, replay);
		this.view = view;
		this.camera.setUp(replay.up);
		if (replay.ghost) view.addGhost(replay.ghost);
		this.settings.grid = replay.joints.some((j) => j.from.body === replay.bodies.length - 1 && j.type !== "free");
		this.time = this.live ? this.end : this.start;
		view.update(this.time);
		this.frameRun(view, keepCamera);
		if (!this.live) this.rate = niceRate(this.end - this.start, view.turnRate());
		this.applySettings(); // before the story, which has its own
		if (!keepCamera) this.story.begin();
		this.applySettings();
		this.emit("replay");
		this.emit("ghost");
		this.timeNeeded = true;
		this.draw();
	}

	private frameRun(view: View, keepCamera: boolean): void {
		const { bounds, follow } = this.live
			? { bounds: view.bounds(), follow: -1 }
			: view.firstLook(this.start, this.end);
		const ground = bounds.center.clone();
		ground[view.replay.up] = bounds.low;
		this.stage.setGrid(ground, bounds.radius * 2);
		if (keepCamera) return;
		this.camera.begin(bounds);
		view.sample.at(this.start); // where the bounds are; what is followed moves from there to the time shown
		this.follow(follow);
		this.timeNeeded = true;
	}

	/** One more run beside this one; null: none any more. */
	setGhost(replay: Replay | null): void {
		if (!this.view) return;
		if (replay) this.view.addGhost(replay);
		else this.view.ghosts.clear();
		this.settings.ghost = true;
		this.applySettings();
		this.emit("ghost");
		this.timeNeeded = true;
	}

	/* ---- time -------------------------------------------------------------------------- */

	seek(time: number): void {
		this.time = Math.min(this.end, Math.max(this.start, time));
		this.atEdge = this.live !== null && this.time >= this.end;
		this.timeNeeded = true;
	}

	setPlaying(playing: boolean): void {
		if (playing && this.time >= this.end) this.time = this.start;
		this.playing = playing && this.end > this.start;
		this.timeNeeded = true;
		this.emit("play");
	}

	/** Space: plays or pauses, a live run by a command. */
	togglePlaying(): void {
		if (!this.live) return this.setPlaying(!this.playing);
		if (this.atEdge) this.live.command(this.live.running ? { command: "pause" } : { command: "resume" });
		else this.setPlaying(!this.playing);
	}

	/** To the frame after or before the time shown; a live run that is paused at its newest time computes one more. */
	step(direction: 1 | -1): void {
		const t = this.replay?.frames.t;
		if (!t || t.count === 0) return;
		this.setPlaying(false);
		if (this.live && this.atEdge && direction > 0) return this.live.command({ command: "step", count: 1 });
		const i = lastBefore(t, this.time, -1);
		const on = this.time === t.data[i];
		const next = direction > 0 ? i + 1 : on ? i - 1 : i;
		this.seek(t.data[Math.min(t.count - 1, Math.max(0, next))]!);
	}

	setRate(rate: number): void {
		this.rate = rate;
		this.live?.command({ command: "speed", value: rate });
		this.emit("play");
	}

	/** The connection or the simulation changed its state; the rate is the simulation's. */
	liveChanged(): void {
		if (this.live && this.live.state === "open") this.rate = this.live.speed;
		this.emit("live");
	}

	changeRate(direction: 1 | -1): void {
		const above = RATES.findIndex((r) => r > this.rate * 1.001);
		const below = RATES.findLastIndex((r) => r < this.rate * 0.999);
		const i = direction > 0 ? above : below;
		if (i >= 0) this.setRate(RATES[i]!);
	}

	setLoop(loop: boolean): void {
		this.loop = loop;
		this.emit("play");
	}

	/** To the event before or after the time shown. */
	jumpEvent(direction: 1 | -1): void {
		const times = this.replay?.events.map((e) => e.t) ?? [];
		const found =
			direction > 0 ? times.find((t) => t > this.time + 1e-9) : times.findLast((t) => t < this.time - 1e-9);
		if (found !== undefined) this.seek(found);
	}

	/* ---- selection and visibility ------------------------------------------------------- */

	select(selection: Selection | null): void {
		if (!this.view || sameSelection(selection, this.selection)) return;
		this.selection = selection;
		this.view.select(bodyOf(this.view.replay, selection));
		if (this.settings.trails === "selected") this.updateTrails();
		this.emit("selection");
		this.draw();
	}

	get selectedBody(): number {
		return this.view ? bodyOf(this.view.replay, this.selection) : -1;
	}

	setHidden(bodies: Iterable<number>, hidden: boolean): void {
		if (!this.view) return;
		for (const body of bodies) this.view.hidden[body] = hidden ? 1 : 0;
		this.emit("visibility");
		this.draw();
	}

	isolate(bodies: Iterable<number>): void {
		if (!this.view) return;
		this.view.hidden.fill(1);
		this.setHidden(bodies, false);
	}

	showAll(): void {
		this.view?.hidden.fill(0);
		this.setHidden([], false);
	}

	/* ---- what is drawn ------------------------------------------------------------------ */

	set<K extends keyof Settings>(key: K, value: Settings[K]): void {
		this.settings[key] = value;
		this.applySettings();
	}

	applySettings(): void {
		const { view, settings } = this;
		this.stage.showGrid(settings.grid);
		if (!view) return;
		view.triads.bodies.object.visible = settings.bodyFrames;
		view.triads.nodes.object.visible = settings.nodeFrames;
		view.triads.joints.object.visible = settings.jointFrames;
		view.arrows.object.visible = settings.arrows;
		view.ellipsoid.shown = settings.ellipsoid;
		view.applyGlass();
		view.ghosts.show(settings.ghost);
		this.updateTrails();
		this.emit("settings");
		this.draw();
	}

	private trailList(): TrailOf[] {
		const { view, selection, settings } = this;
		if (!view || settings.trails === "none") return [];
		if (settings.trails === "all")
			return view.replay.bodies
				.slice(0, -1)
				.map((b) => ({ body: b.index, node: -1, color: view.bodyColor(b.index) }));
		if (settings.trails === "named") return view.replay.view.trails.flatMap((path) => this.trailOf(view, path));
		const body = this.selectedBody;
		if (body < 0) return [];
		return [{ body, node: selection?.kind === "node" ? selection.node : -1, color: view.bodyColor(body) }];
	}

	/** The trail of a body, or of a node "body/node"; none: there is no such thing. */
	private trailOf(view: View, path: string): TrailOf[] {
		const found = findSelection(view.replay, `body:${path}`) ?? findSelection(view.replay, `node:${path}`);
		if (!found || !("body" in found)) return [];
		const node = found.kind === "node" ? found.node : -1;
		return [{ body: found.body, node, color: view.bodyColor(found.body) }];
	}

	updateTrails(): void {
		this.view?.trails.set(this.trailList());
		this.trailFrames = this.replay?.frames.t.count ?? 0;
	}

	setTrailSpan(seconds: number): void {
		if (this.view) this.view.trailSpan = seconds;
		this.emit("settings");
		this.draw();
	}

	setExaggeration(factor: number): void {
		if (this.view) this.view.flexible.exaggeration = factor;
		this.emit("settings");
		this.draw();
	}

	setColoring(coloring: FlexColoring): void {
		this.view?.flexible.setColoring(coloring);
		this.emit("settings");
		this.draw();
	}

	setArrowScale(factor: number): void {
		if (this.view) this.view.arrows.factor = factor;
		this.emit("settings");
		this.draw();
	}

	/** Shows a mode shape of a flexible body instead of its motion; mode < 0: the motion again. */
	showMode(body: number, mode: number): void {
		if (!this.view) return;
		for (const drawn of this.view.flexible.bodies) drawn.override = null;
		const drawn = this.view.flexible.get(body);
		this.mode = mode >= 0 && drawn ? { body, mode, phase: Math.PI / 2 } : null;
		if (this.mode) this.writeMode();
		this.view.flexible.findPeak();
		this.emit("mode");
		this.emit("settings");
		this.draw();
	}

	private writeMode(): void {
		const { mode, view } = this;
		const drawn = mode && view?.flexible.get(mode.body);
		if (!mode || !drawn) return;
		const eta = (drawn.override ??= new Float32Array(drawn.flexible.modes));
		const { vectors, modes } = drawn.flexible;
		for (let i = 0; i < modes; i++) eta[i] = vectors ? vectors[mode.mode * modes + i]! : i === mode.mode ? 1 : 0;
		const reach = drawn.peakAt(eta, "displacement");
		const factor = reach > 0 ? ((0.12 * drawn.size * this.modeAmplitude) / reach) * Math.sin(mode.phase) : 0;
		for (let i = 0; i < modes; i++) eta[i]! *= factor;
	}

	/* ---- camera ------------------------------------------------------------------------- */

	preset(preset: Preset): void {
		if (!this.view) return;
		this.camera.preset(preset, this.view.bounds());
		this.draw();
	}

	/** How much farther away cameras of the document are on an upright screen, whose picture must not lose its sides. */
	private get stepBack(): number {
		return Math.max(1, 1 / this.stage.camera.aspect);
	}

	/** The scene has another size: a camera of the document that is as far away as it was placed keeps its sides. */
	private keepSides(): void {
		const { camera, stepBack, steppedBack } = this;
		if (!steppedBack || Math.abs(camera.distance / steppedBack.distance - 1) > 1e-6) return;
		const factor = stepBack / steppedBack.by;
		camera.stretch(factor);
		this.steppedBack = { by: stepBack, distance: factor * steppedBack.distance };
	}

	/** Takes a camera of the document. */
	useCamera(camera: ViewCamera, atOnce: boolean): void {
		if (!this.view) return;
		const { pose } = this.view.sample;
		this.view.sample.at(this.time);
		this.setOrthographic(camera.orthographic);
		if (camera.kind === "onboard") this.camera.ride(camera.body, camera.from, camera.at);
		else {
			const o = camera.kind === "following" ? [0, 1, 2].map((k) => pose[camera.body * 7 + k]!) : [0, 0, 0];
			const { from, at } = camera;
			const { stepBack } = this;
			const eye = from.map((v, k) => at[k]! + stepBack * (v - at[k]!));
			this.steppedBack = { by: stepBack, distance: stepBack * Math.hypot(...from.map((v, k) => v - at[k]!)) };
			this.camera.place(
				[...eye, ...at].map((v, i) => v + o[i % 3]!),
				atOnce,
			);
			this.follow(camera.body);
		}
		this.timeNeeded = true;
	}

	setOrthographic(on: boolean): void {
		this.stage.camera.orthographic = on;
		this.stage.camera.updateProjectionMatrix();
		this.emit("settings");
		this.draw();
	}

	/** Everything that is shown, or the selected body. */
	fit(selected = false): void {
		if (!this.view) return;
		this.camera.automatic = this.live !== null && !selected;
		this.camera.fit(this.view.bounds(selected ? this.selectedBody : -1));
		this.draw();
	}

	/** -1: nobody. */
	follow(body: number): void {
		if (!this.view) return;
		const { pose } = this.view.sample;
		this.camera.follow(body, pose[body * 7] ?? 0, pose[body * 7 + 1] ?? 0, pose[body * 7 + 2] ?? 0);
		this.emit("camera");
	}

	resize(width: number, height: number): void {
		if (this.sizeHeld) return;
		this.stage.resize(width, height);
		this.keepSides();
		if (this.view && this.camera.automatic && !this.live) {
			this.frameRun(this.view, false);
			this.story.resume(true);
		}
		this.emit("size");
		this.draw();
	}

	/* ---- frames ------------------------------------------------------------------------- */

	draw(): void {
		this.drawNeeded = true;
	}

	/** A live run has more frames, or another event. */
	grown(): void {
		this.timeNeeded = true;
	}

	private advance(seconds: number): void {
		if (this.live && this.atEdge) {
			if (this.time !== this.end) this.timeNeeded = true;
			this.time = this.end;
		}
		if (this.playing) {
			this.time += seconds * this.rate;
			this.timeNeeded = true;
			if (this.time >= this.end) {
				if (this.loop) this.time = this.start + ((this.time - this.start) % (this.end - this.start));
				else {
					this.time = this.end;
					this.playing = false;
					this.atEdge = this.live !== null;
					this.emit("play");
				}
			}
		}
		if (this.mode) {
			this.mode.phase += 2 * Math.PI * this.modeSpeed * seconds;
			this.writeMode();
			this.draw();
		}
	}

	private readonly frame = (now: number): void => {
		requestAnimationFrame(this.frame);
		const started = performance.now();
		const seconds = Math.min(1, (now - this.last) / 1000);
		this.last = now;
		const { view } = this;
		this.advance(seconds);
		const timed = this.timeNeeded;
		if (timed && view) this.locate(view);
		const moved = this.camera.update(seconds);
		if (!timed && !moved && !this.drawNeeded) return this.rest(view);
		this.timeNeeded = this.drawNeeded = false;
		if (view) this.refresh(view, timed);
		this.stage.render(this.camera.distance, view?.size ?? 1);
		this.emit("camera");
		this.afterDraw?.();
		this.stats.add(performance.now() - started, view !== null);
	};

	/** Nothing new is drawn: the last frame of a live run, too, must be in the picture. */
	private rest(view: View | null): void {
		if (view && this.sightDue && this.live && this.camera.automatic) this.keepInSight(view);
	}

	/** Draws the run at a time at once, as if it had been played up to it. */
	drawAt(time: number): void {
		const { view } = this;
		if (!view) return;
		this.seek(time);
		this.locate(view);
		this.camera.update(0);
		this.refresh(view, true);
		this.stage.render(this.camera.distance, view.size);
	}

	private locate(view: View): void {
		view.sample.at(this.time);
		const { following } = this.camera;
		const { pose } = view.sample;
		this.story.advance();
		this.camera.carry(view.sample.matrix);
		if (following >= 0 && following === this.camera.following)
			this.camera.moved(pose[following * 7]!, pose[following * 7 + 1]!, pose[following * 7 + 2]!);
	}

	/** Of a live run nobody knows where it goes: the camera steps back, with room to spare, when it leaves the picture. */
	private keepInSight(view: View): void {
		const bounds = view.bounds();
		this.sightDue = false;
		if (this.camera.shows(bounds)) return;
		const roomy = bounds.corners.map((c) => c.clone().sub(bounds.center).multiplyScalar(1.3).add(bounds.center));
		this.camera.fit({ ...bounds, corners: roomy });
	}

	private refresh(view: View, timed: boolean): void {
		// A live run's trails are made anew when a twentieth of their frames came since.
		const count = view.replay.frames.t.count;
		if (this.live && view.trails.list.length && Math.abs(count - this.trailFrames) > this.trailFrames / 20)
			this.updateTrails();
		this.sightDue ||= timed;
		if (this.live && this.camera.automatic && this.stats.frames % 12 === 0) this.keepInSight(view);
		view.refresh();
		const { topologyCount } = view.sample;
		if (topologyCount !== this.topologyCount) {
			this.topologyCount = topologyCount;
			this.emit("topology");
		}
		if (timed) this.emit("time");
	}
}
