// SPDX-License-Identifier: Apache-2.0
/*
 * decode.ts — from the JSON document to a Replay. Every complaint names the place in the document: a replay may come
 * from anywhere, and a wrong index must end here and not in the drawing loop.
 */
import type { AboutKind, ArrowKind, EventKind, ShapeKind, TopologyChange } from "./document.js";
import type {
	Arrow,
	Badge,
	Body,
	BodyNode,
	Dof,
	End,
	EtaTrack,
	Flexible,
	Frames,
	Joint,
	Mesh,
	Placement,
	Replay,
	RunEvent,
	Shape,
	Signal,
	VelocityTrack,
} from "./replay.js";
import { decodeMass } from "./mass.js";
import { Track } from "./track.js";
import { decodeViewSettings } from "./view_settings.js";
import { TURN_LIMIT } from "./turn.js";
import {
	choice,
	color,
	dict,
	doubles,
	fail,
	floats,
	index,
	indices,
	list,
	number,
	numbers,
	shaped,
	text,
	type Dict,
} from "./values.js";

const SHAPES: readonly ShapeKind[] = ["box", "sphere", "cylinder", "capsule", "cone", "plane", "mesh", "line"];
const ABOUT: readonly AboutKind[] = ["joint", "node", "body", "group", "loop", "device", "system"];
const ARROWS: readonly ArrowKind[] = ["force", "moment", "reaction", "contact"];
const EVENTS: readonly EventKind[] = ["attach", "detach", "lock", "other"];

/* ---- placements ---------------------------------------------------------------------------- */

function vector(value: unknown, size: number, place: string): Float32Array {
	const all = list(value, place);
	if (all.length !== size) fail(place, `has ${all.length} numbers instead of ${size}`);
	return Float32Array.from(all.map((v, i) => number(v, `${place}[${i}]`)));
}

function placement(from: Dict, place: string): Placement {
	const at = from.at === undefined ? new Float32Array(3) : vector(from.at, 3, `${place}.at`);
	if (from.orientation === undefined) return { at, orientation: new Float32Array([1, 0, 0, 0]) };
	const orientation = vector(from.orientation, 4, `${place}.orientation`);
	const length = Math.hypot(...orientation);
	if (!(length > 0)) fail(`${place}.orientation`, "is zero");
	return { at, orientation: orientation.map((v) => v / length) };
}

function intervals(value: unknown, place: string): Float64Array | null {
	if (value === undefined || value === null) return null;
	const flat: number[] = [];
	list(value, place).forEach((pair, i) => {
		const ends = list(pair, `${place}[${i}]`);
		flat.push(number(ends[0], `${place}[${i}][0]`, -Infinity), number(ends[1], `${place}[${i}][1]`, Infinity));
	});
	return Float64Array.from(flat);
}

/* ---- bodies -------------------------------------------------------------------------------- */

const DIMENSIONS: Record<ShapeKind, number> = {
	box: 3,
	sphere: 1,
	cylinder: 2,
	capsule: 2,
	cone: 2,
	plane: 0,
	mesh: 0,
	line: 0,
};

function decodeShape(value: unknown, meshCount: number, place: string): Shape {
	const from = dict(value, place);
	const kind = choice(from.kind, SHAPES, `${place}.kind`);
	const dimensions = list(from.dimensions, `${place}.dimensions`).map((v, i) =>
		number(v, `${place}.dimensions[${i}]`),
	);
	if (dimensions.length < DIMENSIONS[kind])
		fail(`${place}.dimensions`, `a ${kind} needs ${DIMENSIONS[kind]} of them`);
	return {
		...placement(from, place),
		kind,
		dimensions,
		color: color(from.color, `${place}.color`),
		opacity: Math.min(1, Math.max(0, number(from.opacity, `${place}.opacity`, 1))),
		mesh: kind === "mesh" ? index(from.mesh, meshCount, `${place}.mesh`) : -1,
		points: kind === "line" ? floats(shaped(from.points, [-1, 3], `${place}.points`).data) : null,
	};
}

function decodeNode(value: unknown, modes: number, place: string): BodyNode {
	const from = dict(value, place);
	const shapes =
		from.shapes === undefined || modes === 0
			? null
			: floats(shaped(from.shapes, [modes, 6], `${place}.shapes`).data);
	return { ...placement(from, place), name: text(from.name, `${place}.name`), shapes };
}

