// SPDX-License-Identifier: Apache-2.0

/** A column of samples; the first one is the time. */
export interface Column {
	readonly name: string; // "q:hinge", "node:arm/tip.x"
	readonly unit: string; // "rad"; "1": none
}

export interface RecordedColumn extends Column {
	readonly values: Float64Array;
}

/** What a reader or an import says about a model that it took. */
export interface Note {
	readonly kind: "warning" | "ignored" | "assumed" | "changed" | "missing";
	readonly place: string; // "arm.urdf:12:3"; "": in the text
	readonly element?: string; // joint "elbow"
	readonly text: string;
}

/** What there is to doubt about a run so far. */
export interface Doubt {
	readonly kind: string;
	readonly object: string; // "": all of the run
	readonly time: number; // when it was first seen [s]
	readonly text: string;
}

export interface Parameter {
	readonly index: number;
	readonly name: string; // "joint:hinge.damping", "group:main.gravity.z"
	readonly unit: string;
	readonly value: number;
}

export interface LoadOptions {
	/** Stands for the text in messages: "arm.yaml". Files that the model names are sought beside it. */
	name?: string;
	/** How the root link of a robot file is tied to the ground where the file does not say; "fixed" by default. */
	base?: "fixed" | "free";
	/** What cannot be taken over from a robot file is a note, not an error. */
	partial?: boolean;
	/** Parameters of the model can be changed, and commands of a viewer are obeyed. Takes more memory. */
	interactive?: boolean;
	/** The files that the model names: meshes, tables, subsystems, by their paths. */
	files?: Record<string, Uint8Array | string>;
}

/** The library refused something, or the numerics failed. The message is that of the command line. */
export class CalderError extends Error {
	readonly status: number; // > 0: the numerics; < 0: the model or the caller
	readonly file: string | null;
	readonly line: number | null; // from 1
	readonly column: number | null; // from 1
}

/** A model that can be run. */
export class Run {
	private constructor();
	/** Releases its memory; it cannot be used any more. */
	delete(): void;

	readonly title: string;
	/** [s] */
	readonly time: number;
	/** How long the model says that it runs [s]. */
	readonly duration: number;
	/** Time between samples, as the model says [s]; 0: it does not. */
	readonly interval: number;
	/** An event of the model has ended the run. */
	readonly stopped: boolean;
	readonly notes: Note[];
	readonly doubts: Doubt[];
	/** The model as a model file of Calder, whatever it was read from. */
	readonly modelText: string;

	/** Until time t [s] exactly, or until an event ends the run. */
	advance(t: number): void;
	/** One step of the integrator, not beyond a time [s]. */
	step(limit?: number): void;

	/** Adds columns by the names of signals: "q", "energy", "node:arm/tip.x". */
	addSignals(...names: string[]): void;
	readonly columns: Column[];
	/** The values of all columns now. */
	sample(): Float64Array;
	/** Advances, and takes the columns at even times, at the start and at the end. */
	record(options?: { until?: number; interval?: number }): RecordedColumn[];

	/** Coordinates and speeds of all groups: q and u of the first, of the second, … */
	readonly state: Float64Array;
	/** All that the run consists of. A run of the same model that restores it continues bit-identically. */
	save(): Uint8Array;
	restore(saved: Uint8Array): void;

	readonly parameters: Parameter[];
	/** Those of the model can be changed if it was loaded with `interactive`, those of devices always. */
	setParameter(name: string, value: number): void;

	/** The document of a live run with the columns so far (docs/replay.md, "Live"). */
	readonly document: object;
	/** After `document`: the bytes of a tick. */
	tick(): Uint8Array;
	/** Does what a command of a viewer says, JSON; returns the messages to the viewer. */
	command(command: string): object[];
	/** Messages about events since the last call. */
	events(): object[];
}

/** The library, compiled once. Every model gets a memory of its own. */
export class Calder {
	constructor(module: WebAssembly.Module);
	version(): Promise<string>;
	/** Reads a model in any format: model file (YAML, JSON), URDF, MJCF, SDFormat. Throws a CalderError with the place. */
	load(text: string, options?: LoadOptions): Promise<Run>;
}

/** source: the bytes of calder.wasm, what fetch() returns for them, or a module that is compiled. */
export function createCalder(
	source: BufferSource | WebAssembly.Module | Response | Promise<Response>,
): Promise<Calder>;

/** Whether this engine has registers of 128 bits: take calder-simd.wasm then. */
export function hasSimd(): boolean;
