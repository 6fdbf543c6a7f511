// SPDX-License-Identifier: Apache-2.0
/*
 * station.mjs — a station with about fifty bodies: modules, a truss, flexible solar arrays on rotary joints, a
 * flexible seven-joint arm that takes a free flyer, berths it and lets go. Events, arrows, a change of topology,
 * modes, a loop.
 */
import { add, compose, head, on, pack, rotate, turn } from "./pack.mjs";

const FPS = 20,
	DURATION = 60,
	N = DURATION * FPS + 1;
const CAPTURE = 20,
	BERTH = 40,
	RELEASE = 50;
const smooth = (t, a, b) => {
	const s = Math.min(1, Math.max(0, (t - a) / (b - a)));
	return s * s * s * (10 + s * (6 * s - 15));
};

/* ---- geometry ------------------------------------------------------------------------------ */

const along = (axis) =>
	axis === "x" ? turn(0, 1, 0, Math.PI / 2) : axis === "y" ? turn(1, 0, 0, -Math.PI / 2) : [1, 0, 0, 0];
const tube = (radius, length, axis, at = [0, 0, 0], color) => ({
	kind: "cylinder",
	at,
	orientation: along(axis),
	dimensions: [radius, length],
	...(color ? { color } : {}),
});
const box = (x, y, z, at = [0, 0, 0], color) => ({
	kind: "box",
	at,
	dimensions: [x, y, z],
	...(color ? { color } : {}),
});

/** A panel of nx by ny cells in x (span) and y, clamped at x = 0: three bending modes and one of torsion. */
function panel(span, width, nx, ny, color) {
	const points = [],
		triangles = [],
		lines = [];
	for (let i = 0; i <= nx; i++) for (let j = 0; j <= ny; j++) points.push((span * i) / nx, width * (j / ny - 0.5), 0);
	const id = (i, j) => i * (ny + 1) + j;
	for (let i = 0; i < nx; i++)
		for (let j = 0; j < ny; j++)
			triangles.push(id(i, j), id(i + 1, j), id(i + 1, j + 1), id(i, j), id(i + 1, j + 1), id(i, j + 1));
	for (let i = 0; i <= nx; i++) for (let j = 0; j < ny; j++) lines.push(id(i, j), id(i, j + 1));
	for (let i = 0; i < nx; i++) for (const j of [0, ny]) lines.push(id(i, j), id(i + 1, j));
	const n = points.length / 3;
	const shapes = [],
		strain = [];
	for (let m = 0; m < 4; m++) {
		for (let k = 0; k < n; k++) {
			const x = points[k * 3] / span,
				y = points[k * 3 + 1];
			const w =
				m === 3 ? ((2 * y) / width) * x * x : ((1 - Math.cos((m + 0.5) * Math.PI * x)) / 2) * (m % 2 ? 1 : 1);
			shapes.push(0, 0, w);
		}
		for (let k = 0; k < n; k++) {
			const x = points[k * 3] / span;
			strain.push(
				m === 3
					? 0.6 * (points[k * 3 + 1] / width)
					: (((m + 0.5) * Math.PI) ** 2 / 2) * Math.cos((m + 0.5) * Math.PI * x),
			);
		}
	}
	return {
		frequencies: [0.11, 0.68, 1.9, 0.43],
		damping: [0.005, 0.005, 0.005, 0.005],
		names: ["bending 1", "bending 2", "bending 3", "torsion 1"],
		points: pack("f32", [n, 3], points),
		triangles: pack("u16", [triangles.length / 3, 3], triangles),
		lines: pack("u16", [lines.length / 2, 2], lines),
		shapes: pack("f32", [4, n, 3], shapes),
		strain: pack("f32", [4, n, 1], strain),
		strain_unit: "J/m^2",
		color,
	};
}

