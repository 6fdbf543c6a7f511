// SPDX-License-Identifier: Apache-2.0
/*
 * live.ts — a running simulation over a WebSocket (docs/replay.md, "Live"): documents, ticks and events come in,
 * commands go out. Ticks go into the tracks of the run as they arrive; the drawing loop takes the newest. A lost
 * connection is tried again, ever more slowly up to four seconds.
 */
import { decodeEvent, decodeReplay, decodeTopology } from "./data/decode.js";
import { decodeChange, decodeMoments, decodeParameters } from "./data/parameters.js";
import type { Moment, Parameter } from "./data/parameters.js";
import type { Replay } from "./data/replay.js";
import type { Track } from "./data/track.js";
import { residual, TURN_LIMIT } from "./data/turn.js";

export const TICK_MAGIC = 0x4b435443;
const HISTORY_BYTES = 256e6;
const RETRY_S = [0.5, 1, 2, 4] as const;

export type Command =
	| { command: "pause" | "resume" | "release" | "reset" | "keep" }
	| { command: "return" | "forget"; moment: number }
	| { command: "parameter"; parameter: number; value: number }
	| { command: "step"; count: number }
	| { command: "speed"; value: number }
	| { command: "force"; body: number; point: number[]; force: number[] }
	| { command: "joint"; joint: number; dof: number; value: number }
	| { command: "release_joint"; joint: number; dof: number };

export interface LiveListener {
	/** A document came, and its first tick. */
	opened(replay: Replay): void;
	grown(): void;
	events(): void;
	changed(): void;
	message(text: string): void;
}

/** As much of a WebSocket as is used: a simulation in the page has it too. */
export interface LiveSocket {
	binaryType: string;
	readonly readyState: number;
	onopen: ((event: Event) => void) | null;
	onmessage: ((event: MessageEvent<string | ArrayBuffer>) => void) | null;
	onclose: ((event: CloseEvent) => void) | null;
	send(text: string): void;
	close(): void;
}

export class LiveLink {
	state: "connecting" | "waiting" | "open" | "ended" = "connecting";
	running = true;
	busy = false; // a step is being computed: what is asked for comes after it
	speed = 1;
	realTimeFactor = NaN;
	dropped = 0;
	text = "";
	moments: Moment[] = [];
	parameters: Parameter[] = [];
	changed: Parameter | null = null; // the last one that was set, also to what it was
	parameterChanges = 0;
	private readonly open: () => LiveSocket;
	private readonly listener: LiveListener;
	private socket: LiveSocket | null = null;
	private replay: Replay | null = null;
	private opened = false;
	private sequence = -1;
	private attempts = 0;
	private lengthReported = false;

	constructor(open: () => LiveSocket, listener: LiveListener) {
		this.open = open;
		this.listener = listener;
		this.connect();
	}

	private connect(): void {
		this.state = "connecting";
		this.listener.changed();
		const socket = this.open();
		socket.binaryType = "arraybuffer";
		this.socket = socket;
		socket.onopen = () => {
			this.state = "open";
			this.attempts = 0;
			this.sequence = -1;
			this.listener.changed();
		};
		socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => {
			if (typeof event.data === "string") this.onText(event.data);
			else this.onTick(event.data);
		};
		socket.onclose = () => this.closed();
	}

	private closed(): void {
		this.socket = null;
		if (this.state === "ended") return;
		this.state = "waiting";
		const wait = RETRY_S[Math.min(this.attempts++, RETRY_S.length - 1)]!;
		window.setTimeout(() => this.connect(), wait * 1000);
		this.listener.changed();
	}

	/** Nothing more comes or is tried. */
	close(): void {
		this.state = "ended";
		if (this.socket) this.socket.onopen = this.socket.onmessage = this.socket.onclose = null;
		this.socket?.close();
		this.socket = null;
	}

