// SPDX-License-Identifier: Apache-2.0
/*
 * worker.ts — the simulation of the playground: reads models, runs the newest one at the pace that is asked for, and says
 * what a server of live runs says (docs/replay.md, "Live"). A model that cannot be read changes nothing: the one before runs on.
 */
import { type Calder, type CalderError, createCalder, type Run } from "../../../wasm/src/index.js";

/** What the page asks for. */
export type Request =
	| { kind: "module"; bytes: ArrayBuffer }
	| { kind: "load" | "check"; id: number; text: string; name: string; files: Record<string, Uint8Array> }
	| { kind: "begin" } // the page listens: the newest model runs
	| { kind: "convert"; id: number }
	| { kind: "command"; text: string };

/** What it gets; ticks are bare buffers. */
export type Answer =
	| { kind: "loaded" | "checked"; id: number; title: string; notes: Note[] }
	| { kind: "failed"; id: number; message: string; file: string | null; line: number | null; column: number | null }
	| { kind: "converted"; id: number; text: string }
	| { kind: "say"; text: string }
	| { kind: "tick"; buffer: ArrayBuffer };

export interface Note {
	kind: string;
	place: string;
	element?: string;
	text: string;
}

const TICK_S = 1 / 60;
const SLICE_MS = 12; // of computing before messages are read again
const SIGNALS = ["q", "u", "energy", "momentum"];

let calder: Promise<Calder> | null = null;
let run: Run | null = null;
let begun = false;
let running = true;
let speed = 1;
let left = 0; // steps that a pause lets through
let wall = 0; // when the pace began [ms]
let from = 0; // the time of the run then [s]
let stateWall = 0;
let stateTime = 0;
let trouble = "";

const post = (answer: Answer, transfer: Transferable[] = []): void => self.postMessage(answer, { transfer });
const say = (message: unknown): void => post({ kind: "say", text: JSON.stringify(message) });

function sayState(): void {
	if (!run) return;
	const now = performance.now();
	const span = (now - stateWall) / 1000;
	const factor = span > 0 ? Math.max(0, run.time - stateTime) / span : 0;
	stateWall = now;
	stateTime = run.time;
	say({ state: { running, speed, real_time_factor: factor, busy: false, text: trouble } });
}

function beginPace(): void {
	wall = performance.now();
	from = run?.time ?? 0;
}

function sendTick(): void {
	if (!run) return;
	for (const event of run.events()) say(event);
	const bytes = run.tick();
	post({ kind: "tick", buffer: bytes.buffer as ArrayBuffer }, [bytes.buffer as ArrayBuffer]);
}

function halt(why: string): void {
	running = false;
	left = 0;
	trouble = why;
	sayState();
}

/** Computes until the run is where the clock wants it, or for a slice. */
function work(): void {
	if (!run || !begun || (!running && left === 0)) return;
	const due = running ? from + ((performance.now() - wall) / 1000) * (speed || Infinity) : run.time;
	const end = performance.now() + SLICE_MS;
	const tick = TICK_S * (speed || 1);
	let moved = false;
	try {
		while ((run.time < due || left > 0) && performance.now() < end && !run.stopped) {
			const target = run.time + tick;
			while (run.time < target && !run.stopped && performance.now() < end) run.step(target);
			moved = true;
			if (left > 0) left--;
		}
		if (moved) sendTick();
	} catch (error) {
		say({ error: (error as Error).message });
		return halt("the run has failed: go back to the start or to a moment");
	}
	if (run.stopped) return halt("an event of the model has ended the run: go back to the start or to a moment");
	if (performance.now() > end && running && due - run.time > 0.5 * (speed || 1)) beginPace(); // it cannot keep up
	if (performance.now() - stateWall > 1000) sayState();
}

function obey(text: string): void {
	if (!run) return;
	const command = JSON.parse(text) as { command: string; value?: number; count?: number };
	if (command.command === "pause") running = false;
	else if (command.command === "resume") {
		running = true;
		trouble = "";
	} else if (command.command === "step") left += command.count ?? 1;
	else if (command.command === "speed") speed = command.value ?? 1;
	else {
		const before = run.time;
		for (const message of run.command(text)) say(message);
		if (run.time !== before) {
			trouble = "";
			sendTick();
		}
	}
	beginPace();
	sayState();
}

/** What stands in a file that cannot be read, for the editor. */
function failure(id: number, error: unknown): Answer {
	const { message, file = null, line = null, column = null } = error as Partial<CalderError> & Error;
	return { kind: "failed", id, message, file, line, column };
}

async function load(request: Extract<Request, { kind: "load" | "check" }>): Promise<void> {
	const { id, kind, text, name, files } = request;
	let made: Run | null = null;
	try {
		made = await (await calder!).load(text, { name, files, partial: true, interactive: kind === "load" });
		const { title, notes } = made;
		if (kind === "check") return post({ kind: "checked", id, title, notes });
		for (const signal of SIGNALS) made.addSignals(signal);
		run = made;
		made = null;
		begun = false;
		running = true;
		left = 0;
		trouble = "";
		post({ kind: "loaded", id, title, notes });
	} catch (error) {
		post(failure(id, error));
	} finally {
		made?.delete();
	}
}

function begin(): void {
	if (!run) return;
	say({ document: run.document });
	begun = true;
	stateTime = run.time;
	stateWall = performance.now();
	for (const message of run.command("{}")) say(message);
	sendTick();
	beginPace();
	sayState();
}

function take(request: Request): void {
	if (request.kind === "module") calder = createCalder(request.bytes);
	else if (request.kind === "load" || request.kind === "check") void load(request);
	else if (request.kind === "begin") begin();
	else if (request.kind === "command") obey(request.text);
	else
		try {
			post({ kind: "converted", id: request.id, text: run!.modelText });
		} catch (error) {
			post(failure(request.id, error));
		}
}

self.onmessage = (event: MessageEvent<Request>): void => take(event.data);
self.setInterval(work, 1000 * TICK_S);