/** A boom along x, clamped at its root: bending in y and z, with rotations. */
function boom(length, diameter, color) {
	const n = 15,
		points = [],
		lines = [],
		shapes = [],
		strain = [];
	for (let k = 0; k < n; k++) points.push((length * k) / (n - 1), 0, 0);
	for (let k = 0; k + 1 < n; k++) lines.push(k, k + 1);
	const parts = [0.5, 0.5, 1.5, 1.5];
	parts.forEach((p, m) => {
		for (let k = 0; k < n; k++) {
			const x = k / (n - 1),
				w = 1 - Math.cos(p * Math.PI * x),
				slope = (p * Math.PI * Math.sin(p * Math.PI * x)) / length;
			shapes.push(...(m % 2 ? [0, 0, w, 0, -slope, 0] : [0, w, 0, 0, 0, slope]));
		}
	});
	parts.forEach((p, m) => {
		for (let k = 0; k < n; k++) {
			const c = ((p * Math.PI) / length) ** 2 * Math.cos((p * Math.PI * k) / (n - 1)) * 1e3;
			strain.push(...(m % 2 ? [0, c] : [c, 0]));
		}
	});
	return {
		frequencies: [2.1, 2.1, 13.4, 13.4],
		damping: [0.01, 0.01, 0.01, 0.01],
		names: ["bending y 1", "bending z 1", "bending y 2", "bending z 2"],
		points: pack("f32", [n, 3], points),
		lines: pack("i32", [n - 1, 2], lines),
		thickness: diameter,
		shapes: pack("f32", [4, n, 6], shapes),
		strain: pack("f32", [4, n, 2], strain),
		strain_unit: "J/m",
		color,
	};
}

/** A dish as a triangle mesh. */
function dish() {
	const vertices = [],
		triangles = [],
		rings = 6,
		sides = 24;
	for (let r = 0; r <= rings; r++)
		for (let s = 0; s < sides; s++) {
			const rho = r / rings,
				a = (2 * Math.PI * s) / sides;
			vertices.push(rho * Math.cos(a), rho * Math.sin(a), 0.45 * rho * rho);
		}
	for (let r = 0; r < rings; r++)
		for (let s = 0; s < sides; s++) {
			const a = r * sides + s,
				b = r * sides + ((s + 1) % sides);
			triangles.push(a, a + sides, b + sides, a, b + sides, b);
		}
	return {
		name: "dish",
		vertices: pack("f32", [vertices.length / 3, 3], vertices),
		triangles: pack("i32", [triangles.length / 3, 3], triangles),
	};
}

/* ---- the model ----------------------------------------------------------------------------- */

const bodies = [],
	joints = [];
const place = []; // of each body on its parent: (t) => {at, q}
const WHITE = "#d7dbe0",
	GOLD = "#c79a3b",
	BLUE = "#3c5f9e",
	GREY = "#9aa3ae",
	ARM = "#e4e2da",
	DARK = "#59626d";

function body(name, parent, shapes, at, options = {}) {
	const index = bodies.length;
	const fixed = { at, q: options.q ?? [1, 0, 0, 0] };
	bodies.push({
		name,
		group: options.group ?? "station",
		parent,
		shapes,
		...(options.nodes ? { nodes: options.nodes } : {}),
		...(options.flexible ? { flexible: options.flexible } : {}),
	});
	place.push(options.move ?? (() => fixed));
	if (parent >= 0)
		joints.push({
			name: options.joint ?? `${name} mount`,
			type: options.type ?? "weld",
			from: { body: parent, at },
			to: { body: index },
			...(options.axis ? { axis: options.axis } : {}),
		});
	return index;
}

const core = body(
	"core module",
	-1,
	[tube(2.1, 11, "x", [0, 0, 0], WHITE), tube(1.2, 1, "x", [6, 0, 0], GREY), tube(1.2, 1, "x", [-6, 0, 0], GREY)],
	[0, 0, 0],
	{
		nodes: [
			{ name: "forward port", at: [6.5, 0, 0] },
			{ name: "nadir port", at: [3, 0, -2.2] },
			{ name: "arm base", at: [3.2, 0, 2.2] },
		],
		move: (t) => ({ at: [0, 0, 0], q: turn(0.2, 1, 0.1, 0.02 * Math.sin(0.1 * t)) }),
	},
);
const lab = body(
	"laboratory",
	core,
	[tube(2.1, 8, "x", [0, 0, 0], WHITE), tube(2.16, 0.5, "x", [2, 0, 0], GOLD)],
	[10.6, 0, 0],
);
body(
	"node module",
	core,
	[tube(1.9, 5, "x", [0, 0, 0], WHITE), { kind: "sphere", at: [0, 0, -1.6], dimensions: [1], color: DARK }],
	[-9, 0, 0],
);
body("habitat", core, [{ kind: "capsule", orientation: along("y"), dimensions: [1.9, 5], color: WHITE }], [-9, 5.8, 0]);
body(
	"airlock",
	core,
	[
		tube(1.2, 3.4, "y", [0, 0, 0], GREY),
		{ kind: "cone", at: [0, -2.2, 0], orientation: turn(1, 0, 0, Math.PI / 2), dimensions: [1.2, 1], color: GREY },
	],
	[-9, -4, 0],
);
body(
	"antenna",
	lab,
	[{ kind: "mesh", mesh: 0, dimensions: [1.6, 1.6, 1.6], color: WHITE }, tube(0.06, 1.2, "z", [0, 0, -0.6], DARK)],
	[-2.6, 0, 3.4],
);