function stiffness(value: unknown, modes: number, place: string): Float32Array | null {
	if (value === undefined || value === null) return null;
	const array = numbers(value, place);
	const full = new Float32Array(modes * modes);
	if (array.data.length === modes * modes) full.set(array.data);
	else if (array.data.length === modes) for (let i = 0; i < modes; i++) full[i * modes + i] = array.data[i]!;
	else fail(place, `has ${array.data.length} numbers for ${modes} modes`);
	return full;
}

function modeNames(value: unknown, modes: number, place: string): string[] {
	const given = list(value, place);
	return Array.from({ length: modes }, (_, i) => text(given[i], `${place}[${i}]`, `mode ${i + 1}`));
}

function decodeFlexible(value: unknown, place: string): Flexible | null {
	if (value === undefined || value === null) return null;
	const from = dict(value, place);
	const points = floats(shaped(from.points, [-1, 3], `${place}.points`).data);
	const count = points.length / 3;
	const shapes = numbers(from.shapes, `${place}.shapes`);
	const [modes = 0, n = 0, components = 0] = shapes.shape;
	if (shapes.shape.length !== 3 || n !== count || (components !== 3 && components !== 6))
		fail(`${place}.shapes`, `has the shape [${shapes.shape.join(", ")}] instead of [modes, ${count}, 3 or 6]`);
	const strain = from.strain === undefined ? null : shaped(from.strain, [modes, count, -1], `${place}.strain`);
	const frequencies = list(from.frequencies, `${place}.frequencies`).map((v, i) =>
		number(v, `${place}.frequencies[${i}]`, 0),
	);
	const vectors = from.modes === undefined ? null : shaped(from.modes, [-1, modes], `${place}.modes`);
	const shown = vectors ? vectors.shape[0]! : modes;
	return {
		modes,
		points,
		shapes: floats(shapes.data),
		components,
		frequencies: Array.from({ length: shown }, (_, i) => frequencies[i] ?? 0),
		vectors: vectors ? floats(vectors.data) : null,
		damping:
			from.damping === undefined
				? null
				: list(from.damping, `${place}.damping`).map((v, i) => number(v, `${place}.damping[${i}]`)),
		names: modeNames(from.names, shown, `${place}.names`),
		triangles: indices(from.triangles, 3, count, `${place}.triangles`),
		lines: indices(from.lines, 2, count, `${place}.lines`),
		thickness: number(from.thickness, `${place}.thickness`, 0),
		strain: strain ? floats(strain.data) : null,
		measures: strain ? (strain.shape[2] ?? 0) : 0,
		strainUnit: text(from.strain_unit, `${place}.strain_unit`, ""),
		stiffness: stiffness(from.stiffness, modes, `${place}.stiffness`),
		color: color(from.color, `${place}.color`),
		etaOffset: 0,
	};
}

function bodyIndex(value: unknown, ground: number, place: string, fallback?: number): number {
	const n = number(value, place, fallback);
	return n === -1 ? ground : index(n, ground, place);
}

function decodeBody(value: unknown, i: number, ground: number, meshCount: number, place: string): Body {
	const from = dict(value, place);
	const flexible = decodeFlexible(from.flexible, `${place}.flexible`);
	return {
		index: i,
		name: text(from.name, `${place}.name`),
		group: text(from.group, `${place}.group`, ""),
		parent: i === ground ? -1 : bodyIndex(from.parent, ground, `${place}.parent`, -1),
		color: color(from.color, `${place}.color`),
		mass: decodeMass(from, place),
		shapes: list(from.shapes, `${place}.shapes`).map((s, k) => decodeShape(s, meshCount, `${place}.shapes[${k}]`)),
		nodes: list(from.nodes, `${place}.nodes`).map((s, k) =>
			decodeNode(s, flexible?.modes ?? 0, `${place}.nodes[${k}]`),
		),
		flexible,
		present: null,
	};
}

function decodeBodies(root: Dict, meshCount: number): { bodies: Body[]; etaSize: number } {
	if (root.bodies === undefined) fail("bodies", "is missing");
	const given = list(root.bodies, "bodies");
	const bodies = given.map((b, i) => decodeBody(b, i, given.length, meshCount, `bodies[${i}]`));
	const ground = { name: "ground", ...(root.ground === undefined ? {} : dict(root.ground, "ground")) };
	bodies.push(decodeBody(ground, given.length, given.length, meshCount, "ground"));
	let etaSize = 0;
	for (const body of bodies) {
		if (!body.flexible) continue;
		body.flexible.etaOffset = etaSize;
		etaSize += body.flexible.modes;
	}
	return { bodies, etaSize };
}

