// SPDX-License-Identifier: Apache-2.0
/*
 * story.ts — view settings of a run at work: its cameras, and the steps of its story as time passes. A camera of a step
 * is taken until somebody moves the camera; `Story` in the toolbar takes it again.
 */
import type { App } from "./app.js";
import type { RunEvent } from "./data/replay.js";
import type { Step, ViewCamera, ViewSettings } from "./data/view_settings.js";

const CAPTION_S = 2.5; // how long an event's caption stays, of playing time on the screen

/** What is said below the scene: a name and a sentence, one of which may be empty. */
export interface Caption {
	name: string;
	text: string;
}

export class Story {
	private readonly app: App;
	private shown: Step | null = null;

	constructor(app: App) {
		this.app = app;
	}

	get settings(): ViewSettings | null {
		return this.app.replay?.view ?? null;
	}

	/** The step at the time shown; null: none has begun. */
	get step(): Step | null {
		return this.settings?.steps.findLast((s) => s.t <= this.app.time + 1e-9) ?? null;
	}

	/** The camera at the time shown: that of the last step that names one. */
	private get camera(): ViewCamera | null {
		const steps = this.settings?.steps ?? [];
		return steps.findLast((s) => s.t <= this.app.time + 1e-9 && s.camera)?.camera ?? this.settings?.camera ?? null;
	}

	/** What the document says of the initial view; after the run was opened. */
	begin(): void {
		const { app, settings } = this;
		this.shown = null;
		if (!settings || !app.view) return;
		app.stage.setLight(settings.light);
		if (settings.start) app.seek(settings.start);
		if (settings.speed) app.rate = settings.speed;
		app.settings.arrows = settings.arrows > 0;
		app.view.arrows.factor = settings.arrows || 1;
		app.view.flexible.exaggeration = settings.deformation;
		if (settings.trails.length) app.settings.trails = "named";
		this.take(true);
	}

	/** Takes the camera of the story again. */
	resume(atOnce = false): void {
		this.app.camera.automatic = true;
		this.shown = null;
		this.take(atOnce);
	}

	/** The time is another one. */
	advance(): void {
		if (this.app.camera.automatic && this.step !== this.shown) this.take(!this.app.playing);
	}

	/** What is said at the time shown while the run is played at a rate: the step's caption, or the last event while it is fresh. */
	caption(rate: number): Caption | null {
		const { app, step } = this;
		if (step?.caption) return { name: "", text: step.caption };
		const stay = app.live ? CAPTION_S : Math.max(CAPTION_S * rate, (app.end - app.start) * 0.002);
		const found: RunEvent | undefined = app.replay?.events.findLast((e) => e.t <= app.time + 1e-9);
		return found && app.time - found.t <= stay && found.text !== "" ? { name: found.name, text: found.text } : null;
	}

	private take(atOnce: boolean): void {
		this.shown = this.step;
		const { camera } = this;
		if (camera) this.app.useCamera(camera, atOnce);
	}
}