// Truss: five segments each way, arrays on the second and the last.
const arrays = [];
for (const side of [1, -1]) {
	let parent = core;
	for (let k = 0; k < 5; k++) {
		const at = k === 0 ? [0, side * 5, 3.4] : [0, side * 6, 0];
		parent = body(`truss ${side > 0 ? "P" : "S"}${k + 1}`, parent, trussShapes(), at);
		if (k !== 2 && k !== 4) continue;
		const gimbal = body(
			`array drive ${side > 0 ? "P" : "S"}${k + 1}`,
			parent,
			[tube(0.5, 1.6, "y", [0, 0, 0], DARK)],
			[0, side * 3.6, 0],
			{
				joint: `alpha ${side > 0 ? "P" : "S"}${k + 1}`,
				type: "revolute",
				axis: [0, 1, 0],
				move: (t) => ({ at: [0, side * 3.6, 0], q: turn(0, 1, 0, 0.35 + 0.01 * t) }),
			},
		);
		for (const wing of [1, -1])
			arrays.push({
				body: body(
					`solar array ${side > 0 ? "P" : "S"}${k + 1}${wing > 0 ? "a" : "b"}`,
					gimbal,
					[],
					[wing * 0.8, 0, 0],
					{
						joint: `beta ${side > 0 ? "P" : "S"}${k + 1}${wing > 0 ? "a" : "b"}`,
						type: "revolute",
						axis: [1, 0, 0],
						q: wing > 0 ? [1, 0, 0, 0] : turn(0, 0, 1, Math.PI),
						flexible: panel(15, 4.2, 18, 4, k === 2 ? BLUE : "#35558f"),
						nodes: [
							{
								name: "tip",
								at: [15, 0, 0],
								shapes: pack(
									"f32",
									[4, 6],
									[0, 0, 0.5, 0, 0, 0, 0, 0, 0.5, 0, 0, 0, 0, 0, 0.5, 0, 0, 0, 0, 0, 0, 0, 0, 0],
								),
							},
						],
					},
				),
				side,
				wing,
				k,
			});
	}
	body(
		`radiator ${side > 0 ? "P" : "S"}`,
		core,
		[box(0.12, 3, 7, [0, 0, 0], "#eef0f2"), box(0.3, 0.2, 7, [0, 0, 0], GREY)],
		[-3.6, side * 5.5, -1.2],
	);
}

function trussShapes() {
	const shapes = [];
	for (const x of [-0.9, 0.9]) for (const z of [-0.9, 0.9]) shapes.push(box(0.16, 6, 0.16, [x, 0, z], GREY));
	for (const y of [-2.9, 0, 2.9]) for (const z of [-0.9, 0.9]) shapes.push(box(1.9, 0.14, 0.14, [0, y, z], GREY));
	for (const y of [-2.9, 0, 2.9]) for (const x of [-0.9, 0.9]) shapes.push(box(0.14, 0.14, 1.9, [x, y, 0], GREY));
	shapes.push({
		kind: "line",
		points: [
			[-0.9, -2.9, 0.9],
			[0.9, 0, 0.9],
			[-0.9, 2.9, 0.9],
		],
		dimensions: [0.09],
		color: DARK,
	});
	return shapes;
}

for (let k = 0; k < 12; k++)
	body(
		`payload ${k + 1}`,
		k < 6 ? lab : core,
		[box(0.7, 0.9, 0.6, [0, 0, 0], k % 3 ? GOLD : DARK)],
		[-3 + (k % 6) * 1.1, k < 6 ? 0 : -1.2, k < 6 ? -2.35 : 2.2],
	);

/* ---- the arm ------------------------------------------------------------------------------- */