function decodeMesh(value: unknown, place: string): Mesh {
	const from = dict(value, place);
	const vertices = floats(shaped(from.vertices, [-1, 3], `${place}.vertices`).data);
	const triangles = indices(from.triangles, 3, vertices.length / 3, `${place}.triangles`);
	return { name: text(from.name, `${place}.name`, ""), vertices, triangles };
}

/* ---- joints -------------------------------------------------------------------------------- */

function decodeEnd(value: unknown, bodies: Body[], place: string): End {
	const from = dict(value, place);
	const body = bodyIndex(from.body, bodies.length - 1, `${place}.body`);
	if (from.node === undefined) return { ...placement(from, place), body, node: -1 };
	const nodes = bodies[body]!.nodes;
	const node = index(from.node, nodes.length, `${place}.node`);
	return { at: nodes[node]!.at, orientation: nodes[node]!.orientation, body, node };
}

function decodeDof(value: unknown, i: number, place: string): Dof {
	const from = dict(value, place);
	return {
		name: text(from.name, `${place}.name`, `dof ${i + 1}`),
		unit: text(from.unit, `${place}.unit`, ""),
		min: number(from.min, `${place}.min`, -Math.PI),
		max: number(from.max, `${place}.max`, Math.PI),
		value: number(from.value, `${place}.value`, 0),
		command: from.command === true,
	};
}

function decodeJoint(value: unknown, i: number, bodies: Body[], place: string): Joint {
	const from = dict(value, place);
	return {
		index: i,
		name: text(from.name, `${place}.name`),
		type: text(from.type, `${place}.type`, ""),
		from: decodeEnd(from.from, bodies, `${place}.from`),
		to: decodeEnd(from.to, bodies, `${place}.to`),
		axis: from.axis === undefined ? null : vector(from.axis, 3, `${place}.axis`),
		present: intervals(from.present, `${place}.present`),
		dofs: list(from.dofs, `${place}.dofs`).map((d, k) => decodeDof(d, k, `${place}.dofs[${k}]`)),
	};
}

/* ---- what changes over time ---------------------------------------------------------------- */

export function decodeTopology(value: unknown, ground: number, place: string): TopologyChange {
	const from = dict(value, place);
	const change: TopologyChange = { t: number(from.t, `${place}.t`), body: index(from.body, ground, `${place}.body`) };
	if (from.parent !== undefined) change.parent = bodyIndex(from.parent, ground, `${place}.parent`);
	if (from.group !== undefined) change.group = text(from.group, `${place}.group`);
	return change;
}

function decodeEta(value: unknown, bodies: Body[], count: number, place: string): EtaTrack {
	const from = dict(value, place);
	const body = index(from.body, bodies.length - 1, `${place}.body`);
	const flexible = bodies[body]!.flexible;
	if (!flexible) fail(`${place}.body`, `"${bodies[body]!.name}" is not flexible`);
	const values = floats(shaped(from.values, [count, flexible.modes], `${place}.values`).data);
	return {
		body,
		modes: flexible.modes,
		offset: flexible.etaOffset,
		values: new Track(values, flexible.modes, count),
	};
}

function decodeVelocity(value: unknown, bodies: Body[], count: number, place: string): VelocityTrack {
	const from = dict(value, place);
	const body = index(from.body, bodies.length - 1, `${place}.body`);
	const values = floats(shaped(from.values, [count, 6], `${place}.values`).data);
	return { body, offset: 0, values: new Track(values, 6, count) };
}

function decodeFrames(value: unknown, bodies: Body[]): Frames {
	const from = dict(value, "frames");
	const ground = bodies.length - 1;
	const t = doubles(shaped(from.t, [-1], "frames.t").data);
	const n = t.length;
	if (n === 0) fail("frames.t", "is empty");
	for (let i = 1; i < n; i++) if (!(t[i]! >= t[i - 1]!)) fail("frames.t", `decreases at ${i}`);
	const pose = ground === 0 ? new Float32Array(0) : floats(shaped(from.pose, [n, ground, 7], "frames.pose").data);
	list(from.present, "frames.present").forEach((entry, i) => {
		const place = `frames.present[${i}]`;
		const item = dict(entry, place);
		bodies[index(item.body, ground, `${place}.body`)]!.present = intervals(item.intervals, `${place}.intervals`);
	});
	const origin = from.origin === undefined ? null : doubles(shaped(from.origin, [n, 3], "frames.origin").data);
	return {
		t: new Track(t, 1, n),
		pose: new Track(pose, ground * 7, n),
		velocity: list(from.velocity, "frames.velocity").map((v, i) =>
			decodeVelocity(v, bodies, n, `frames.velocity[${i}]`),
		),
		eta: list(from.eta, "frames.eta").map((e, i) => decodeEta(e, bodies, n, `frames.eta[${i}]`)),
		origin: origin ? new Track(origin, 3, n) : null,
		topology: list(from.topology, "frames.topology")
			.map((c, i) => decodeTopology(c, ground, `frames.topology[${i}]`))
			.sort((a, b) => a.t - b.t),
	};
}

