// SPDX-License-Identifier: Apache-2.0
/*
 * index.js — Calder in JavaScript: models from texts, runs, signals, states, parameters. The interface is described in
 * index.d.ts; what the module exports is in calder_wasm.h.
 */
import { normalize, Wasi } from "./wasi.js";

const BASE_FREE = 1, PARTIAL = 2, INTERACTIVE = 4;

/** The library refused something, or the numerics failed. */
export class CalderError extends Error {
	/**
	 * @param {string} text
	 * @param {number} status
	 */
	constructor(text, status) {
		super(text);
		this.name = "CalderError";
		this.status = status;
		const place = /^([^\n"]*?):(\d+):(\d+): /.exec(text);
		this.file = place ? place[1] : null;
		this.line = place ? Number(place[2]) : null;
		this.column = place ? Number(place[3]) : null;
	}
}

/** @typedef {Record<string, (...values: number[]) => number>} Functions */

/** An instance of the module with its memory. */
class Machine {
	/**
	 * @param {WebAssembly.Instance} instance
	 * @param {Wasi} wasi
	 */
	constructor(instance, wasi) {
		this.wasi = wasi;
		this.memory = /** @type {WebAssembly.Memory} */ (instance.exports.memory);
		this.f = /** @type {Functions} */ (/** @type {unknown} */ (instance.exports));
		wasi.memory = this.memory;
		this.f._initialize();
	}

	/** @param {number} at */
	text(at) {
		if (at === 0) return "";
		const bytes = new Uint8Array(this.memory.buffer);
		return new TextDecoder().decode(bytes.slice(at, bytes.indexOf(0, at)));
	}

	/**
	 * Calls `use` with the address and length of bytes in the memory.
	 * @template T
	 * @param {Uint8Array} bytes
	 * @param {(at: number, length: number) => T} use
	 * @returns {T}
	 */
	withBytes(bytes, use) {
		const at = this.f.malloc(bytes.length + 1);
		if (at === 0) throw new CalderError("out of memory", -1);
		try {
			const memory = new Uint8Array(this.memory.buffer, at, bytes.length + 1);
			memory.set(bytes);
			memory[bytes.length] = 0;
			return use(at, bytes.length);
		} finally {
			this.f.free(at);
		}
	}

	/**
	 * @template T
	 * @param {string} text
	 * @param {(at: number, length: number) => T} use
	 * @returns {T}
	 */
	withText(text, use) {
		return this.withBytes(new TextEncoder().encode(text), use);
	}

	/**
	 * @param {number} at
	 * @param {number} count
	 */
	numbers(at, count) {
		return new Float64Array(this.memory.buffer, at, count).slice();
	}
}

/** A model that can be run. */
export class Run {
	/** @type {Machine} */
	#m;
	#run;

	/** @param {Machine} machine */
	constructor(machine) {
		this.#m = machine;
		this.#run = machine.f.calder_new();
		if (this.#run === 0) throw new CalderError("out of memory", -1);
	}

	#fail(status = -1) {
		return new CalderError(this.#m.text(this.#m.f.calder_error(this.#run)) || "out of memory", status);
	}

	/** @param {number} status */
	#check(status) {
		if (status !== 0) throw this.#fail(status);
	}

	/** @param {number} at */
	#json(at) {
		if (at === 0) throw this.#fail();
		return JSON.parse(this.#m.text(at));
	}

	/**
	 * @param {string} text
	 * @param {{name?: string, base?: "fixed" | "free", partial?: boolean, interactive?: boolean}} options
	 */
	load(text, { name = "model", base = "fixed", partial = false, interactive = false } = {}) {
		const options = (base === "free" ? BASE_FREE : 0) | (partial ? PARTIAL : 0) | (interactive ? INTERACTIVE : 0);
		this.#check(
			this.#m.withText(name, (nameAt) =>
				this.#m.withText(text, (at, length) => this.#m.f.calder_load(this.#run, at, length, nameAt, options)),
			),
		);
		return this;
	}

	delete() {
		this.#m.f.calder_delete(this.#run);
		this.#run = 0;
	}

	get title() {
		return this.#m.text(this.#m.f.calder_title(this.#run));
	}
	get time() {
		return this.#m.f.calder_time(this.#run);
	}
	get duration() {
		return this.#m.f.calder_duration(this.#run);
	}
	get interval() {
		return this.#m.f.calder_interval(this.#run);
	}
	get stopped() {
		return this.#m.f.calder_stopped(this.#run) !== 0;
	}
	get notes() {
		return this.#json(this.#m.f.calder_notes(this.#run));
	}
	get doubts() {
		return this.#json(this.#m.f.calder_doubts(this.#run));
	}
	get modelText() {
		const at = this.#m.f.calder_model_text(this.#run);
		if (at === 0) throw this.#fail();
		return this.#m.text(at);
	}

	/** @param {number} t */
	advance(t) {
		this.#check(this.#m.f.calder_advance(this.#run, t));
	}

	/** @param {number} limit */
	step(limit = Infinity) {
		this.#check(this.#m.f.calder_step(this.#run, limit));
	}