// Angles from a story in five poses; the two booms are flexible.
const POSES = [
	[0, [0.9, 0.1, 0.9, -1.4, 0.3, 0.2, 0]],
	[16, [0.55, -0.1, 1.0, -0.75, -0.1, -0.25, 0.4]],
	[CAPTURE + 4, [0.55, -0.1, 1.02, -0.77, -0.1, -0.25, 0.4]],
	[BERTH, [0, 0, 1.1, -1.5, -1.17, 0, 0]],
	[RELEASE + 2, [0, 0, 1.1, -1.5, -1.17, 0, 0]],
	[DURATION, [0.5, 0.05, 1.0, -1.3, -0.2, 0.1, 0]],
];
const angle = (i, t) => {
	let value = POSES[0][1][i];
	for (let k = 0; k + 1 < POSES.length; k++)
		value += (POSES[k + 1][1][i] - POSES[k][1][i]) * smooth(t, POSES[k][0], POSES[k + 1][0]);
	return value;
};
const LINKS = [
	["shoulder roll", [0, 0, 1], [0, 0, 0.6]],
	["shoulder yaw", [1, 0, 0], [0, 0, 0.7]],
	["shoulder pitch", [0, -1, 0], [7.1, 0, 0]],
	["elbow pitch", [0, -1, 0], [7.1, 0, 0]],
	["wrist pitch", [0, -1, 0], [0.6, 0, 0]],
	["wrist yaw", [0, 0, 1], [0.6, 0, 0]],
	["wrist roll", [1, 0, 0], [0.7, 0, 0]],
];
const arm = [];
LINKS.forEach(([name, axis, next], i) => {
	const parent = i === 0 ? core : arm[i - 1];
	const at = i === 0 ? [3.2, 0, 2.2] : LINKS[i - 1][2];
	const flexible = i === 2 || i === 3 ? boom(7.1, 0.36, ARM) : undefined;
	const joint = tube(0.28, 0.7, axis[1] ? "y" : axis[2] ? "z" : "x", [0, 0, 0], DARK);
	const shapes = flexible
		? [joint]
		: [
				joint,
				...(next[2]
					? [tube(0.2, next[2], "z", [0, 0, next[2] / 2], ARM)]
					: [tube(0.2, next[0], "x", [next[0] / 2, 0, 0], ARM)]),
			];
	if (i === 6) shapes.push(tube(0.34, 0.5, "x", [0.75, 0, 0], GOLD));
	const end = flexible
		? {
				name: "end",
				at: next,
				shapes: pack(
					"f32",
					[4, 6],
					[0, 1, 0, 0, 0, 0.22, 0, 0, 1, 0, -0.22, 0, 0, 1, 0, 0, 0, -0.66, 0, 0, 1, 0, 0.66, 0],
				),
			}
		: { name: "end", at: i === 6 ? [1, 0, 0] : next };
	arm.push(
		body(`arm ${name}`, parent, shapes, at, {
			joint: name,
			type: "revolute",
			axis,
			flexible,
			nodes: [end],
			move: (t) => ({ at, q: turn(...axis, angle(i, t)) }),
		}),
	);
});

/* ---- the free flyer ------------------------------------------------------------------------ */

const flyer = bodies.length;
const GRAB = [1.9, 0, 0]; // of the flyer on the end effector
bodies.push({
	name: "free flyer",
	group: "free flyer",
	parent: -1,
	shapes: [
		box(1.6, 1.3, 1.3, [0, 0, 0], GOLD),
		tube(0.5, 0.4, "x", [-0.95, 0, 0], DARK),
		box(0.06, 4.2, 1, [0.3, 0, 0], BLUE),
		{ kind: "cone", at: [1, 0, 0], orientation: turn(0, 1, 0, -Math.PI / 2), dimensions: [0.35, 0.5], color: DARK },
	],
	nodes: [
		{ name: "grapple", at: [-0.9, 0, 0] },
		{ name: "berth", at: [0.8, 0, 0] },
	],
});

/* ---- motion -------------------------------------------------------------------------------- */