/** velocity: ticks have the velocities of all bodies. */
function emptyFrames(bodies: Body[], velocity: boolean): Frames {
	const eta: EtaTrack[] = [];
	const values = Track.empty((bodies.length - 1) * 6, false);
	for (const { index: body, flexible } of bodies) {
		if (flexible)
			eta.push({
				body,
				modes: flexible.modes,
				offset: flexible.etaOffset,
				values: Track.empty(flexible.modes, false),
			});
	}
	return {
		t: Track.empty(1, true),
		pose: Track.empty((bodies.length - 1) * 7, false),
		velocity: velocity ? bodies.slice(0, -1).map((_, body) => ({ body, offset: 6 * body, values })) : [],
		eta,
		origin: null,
		topology: [],
	};
}

function about(value: unknown, place: string): { kind: AboutKind | ""; about: string } {
	if (value === undefined || value === null) return { kind: "", about: "" };
	const from = dict(value, place);
	return { kind: choice(from.kind, ABOUT, `${place}.kind`), about: text(from.name, `${place}.name`, "") };
}

const unitText = (value: unknown, place: string, fallback: string): string => {
	const unit = text(value, place, fallback);
	return unit === "1" ? "" : unit;
};

function decodeTimes(value: unknown, place: string): Track {
	const times = doubles(shaped(value, [-1], place).data);
	return new Track(times, 1, times.length);
}

/** Times of a signal: those of the frames, shared ones by their number, or its own. */
function signalTimes(value: unknown, frames: Frames, shared: Track[], place: string): Track {
	if (value === undefined || value === "frames") return frames.t;
	return typeof value === "number" ? shared[index(value, shared.length, place)]! : decodeTimes(value, place);
}

function decodeSignal(
	value: unknown,
	i: number,
	frames: Frames,
	shared: Track[],
	live: boolean,
	place: string,
): Signal {
	const from = dict(value, place);
	const t = signalTimes(from.t, frames, shared, `${place}.t`);
	const values = live
		? Track.empty(1, true)
		: new Track(doubles(shaped(from.values, [t.count], `${place}.values`).data), 1, t.count);
	const { kind, about: name } = about(from.about, `${place}.about`);
	const unit = unitText(from.unit, `${place}.unit`, "");
	return { index: i, name: text(from.name, `${place}.name`), unit, kind: kind || "system", about: name, t, values };
}

function decodeArrow(value: unknown, frames: Frames, live: boolean, place: string): Arrow {
	const from = dict(value, place);
	const kind = choice(from.kind, ARROWS, `${place}.kind`, "force");
	const n = frames.t.count;
	const track = (key: string): Track =>
		live ? Track.empty(3, false) : new Track(floats(shaped(from[key], [n, 3], `${place}.${key}`).data), 3, n);
	const { kind: aboutKind, about: name } = about(from.about, `${place}.about`);
	return {
		name: text(from.name, `${place}.name`),
		kind,
		unit: unitText(from.unit, `${place}.unit`, kind === "moment" ? "N*m" : "N"),
		aboutKind,
		about: name,
		at: track("at"),
		vector: track("vector"),
	};
}

export function decodeEvent(value: unknown, place: string): RunEvent {
	const from = dict(value, place);
	return {
		t: number(from.t, `${place}.t`),
		name: text(from.name, `${place}.name`),
		text: text(from.text, `${place}.text`, ""),
		kind: choice(from.kind, EVENTS, `${place}.kind`, "other"),
		kineticLost: number(from.kinetic_lost, `${place}.kinetic_lost`, NaN),
	};
}

