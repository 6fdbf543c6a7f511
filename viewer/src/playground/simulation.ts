// SPDX-License-Identifier: Apache-2.0
/*
 * simulation.ts — the page's side of the simulation in the worker: requests with answers, and the socket by which the viewer
 * watches it as it watches a server.
 */
import type { LiveSocket } from "../live.js";
import type { Answer, Note, Request } from "./worker.js";
import SimulationWorker from "./worker.ts?worker&inline";

/** Why a text is no model, and where. */
export class ModelError extends Error {
	readonly file: string | null;
	readonly line: number | null;
	readonly column: number | null;

	constructor({ message, file, line, column }: Extract<Answer, { kind: "failed" }>) {
		super(message);
		this.file = file;
		this.line = line;
		this.column = column;
	}
}

export interface Loaded {
	title: string;
	notes: Note[];
}

export interface Model {
	name: string;
	text: string;
	files: Record<string, Uint8Array>;
}

/** The module from the page: gzip in base64. */
async function embeddedModule(): Promise<ArrayBuffer> {
	const text = document.getElementById("calder-wasm")?.textContent?.trim() ?? "";
	const packed = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
	return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

type LoadedAnswer = Extract<Answer, { kind: "loaded" | "checked" }>;
type Waiting = { resolve: (answer: Answer) => void; reject: (error: Error) => void };

export class Simulation {
	private readonly worker = new SimulationWorker();
	private readonly waiting = new Map<number, Waiting>();
	private socket: WorkerSocket | null = null;
	private next = 1;
	private readonly ready: Promise<void>;

	constructor() {
		this.worker.onmessage = (event: MessageEvent<Answer>) => this.take(event.data);
		this.worker.onerror = (event) => this.fail(new Error(event.message || "the simulation cannot be started here"));
		this.ready = embeddedModule().then((bytes) => this.post({ kind: "module", bytes }));
	}

	private post(request: Request): void {
		this.worker.postMessage(request);
	}

	/** Nobody waits any longer. */
	private fail(error: Error): void {
		for (const { reject } of this.waiting.values()) reject(error);
		this.waiting.clear();
	}

	private async ask<T extends Answer>(make: (id: number) => Request): Promise<T> {
		await this.ready;
		const id = this.next++;
		return new Promise((resolve, reject) => {
			this.waiting.set(id, { resolve: resolve as (answer: Answer) => void, reject });
			this.post(make(id));
		});
	}

	/** Reads a model, which then is the one that runs; it starts when somebody opens a socket. */
	load(model: Model): Promise<Loaded> {
		return this.ask<LoadedAnswer>((id) => ({ kind: "load", id, ...model }));
	}

	/** The same without running it. */
	check(model: Model): Promise<Loaded> {
		return this.ask<LoadedAnswer>((id) => ({ kind: "check", id, ...model }));
	}

	/** The model that runs as a model file. */
	async convert(): Promise<string> {
		return (await this.ask<Extract<Answer, { kind: "converted" }>>((id) => ({ kind: "convert", id }))).text;
	}

	open(): LiveSocket {
		this.socket?.end();
		this.socket = new WorkerSocket((request) => this.post(request));
		return this.socket;
	}

	private take(answer: Answer): void {
		if (answer.kind === "say") return this.socket?.take(answer.text);
		if (answer.kind === "tick") return this.socket?.take(answer.buffer);
		const waiting = this.waiting.get(answer.id);
		this.waiting.delete(answer.id);
		if (answer.kind === "failed") waiting?.reject(new ModelError(answer));
		else waiting?.resolve(answer);
	}
}

class WorkerSocket implements LiveSocket {
	binaryType = "arraybuffer";
	readyState = 0;
	onopen: ((event: Event) => void) | null = null;
	onmessage: ((event: MessageEvent<string | ArrayBuffer>) => void) | null = null;
	onclose: ((event: CloseEvent) => void) | null = null;
	private readonly post: (request: Request) => void;

	constructor(post: (request: Request) => void) {
		this.post = post;
		queueMicrotask(() => {
			if (this.readyState !== 0) return;
			this.readyState = WebSocket.OPEN;
			this.onopen?.(new Event("open"));
			post({ kind: "begin" });
		});
	}

	send(text: string): void {
		this.post({ kind: "command", text });
	}

	take(data: string | ArrayBuffer): void {
		if (this.readyState === WebSocket.OPEN) this.onmessage?.(new MessageEvent("message", { data }));
	}

	end(): void {
		this.readyState = WebSocket.CLOSED;
	}

	close(): void {
		this.end();
	}
}