function etaOf(t) {
	const ring = (start, f, zeta, size) =>
		t < start
			? 0
			: size * Math.exp(-zeta * 2 * Math.PI * f * (t - start)) * Math.sin(2 * Math.PI * f * (t - start));
	const shake = (f, size) =>
		ring(0, f, 0.01, size * 0.35) +
		ring(CAPTURE, f, 0.008, size) +
		ring(BERTH, f, 0.008, size * 0.5) +
		ring(RELEASE, f, 0.008, size * 0.6);
	return {
		panel: [shake(0.11, 0.9), shake(0.68, 0.16), shake(1.9, 0.04), shake(0.43, 0.12)],
		boom: [shake(2.1, 0.02), shake(2.1, 0.03), shake(13.4, 0.002), shake(13.4, 0.002)],
	};
}

function poseAll(t) {
	const world = [];
	const { boom: e } = etaOf(t);
	for (let i = 0; i < flyer; i++) {
		const local = place[i](t);
		const base = bodies[i].parent < 0 ? { at: [0, 0, 0], q: [1, 0, 0, 0] } : world[bodies[i].parent];
		// What follows a flexible boom moves with its tip.
		const bent = bodies[i].parent === arm[2] || bodies[i].parent === arm[3];
		const at = bent ? add(local.at, [0, e[0] + e[2], e[1] + e[3]]) : local.at;
		const q = bent
			? compose(turn(0, -(e[1] * 0.22) || 1e-9, e[0] * 0.22, Math.hypot(e[0], e[1]) * 0.22 + 1e-12), local.q)
			: local.q;
		world.push(on(base, at, q));
	}
	return world;
}

const held = (t) => on(poseAll(t)[arm[6]], GRAB);
function flyerAt(t) {
	if (t >= CAPTURE && t <= RELEASE) return held(t);
	const from = held(t < CAPTURE ? CAPTURE : RELEASE);
	const s = t - (t < CAPTURE ? CAPTURE : RELEASE);
	const drift = t < CAPTURE ? [-0.22, -0.12, -0.16] : [0.1, 0.05, 0.4];
	return {
		at: add(
			from.at,
			drift.map((v) => v * s),
		),
		q: compose(turn(0.3, 1, 0.2, (t < CAPTURE ? 0.04 : 0.05) * s), from.q),
	};
}

