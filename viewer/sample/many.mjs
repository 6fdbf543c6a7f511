// SPDX-License-Identifier: Apache-2.0
/*
 * many.mjs — 500 bodies in chains, all moving, for the time that a frame takes.
 */
import { head, on, pack, turn } from "./pack.mjs";

export function make(count = 500, frames = 300) {
	const bodies = [],
		joints = [],
		t = [],
		pose = [];
	const CHAIN = 25;
	for (let i = 0; i < count; i++) {
		const first = i % CHAIN === 0;
		bodies.push({
			name: `link ${i + 1}`,
			group: `chain ${Math.floor(i / CHAIN) + 1}`,
			parent: first ? -1 : i - 1,
			shapes: [
				i % 3 === 0
					? { kind: "capsule", at: [0, 0, -0.25], dimensions: [0.07, 0.36] }
					: i % 3 === 1
						? { kind: "box", at: [0, 0, -0.25], dimensions: [0.14, 0.14, 0.48] }
						: { kind: "cylinder", at: [0, 0, -0.25], dimensions: [0.08, 0.48] },
				{ kind: "sphere", dimensions: [0.1] },
			],
			nodes: [{ name: "end", at: [0, 0, -0.5] }],
		});
		joints.push({
			name: `hinge ${i + 1}`,
			type: "universal",
			from: first ? { body: -1, at: root(i) } : { body: i - 1, node: 0 },
			to: { body: i },
			axis: [0, 1, 0],
		});
	}
	function root(i) {
		const k = Math.floor(i / CHAIN);
		return [(k % 5) * 3, Math.floor(k / 5) * 3, 6];
	}
	for (let f = 0; f < frames; f++) {
		const s = f / 30;
		t.push(s);
		let last = null;
		for (let i = 0; i < count; i++) {
			const q = turn(Math.sin(i), Math.cos(i * 0.3), 0.01, 0.14 * Math.sin(1.7 * s + i * 0.2));
			last = i % CHAIN === 0 ? { at: root(i), q } : on(last, [0, 0, -0.5], q);
			pose.push(...last.at, ...last.q);
		}
	}
	return {
		...head(`${count} bodies`, "many.yaml"),
		bodies,
		joints,
		frames: { t: pack("f64", [frames], t), pose: pack("f32", [frames, count, 7], pose) },
		signals: [
			{
				name: "energy:total",
				unit: "J",
				values: pack(
					"f64",
					[frames],
					t.map((s) => Math.cos(s)),
				),
			},
		],
	};
}
