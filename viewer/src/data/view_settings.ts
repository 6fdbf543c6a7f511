// SPDX-License-Identifier: Apache-2.0
/*
 * view_settings.ts — how a run is looked at, as the document says: cameras, the moment and speed at first, plots, trails,
 * arrows, and the steps of its story. The times of steps that begin with an event are found here.
 */
import type { RunEvent } from "./replay.js";
import { choice, dict, fail, index, list, number, text } from "./values.js";

export type CameraKind = "fixed" | "following" | "onboard";
const KINDS: readonly CameraKind[] = ["fixed", "following", "onboard"];

export interface ViewCamera {
	name: string;
	kind: CameraKind;
	body: number; // that is followed or carries it; -1: of a fixed one
	from: [number, number, number];
	at: [number, number, number];
	orthographic: boolean;
}

export interface Step {
	t: number;
	camera: ViewCamera | null; // null: as before
	caption: string; // "": none
}

export interface ViewSettings {
	card: string; // "": none
	camera: ViewCamera | null; // used first; null: that of the first step, or one that shows the whole motion
	start: number; // [s]
	speed: number; // 0: by the duration
	arrows: number; // factor; 0: none
	deformation: number;
	light: [number, number, number] | null; // the direction towards it; null: that of the stage
	cameras: ViewCamera[];
	plots: string[][];
	trails: string[];
	steps: Step[]; // in order of time
}

function triple(value: unknown, place: string): [number, number, number] {
	const all = list(value, place).map((v, i) => number(v, `${place}[${i}]`));
	if (all.length !== 3 || !all.every(Number.isFinite)) fail(place, "is not three numbers");
	return [all[0]!, all[1]!, all[2]!];
}

function direction(value: unknown, place: string): [number, number, number] | null {
	if (value === undefined || value === null) return null;
	const found = triple(value, place);
	return found.some((v) => v !== 0) ? found : fail(place, "has no direction");
}

function decodeCamera(value: unknown, bodies: number, place: string): ViewCamera {
	const from = dict(value, place);
	const kind = choice(from.kind, KINDS, `${place}.kind`, "fixed");
	return {
		name: text(from.name, `${place}.name`),
		kind,
		body: kind === "fixed" ? -1 : index(from.body, bodies, `${place}.body`),
		from: triple(from.from, `${place}.from`),
		at: from.at === undefined ? [0, 0, 0] : triple(from.at, `${place}.at`),
		orthographic: from.orthographic === true,
	};
}

const positive = (value: unknown, fallback: number, place: string): number => {
	const n = number(value, place, fallback);
	if (!(n >= 0 && n < Infinity)) fail(place, `is ${n}; it must not be negative`);
	return n;
};

/** bodies: how many there are without the ground. */
export function decodeViewSettings(value: unknown, bodies: number, events: readonly RunEvent[]): ViewSettings {
	const from = value === undefined || value === null ? {} : dict(value, "view");
	const cameras = list(from.cameras, "view.cameras").map((c, i) => decodeCamera(c, bodies, `view.cameras[${i}]`));
	const named = (name: unknown, place: string): ViewCamera | null => {
		if (name === undefined || name === null) return null;
		return cameras.find((c) => c.name === text(name, place)) ?? fail(place, `there is no camera "${String(name)}"`);
	};
	const steps = list(from.steps, "view.steps").flatMap((entry, i): Step[] => {
		const place = `view.steps[${i}]`;
		const step = dict(entry, place);
		const event = step.event === undefined ? null : text(step.event, `${place}.event`);
		const found = events.find((e) => e.name === event);
		if (event !== null && !found) return []; // it did not happen in this run
		const t = number(step.t, `${place}.t`, 0) + (found?.t ?? 0);
		const caption = text(step.caption, `${place}.caption`, "");
		return [{ t, camera: named(step.camera, `${place}.camera`), caption }];
	});
	return {
		card: text(from.card, "view.card", ""),
		camera: named(from.camera, "view.camera"),
		start: number(from.start, "view.start", 0),
		speed: positive(from.speed, 0, "view.speed"),
		arrows: positive(from.arrows, 1, "view.arrows"),
		deformation: positive(from.deformation, 1, "view.deformation") || 1,
		light: direction(from.light, "view.light"),
		cameras,
		plots: list(from.plots, "view.plots").map((p, i) =>
			text(p, `view.plots[${i}]`)
				.split(",")
				.map((s) => s.trim()),
		),
		trails: list(from.trails, "view.trails").map((t, i) => text(t, `view.trails[${i}]`)),
		steps: steps.sort((a, b) => a.t - b.t),
	};
}
