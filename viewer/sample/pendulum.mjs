// SPDX-License-Identifier: Apache-2.0
/*
 * pendulum.mjs — a double pendulum: two bodies without shapes of their own but one, nodes, joints, signals, a second
 * run.
 */
import { head, pack, turn } from "./pack.mjs";

const N = 301,
	LENGTH = 1;

function motion(phase) {
	const t = [],
		pose = [],
		q1 = [],
		q2 = [];
	for (let k = 0; k < N; k++) {
		const s = (k * 10) / (N - 1);
		const a = 0.9 * Math.cos(2.2 * s + phase),
			b = 0.6 * Math.cos(3.7 * s + phase);
		const tip = [LENGTH * Math.sin(a), 0, -LENGTH * Math.cos(a)];
		t.push(s);
		q1.push(a);
		q2.push(b - a);
		pose.push(0, 0, 0, ...turn(0, -1, 0, a), ...tip, ...turn(0, -1, 0, b));
	}
	return { t, q1, q2, frames: { t: pack("f64", [N], t), pose: pack("f32", [N, 2, 7], pose) } };
}

export function make() {
	const run = motion(0),
		other = motion(0.15);
	const signals = (m) => [
		{ name: "q:upper", unit: "rad", about: { kind: "joint", name: "upper" }, values: pack("f64", [N], m.q1) },
		{ name: "q:lower", unit: "rad", about: { kind: "joint", name: "lower" }, values: pack("f64", [N], m.q2) },
		{
			name: "energy:total",
			unit: "J",
			about: { kind: "system" },
			values: pack(
				"f64",
				[N],
				m.t.map((s) => -9.81 + 1e-10 * Math.sin(9 * s)),
			),
		},
	];
	return {
		...head("Double pendulum", "double_pendulum.yaml"),
		bodies: [
			{
				name: "upper arm",
				parent: -1,
				shapes: [
					{ kind: "box", at: [0, 0, -0.5], dimensions: [0.06, 0.06, 1] },
					{ kind: "cylinder", orientation: turn(1, 0, 0, Math.PI / 2), dimensions: [0.06, 0.12] },
				],
				nodes: [{ name: "tip", at: [0, 0, -1] }],
			},
			{ name: "lower arm", parent: 0, nodes: [{ name: "tip", at: [0, 0, -1] }] },
		],
		joints: [
			{ name: "upper", type: "revolute", from: { body: -1 }, to: { body: 0 }, axis: [0, 1, 0] },
			{ name: "lower", type: "revolute", from: { body: 0, node: 0 }, to: { body: 1 }, axis: [0, 1, 0] },
		],
		frames: run.frames,
		signals: signals(run),
		badges: [
			{
				label: "Energy drift",
				unit: "J",
				good: 1e-8,
				values: pack(
					"f64",
					[N],
					run.t.map((s) => 1e-10 * Math.sin(9 * s)),
				),
			},
		],
		ghost: { title: "started later", frames: other.frames, signals: signals(other) },
	};
}
