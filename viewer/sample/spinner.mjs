// SPDX-License-Identifier: Apache-2.0
/*
 * spinner.mjs — bodies that turn far between frames, of which exact poses are known at every time. Frames are 2 s apart.
 */
import { head, pack, turn } from "./pack.mjs";

export const STEP = 2;
export const COUNT = 11;
const AXIS = [1 / 3, 2 / 3, 2 / 3];

/** Angle [rad], rate [rad/s] and axis, and whether the body goes round the z axis at 1 m. */
export const BODIES = [
	{ name: "rotor", axis: AXIS, angle: (t) => 3 * t, rate: () => 3, arm: 0 }, // 6 rad between frames
	{ name: "starting", axis: AXIS, angle: (t) => t + 0.5 * t * t, rate: (t) => 1 + t, arm: 0 }, // up to 40 rad
	{ name: "arm", axis: [0, 0, 1], angle: (t) => -0.25 * t, rate: () => -0.25, arm: 1 },
	{ name: "slow", axis: AXIS, angle: (t) => 0.01 * t, rate: () => 0.01, arm: 0 },
];

export const poseAt = ({ axis, angle, arm }, t) => [
	arm * Math.cos(angle(t)),
	arm * Math.sin(angle(t)),
	0,
	...turn(...axis, angle(t)),
];

const velocityAt = ({ axis, angle, rate, arm }, t) => [
	-arm * rate(t) * Math.sin(angle(t)),
	arm * rate(t) * Math.cos(angle(t)),
	0,
	...axis.map((a) => a * rate(t)),
];

export function make() {
	const times = Array.from({ length: COUNT }, (_, i) => STEP * i);
	return {
		...head("Spinner", "spinner.yaml"),
		bodies: BODIES.map(({ name }) => ({ name, shapes: [{ kind: "box", dimensions: [0.4, 0.2, 0.1] }] })),
		frames: {
			t: pack("f64", [COUNT], times),
			pose: pack(
				"f32",
				[COUNT, BODIES.length, 7],
				times.flatMap((t) => BODIES.flatMap((b) => poseAt(b, t))),
			),
			velocity: BODIES.slice(0, 3).map((b, body) => ({
				body,
				values: pack(
					"f32",
					[COUNT, 6],
					times.flatMap((t) => velocityAt(b, t)),
				),
			})),
		},
	};
}