	command(command: Command): void {
		if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(command));
	}

	/* ---- texts ------------------------------------------------------------------------- */

	private onText(text: string): void {
		try {
			this.onMessage(JSON.parse(text) as Record<string, unknown>);
		} catch (error) {
			this.listener.message(`the simulation sent something that cannot be read: ${(error as Error).message}`);
		}
	}

	private onMessage(message: Record<string, unknown>): void {
		if (message.document !== undefined) this.onDocument(message.document);
		if (message.state !== undefined) this.onState(message.state as Record<string, unknown>);
		if (message.moments !== undefined) {
			this.moments = decodeMoments(message.moments);
			this.listener.changed();
		}
		if (message.parameter !== undefined) this.onParameter(message.parameter);
		if (typeof message.error === "string") this.listener.message(message.error);
		if (typeof message.end === "string") {
			this.state = "ended";
			this.text = message.end;
			this.running = false;
			this.listener.changed();
		}
		if (!this.replay) return;
		if (message.event !== undefined) {
			this.replay.events.push(decodeEvent(message.event, "event"));
			this.replay.events.sort((a, b) => a.t - b.t);
			this.listener.events();
		}
		if (message.topology !== undefined)
			this.replay.frames.topology.push(
				decodeTopology(message.topology, this.replay.bodies.length - 1, "topology"),
			);
	}

	private onDocument(value: unknown): void {
		this.replay = decodeReplay(value, true);
		this.parameters = decodeParameters(value);
		this.opened = false;
		this.lengthReported = false;
		this.sequence = -1;
	}

	private onParameter(message: unknown): void {
		const { index, value } = decodeChange(message, this.parameters.length);
		this.changed = this.parameters[index]!;
		this.changed.value = value;
		this.parameterChanges++;
		this.listener.changed();
	}

	private onState(state: Record<string, unknown>): void {
		if (typeof state.running === "boolean") this.running = state.running;
		if (typeof state.busy === "boolean") this.busy = state.busy;
		if (typeof state.speed === "number") this.speed = state.speed;
		if (typeof state.real_time_factor === "number") this.realTimeFactor = state.real_time_factor;
		if (typeof state.dropped === "number") this.dropped = state.dropped;
		if (typeof state.text === "string") this.text = state.text;
		this.listener.changed();
	}

	/* ---- ticks ------------------------------------------------------------------------- */

	private onTick(buffer: ArrayBuffer): void {
		const { replay } = this;
		if (!replay) return;
		const head = new DataView(buffer);
		const wanted = tickLength(replay);
		if (buffer.byteLength !== wanted || head.getUint32(0, true) !== TICK_MAGIC) {
			if (!this.lengthReported)
				this.listener.message(
					`a tick of ${buffer.byteLength} bytes does not fit the document, which asks for ${wanted}`,
				);
			this.lengthReported = true;
			return;
		}
		this.count(head.getUint32(4, true));
		this.store(replay, head.getFloat64(8, true), buffer);
		if (this.opened) return this.listener.grown();
		this.opened = true;
		this.listener.opened(replay);
	}

	private count(sequence: number): void {
		if (this.sequence >= 0 && sequence > this.sequence + 1) this.dropped += sequence - this.sequence - 1;
		this.sequence = sequence;
	}

	/** The run has gone back: what came after is no more. */
	private restart(replay: Replay, t: number): void {
		for (const track of tracks(replay)) track.count = 0;
		const before = replay.events.length;
		replay.events = replay.events.filter((e) => e.t <= t);
		if (replay.events.length < before) this.listener.events();
	}

	private store(replay: Replay, t: number, buffer: ArrayBuffer): void {
		const { frames, signals, arrows } = replay;
		const last = frames.t.count ? frames.t.data[frames.t.count - 1]! : -Infinity;
		if (t < last) this.restart(replay, t);
		if (tickLength(replay) * frames.t.count > HISTORY_BYTES) {
			const half = frames.t.count >> 1;
			for (const track of tracks(replay)) track.drop(half);
		}
		const doubles = new Float64Array(buffer, 8, 1 + signals.length);
		const floats = new Float32Array(buffer, 16 + 8 * signals.length);
		frames.t.push(doubles, 0);
		for (let i = 0; i < signals.length; i++) signals[i]!.values.push(doubles, 1 + i);
		frames.pose.push(floats, 0);
		let at = frames.pose.width;
		const velocities = frames.velocity[0]?.values;
		if (velocities) {
			velocities.push(floats, at);
			at += velocities.width;
		}
		for (const { modes, values } of frames.eta) {
			values.push(floats, at);
			at += modes;
		}
		for (const arrow of arrows) {
			arrow.at.push(floats, at);
			arrow.vector.push(floats, at + 3);
			at += 6;
		}
		checkTurns(replay);
	}
}

const scratch = new Float64Array(3);

/** What the last tick says about the rotations since the one before: the largest residual, and the bodies that it is about. */
function checkTurns(replay: Replay): void {
	const { frames, turns, bodies } = replay;
	if (!turns) return;
	const { values } = turns.signal;
	const i = frames.t.count - 2;
	const dt = i >= 0 ? frames.t.data[i + 1]! - frames.t.data[i]! : 0;
	const concerned: string[] = [];
	let worst = 0;
	for (let k = 0; k < frames.velocity.length && dt > 0; k++) {
		const { body, offset, values: velocity } = frames.velocity[k]!;
		const p = i * frames.pose.width + 7 * body;
		const v = i * velocity.width + offset;
		const { data } = frames.pose;
		const angle = residual(data, p, p + frames.pose.width, velocity.data, v, v + velocity.width, dt, scratch);
		if (angle > worst) worst = angle;
		if (angle > TURN_LIMIT && concerned.length < 5) concerned.push(bodies[body]!.name);
	}
	values.push([worst], 0);
	if (worst <= TURN_LIMIT) return;
	if (i < values.count) values.data[i] = Math.max(values.data[i]!, worst);
	turns.text =
		`between ticks these bodies turn in a way that the ticks do not resolve: ${concerned.join(", ")}; ` +
		"what is shown between ticks may be another motion. Play more slowly";
}

function* tracks(replay: Replay): Generator<Track> {
	const { frames, signals, arrows } = replay;
	yield frames.t;
	yield frames.pose;
	if (frames.velocity[0]) yield frames.velocity[0].values;
	for (const { values } of frames.eta) yield values;
	for (const { values } of signals) yield values;
	if (replay.turns) yield replay.turns.signal.values;
	for (const { at, vector } of arrows) {
		yield at;
		yield vector;
	}
}

export function tickLength(replay: Replay): number {
	return (
		16 +
		8 * replay.signals.length +
		4 * replay.frames.pose.width +
		4 * (replay.frames.velocity[0]?.values.width ?? 0) +
		4 * replay.etaSize +
		24 * replay.arrows.length
	);
}