export function make() {
	const t = [],
		pose = [],
		panels = [],
		booms = [],
		force = [],
		forceAt = [],
		torque = [],
		torqueAt = [],
		reaction = [],
		reactionAt = [],
		contact = [],
		contactAt = [];
	const angles = LINKS.map(() => []),
		tip = [],
		energy = [],
		momentum = [],
		residual = [];
	for (let k = 0; k < N; k++) {
		const s = k / FPS;
		const world = [...poseAll(s), flyerAt(s)];
		const { panel: p, boom: b } = etaOf(s);
		t.push(s);
		for (const { at, q } of world) pose.push(...at, ...q);
		panels.push(...p);
		booms.push(...b);
		LINKS.forEach((_, i) => angles[i].push(angle(i, s)));
		tip.push(0.5 * (p[0] + p[1] + p[2]));
		const hold = s >= CAPTURE && s <= RELEASE;
		const pull = hold ? 40 * Math.exp(-0.15 * (s - CAPTURE)) * Math.cos(1.3 * (s - CAPTURE)) : 0;
		reactionAt.push(...world[arm[6]].at);
		reaction.push(...rotate(world[arm[6]].q, [pull, pull * 0.4, 6 * p[0]]));
		torqueAt.push(...world[arm[0]].at);
		torque.push(0, 30 * Math.sin(0.2 * s), 60 * p[0] + 12);
		forceAt.push(...world[flyer].at);
		force.push(...rotate(world[flyer].q, s > RELEASE && s < RELEASE + 4 ? [-9, 0, 0] : [0, 0, 0]));
		contactAt.push(...world[flyer].at);
		contact.push(...(s >= BERTH && s < RELEASE ? [0, 0, 14 + 5 * Math.sin(3 * s)] : [0, 0, 0]));
		energy.push(1e-7 * Math.sin(0.7 * s) * (1 + 0.02 * s));
		momentum.push(3e-13 * Math.sqrt(s + 0.1));
		residual.push(s >= BERTH && s < RELEASE ? 2e-11 * (1 + Math.sin(5 * s)) : 0);
	}
	const f64 = (v) => pack("f64", [N], v);
	const vec = (v) => pack("f32", [N, 3], v);
	// A signal with times of its own: an arm's speed at a fifth of the rate.
	const coarse = t.filter((_, i) => i % 5 === 0);
	const signals = [
		...LINKS.map(([name], i) => ({
			name: `q:${name}`,
			unit: "rad",
			about: { kind: "joint", name },
			t: "frames",
			values: f64(angles[i]),
		})),
		{
			name: "deflection:solar array P3a/tip",
			unit: "m",
			about: { kind: "node", name: "solar array P3a/tip" },
			values: f64(tip),
		},
		{
			name: "reaction:wrist roll",
			unit: "N",
			about: { kind: "joint", name: "wrist roll" },
			values: f64(t.map((_, i) => Math.hypot(...reaction.slice(i * 3, i * 3 + 3)))),
		},
		{
			name: "u:shoulder pitch",
			unit: "rad/s",
			about: { kind: "joint", name: "shoulder pitch" },
			t: pack("f64", [coarse.length], coarse),
			values: pack(
				"f64",
				[coarse.length],
				coarse.map((s) => (angle(2, s + 0.01) - angle(2, s - 0.01)) / 0.02),
			),
		},
		{ name: "energy:drift", unit: "J", about: { kind: "system" }, values: f64(energy) },
		{ name: "momentum:drift", unit: "N*m*s", about: { kind: "system" }, values: f64(momentum) },
		{ name: "residual:berth", unit: "m", about: { kind: "loop", name: "berth" }, values: f64(residual) },
	];
	const drift = signals.findIndex((s) => s.name === "energy:drift");
	return {
		...head("Capture and berthing", "station.yaml"),
		bodies,
		meshes: [dish()],
		joints,
		loops: [
			{
				name: "berth",
				type: "weld",
				from: { body: lab, at: [2.3, 0, 2.2] },
				to: { body: flyer, node: 1 },
				present: [[BERTH, RELEASE]],
			},
		],
		frames: {
			t: f64(t),
			pose: pack("f32", [N, bodies.length, 7], pose),
			eta: [
				...arrays.map(({ body: index, side, wing }) => ({
					body: index,
					values: pack(
						"f32",
						[N, 4],
						panels.map((v, i) => v * (i % 4 === 3 ? side * wing : 1)),
					),
				})),
				...[arm[2], arm[3]].map((index) => ({ body: index, values: pack("f32", [N, 4], booms) })),
			],
			topology: [
				{ t: CAPTURE, body: flyer, parent: arm[6], group: "station" },
				{ t: RELEASE, body: flyer, parent: -1, group: "free flyer" },
			],
		},
		signals,
		arrows: [
			{
				name: "wrist",
				kind: "reaction",
				about: { kind: "joint", name: "wrist roll" },
				at: vec(reactionAt),
				vector: vec(reaction),
			},
			{
				name: "shoulder",
				kind: "moment",
				about: { kind: "joint", name: "shoulder roll" },
				at: vec(torqueAt),
				vector: vec(torque),
			},
			{
				name: "thruster",
				kind: "force",
				about: { kind: "body", name: "free flyer" },
				at: vec(forceAt),
				vector: vec(force),
			},
			{
				name: "berth contact",
				kind: "contact",
				about: { kind: "body", name: "free flyer" },
				at: vec(contactAt),
				vector: vec(contact),
			},
		],
		events: [
			{ t: 12, name: "Approach", text: "The arm tracks the free flyer.", kind: "other" },
			{
				t: CAPTURE,
				name: "Capture",
				text: "The end effector takes the free flyer; momentum is kept.",
				kind: "attach",
				kinetic_lost: 12.4,
			},
			{ t: CAPTURE + 6, name: "Damped", text: "The arm has taken out the relative motion.", kind: "lock" },
			{
				t: BERTH,
				name: "Berthing",
				text: "The free flyer touches the port; arm and port hold it: a closed loop.",
				kind: "attach",
				kinetic_lost: 0.6,
			},
			{ t: RELEASE, name: "Release", text: "The arm lets go.", kind: "detach" },
		],
		badges: [
			{ label: "Energy", good: 1e-6, signal: drift, text: "Drift of the total energy less the work done." },
			{ label: "Momentum", good: 1e-9, signal: drift + 1, text: "Change of the angular momentum of all bodies." },
			{ label: "Loops", good: 1e-8, signal: drift + 2, text: "Largest residual of the closed loops." },
		],
	};
}