	/** @param {string[]} names */
	addSignals(...names) {
		for (const name of names)
			this.#check(this.#m.withText(name, (at) => this.#m.f.calder_add_signal(this.#run, at)));
	}

	get columns() {
		return Array.from({ length: this.#m.f.calder_column_count(this.#run) }, (_, i) => ({
			name: this.#m.text(this.#m.f.calder_column_name(this.#run, i)),
			unit: this.#m.text(this.#m.f.calder_column_unit(this.#run, i)),
		}));
	}

	sample() {
		const at = this.#m.f.calder_sample(this.#run);
		if (at === 0) throw this.#fail();
		return this.#m.numbers(at, this.#m.f.calder_column_count(this.#run));
	}

	/** @param {{until?: number, interval?: number}} options */
	record({ until = this.duration, interval = this.interval || this.duration / 100 } = {}) {
		const columns = this.columns;
		/** @type {number[][]} */
		const values = columns.map(() => []);
		const start = this.time;
		const take = () => this.sample().forEach((value, i) => values[i].push(value));
		take();
		for (let i = 1; this.time < until && !this.stopped; i++) {
			const t = start + i * interval;
			this.advance(until - t < 1e-9 * interval ? until : t);
			take();
		}
		return columns.map((column, i) => ({ ...column, values: Float64Array.from(values[i]) }));
	}

	get state() {
		const at = this.#m.f.calder_state(this.#run);
		if (at === 0) throw this.#fail();
		return this.#m.numbers(at, this.#m.f.calder_state_size(this.#run));
	}

	save() {
		const size = this.#m.f.calder_save(this.#run);
		if (size === 0) throw this.#fail();
		return new Uint8Array(this.#m.memory.buffer, this.#m.f.calder_saved(this.#run), size).slice();
	}

	/** @param {Uint8Array} bytes */
	restore(bytes) {
		this.#check(this.#m.withBytes(bytes, (at, length) => this.#m.f.calder_restore(this.#run, at, length)));
	}

	get parameters() {
		return Array.from({ length: this.#m.f.calder_parameter_count(this.#run) }, (_, index) => ({
			index,
			name: this.#m.text(this.#m.f.calder_parameter_name(this.#run, index)),
			unit: this.#m.text(this.#m.f.calder_parameter_unit(this.#run, index)),
			value: this.#m.f.calder_parameter(this.#run, index),
		}));
	}

	/**
	 * @param {string} name
	 * @param {number} value
	 */
	setParameter(name, value) {
		const found = this.parameters.find((p) => p.name === name);
		if (!found) throw new CalderError(`there is no parameter "${name}"`, -1);
		this.#check(this.#m.f.calder_set_parameter(this.#run, found.index, value));
	}

	/* ---- for a viewer ------------------------------------------------------------------------ */

	get document() {
		return this.#json(this.#m.f.calder_document(this.#run));
	}

	tick() {
		const at = this.#m.f.calder_tick(this.#run);
		if (at === 0) throw this.#fail();
		return new Uint8Array(this.#m.memory.buffer, at, this.#m.f.calder_tick_size(this.#run)).slice();
	}

	/** @param {string} command */
	command(command) {
		return this.#json(this.#m.withText(command, (at) => this.#m.f.calder_command(this.#run, at)));
	}

	events() {
		return this.#json(this.#m.f.calder_events(this.#run));
	}
}

/** The library, compiled once; every model gets a memory of its own. */
export class Calder {
	/** @param {WebAssembly.Module} module */
	constructor(module) {
		this.module = module;
	}

	/** @param {Record<string, Uint8Array | string>} files */
	async #machine(files = {}) {
		const encoder = new TextEncoder();
		const wasi = new Wasi({
			files: new Map(
				Object.entries(files).map(([path, content]) => [
					normalize(path),
					typeof content === "string" ? encoder.encode(content) : content,
				]),
			),
		});
		return new Machine(await WebAssembly.instantiate(this.module, wasi.imports(this.module)), wasi);
	}

	async version() {
		const machine = await this.#machine();
		return machine.text(machine.f.calder_version());
	}

	/**
	 * @param {string} text
	 * @param {{name?: string, base?: "fixed" | "free", partial?: boolean, interactive?: boolean,
	 *          files?: Record<string, Uint8Array | string>}} options
	 */
	async load(text, { files = {}, ...options } = {}) {
		return new Run(await this.#machine(files)).load(text, options);
	}
}

/** @param {BufferSource | WebAssembly.Module | Response | Promise<Response>} source */
export async function createCalder(source) {
	const given = await source;
	if (given instanceof WebAssembly.Module) return new Calder(given);
	const bytes = typeof Response === "function" && given instanceof Response ? await given.arrayBuffer() : given;
	return new Calder(await WebAssembly.compile(/** @type {BufferSource} */ (bytes)));
}

/** Whether this engine has registers of 128 bits: take calder-simd.wasm then. */
export function hasSimd() {
	// A function that drops a vector: (module (func v128.const i64x2 0 0 drop))
	return WebAssembly.validate(
		new Uint8Array([
			0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 10, 23, 1, 21, 0, 253, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
			0, 0, 0, 0, 0, 0, 26, 11,
		]),
	);
}