function decodeBadge(value: unknown, signals: Signal[], frames: Frames, live: boolean, place: string): Badge {
	const from = dict(value, place);
	const label = text(from.label, `${place}.label`);
	const unit = unitText(from.unit, `${place}.unit`, "");
	let signal: Signal;
	if (from.signal !== undefined) {
		signal = signals[index(from.signal, signals.length, `${place}.signal`)]!;
	} else {
		if (live) fail(`${place}.signal`, "is missing; a live badge shows a signal");
		const values = doubles(shaped(from.values, [frames.t.count], `${place}.values`).data);
		signal = {
			index: signals.length,
			name: label,
			unit,
			kind: "system",
			about: "",
			t: frames.t,
			values: new Track(values, 1, values.length),
		};
		signals.push(signal);
	}
	return {
		label,
		text: text(from.text, `${place}.text`, ""),
		good: number(from.good, `${place}.good`, Infinity),
		signal,
	};
}

/** The badge of a live run whose ticks have velocities; its values come with the ticks (live.ts). */
function turnBadge(frames: Frames): Badge | null {
	if (!frames.velocity.length) return null;
	const values = Track.empty(1, false);
	return {
		label: "Turns",
		text: "",
		good: TURN_LIMIT,
		signal: { index: -1, name: "Turns", unit: "rad", kind: "system", about: "", t: frames.t, values },
	};
}

/* ---- the whole ----------------------------------------------------------------------------- */

function checkFormat(root: Dict): void {
	if (root.format !== "calder-replay") fail("format", "this is not a Calder replay");
	if (root.version !== 1) fail("version", `is ${String(root.version)}; this viewer reads version 1`);
}

/** What a ghost does not say is as in the run. */
function decodeGhost(value: unknown, run: Dict): Replay | null {
	if (value === undefined || value === null) return null;
	const {
		ghost: _,
		joints: _j,
		loops: _l,
		signals: _s,
		arrows: _a,
		events: _e,
		badges: _b,
		frames: _f,
		view: _v,
		...shared
	} = run;
	const ghost = dict(value, "ghost");
	try {
		return decodeReplay({ ...shared, title: "second run", ...ghost, ghost: undefined }, false);
	} catch (error) {
		fail("ghost", (error as Error).message);
	}
}

export function decodeReplay(value: unknown, live: boolean): Replay {
	const root = dict(value, "document");
	checkFormat(root);
	const meshes = list(root.meshes, "meshes").map((m, i) => decodeMesh(m, `meshes[${i}]`));
	const { bodies, etaSize } = decodeBodies(root, meshes.length);
	if (!live && root.frames === undefined) fail("frames", "is missing");
	const drag = root.live === undefined ? {} : dict(root.live, "live");
	const frames = live ? emptyFrames(bodies, drag.velocity === true) : decodeFrames(root.frames, bodies);
	const times = list(root.times, "times").map((t, i) => decodeTimes(t, `times[${i}]`));
	const signals = list(root.signals, "signals").map((s, i) =>
		decodeSignal(s, i, frames, times, live, `signals[${i}]`),
	);
	const badges = list(root.badges, "badges").map((b, i) => decodeBadge(b, signals, frames, live, `badges[${i}]`));
	const turns = live ? turnBadge(frames) : null;
	if (turns) badges.push(turns);
	const events = list(root.events, "events")
		.map((e, i) => decodeEvent(e, `events[${i}]`))
		.sort((a, b) => a.t - b.t);
	const up = choice(root.up, ["x", "y", "z"] as const, "up", "z");
	return {
		title: text(root.title, "title", "") || text(root.model_name, "model_name", "") || "Untitled run",
		software: [text(root.software, "software", ""), text(root.software_version, "software_version", "")]
			.join(" ")
			.trim(),
		created: text(root.created, "created", ""),
		modelName: text(root.model_name, "model_name", ""),
		up,
		bodies,
		meshes,
		joints: list(root.joints, "joints").map((j, i) => decodeJoint(j, i, bodies, `joints[${i}]`)),
		loops: list(root.loops, "loops").map((j, i) => decodeJoint(j, i, bodies, `loops[${i}]`)),
		frames,
		etaSize,
		signals,
		arrows: list(root.arrows, "arrows").map((a, i) => decodeArrow(a, frames, live, `arrows[${i}]`)),
		events,
		view: decodeViewSettings(root.view, bodies.length - 1, events),
		badges,
		turns,
		ghost: live ? null : decodeGhost(root.ghost, root),
		forcePerMeter: number(drag.force_per_meter ?? drag.force_per_metre, "live.force_per_meter", 0),
	};
}
