// SPDX-License-Identifier: Apache-2.0
/*
 * replay.ts — a decoded run: typed arrays instead of base64, defaults filled in, indices checked.
 *
 * The ground is a body too, after the others: body index -1 of the document is index `bodies.length - 1` here, and
 * its pose never changes. That spares every place below a special case.
 */
import type { AboutKind, ArrowKind, EventKind, ShapeKind, TopologyChange } from "./document.js";
import type { MassProperties } from "./mass.js";
import type { ViewSettings } from "./view_settings.js";
import type { Track } from "./track.js";

export interface Placement {
	at: Float32Array; // [3]
	orientation: Float32Array; // [4] w x y z, normalized
}

export interface Shape extends Placement {
	kind: ShapeKind;
	dimensions: number[];
	color: string | null;
	opacity: number;
	mesh: number; // -1: none
	points: Float32Array | null; // of a line
}

export interface BodyNode extends Placement {
	name: string;
	shapes: Float32Array | null; // [m 6]
}

export interface Flexible {
	modes: number;
	points: Float32Array; // [n 3]
	shapes: Float32Array; // [m n components]
	components: 3 | 6;
	frequencies: number[]; // [Hz], 0: none
	vectors: Float32Array | null; // [frequencies.length m]; null: the coordinates are the modes
	damping: number[] | null;
	names: string[];
	triangles: Uint32Array;
	lines: Uint32Array;
	thickness: number; // [m], 0: the viewer's choice
	strain: Float32Array | null; // [m n measures]
	measures: number;
	strainUnit: string;
	stiffness: Float32Array | null; // [m m]
	color: string | null;
	etaOffset: number; // of its coordinates in Sample.eta
}

export interface Body {
	index: number;
	name: string;
	group: string;
	parent: number; // -1: none, the ground only
	color: string | null;
	mass: MassProperties | null; // null: the document does not say
	shapes: Shape[];
	nodes: BodyNode[];
	flexible: Flexible | null;
	present: Float64Array | null; // [start, end, …]
}

export interface Mesh {
	name: string;
	vertices: Float32Array;
	triangles: Uint32Array;
}

export interface End extends Placement {
	body: number;
	node: number; // -1: placed by itself
}

export interface Dof {
	name: string;
	unit: string;
	min: number;
	max: number;
	value: number;
	command: boolean;
}

export interface Joint {
	index: number;
	name: string;
	type: string;
	from: End;
	to: End;
	axis: Float32Array | null;
	present: Float64Array | null;
	dofs: Dof[];
}

export interface Signal {
	index: number;
	name: string;
	unit: string; // "": none
	kind: AboutKind;
	about: string;
	t: Track;
	values: Track;
}

export interface Arrow {
	name: string;
	kind: ArrowKind;
	unit: string;
	aboutKind: AboutKind | "";
	about: string;
	at: Track;
	vector: Track;
}

export interface RunEvent {
	t: number;
	name: string;
	text: string;
	kind: EventKind;
	kineticLost: number; // NaN: not given
}

export interface Badge {
	label: string;
	text: string;
	good: number;
	signal: Signal;
}

export interface EtaTrack {
	body: number;
	modes: number;
	offset: number; // in Sample.eta
	values: Track;
}

export interface VelocityTrack {
	body: number;
	offset: number; // of its 6 numbers in a row of values
	values: Track; // linear, then angular
}

export interface Frames {
	t: Track;
	pose: Track; // bodies without the ground, 7 each
	velocity: VelocityTrack[]; // of bodies that turn fast
	eta: EtaTrack[];
	origin: Track | null;
	topology: TopologyChange[];
}

export interface Replay {
	title: string;
	software: string;
	created: string;
	modelName: string;
	up: "x" | "y" | "z";
	bodies: Body[]; // the last one is the ground
	meshes: Mesh[];
	joints: Joint[];
	loops: Joint[];
	frames: Frames;
	etaSize: number;
	signals: Signal[];
	arrows: Arrow[];
	events: RunEvent[];
	badges: Badge[];
	turns: Badge | null; // of a live run: rotations between ticks that the ticks do not resolve; also one of badges
	ghost: Replay | null;
	view: ViewSettings;
	forcePerMeter: number; // of dragging in a live run [N/m]
}

/** Whether something with these intervals exists at t. */
export function isPresent(intervals: Float64Array | null, t: number): boolean {
	if (!intervals) return true;
	for (let i = 0; i + 1 < intervals.length; i += 2) if (t >= intervals[i]! && t <= intervals[i + 1]!) return true;
	return false;
}
