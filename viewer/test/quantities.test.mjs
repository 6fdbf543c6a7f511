// SPDX-License-Identifier: Apache-2.0
/*
 * quantities.test.mjs — what the panel says about a body, without a browser: orientation, velocities, principal inertia;
 * round lengths of the scale bar. References are written down here, from their definitions.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { startModules } from "./modules.mjs";

let modules, decodeReplay, Sample, bodyRates, principalInertia, ellipsoidAxes, quaternionOf, eulerAngles;
let roundBelow, lengthText;
before(async () => {
	modules = await startModules();
	({ decodeReplay } = await modules.load("data/decode.ts"));
	({ Sample } = await modules.load("data/sample.ts"));
	({ bodyRates } = await modules.load("data/rates.ts"));
	({ principalInertia, ellipsoidAxes } = await modules.load("data/inertia.ts"));
	({ quaternionOf, eulerAngles } = await modules.load("data/angles.ts"));
	({ roundBelow, lengthText } = await modules.load("ui/scale_bar.ts"));
});
after(() => modules.close());

const near = (a, b, tolerance, what = "") =>
	assert.ok(Math.abs(a - b) <= tolerance, `${what} ${a} is not within ${tolerance} of ${b}`);
const multiply = (a, b) => a.map((row) => b[0].map((_, k) => row.reduce((s, v, i) => s + v * b[i][k], 0)));
const transpose = (a) => a[0].map((_, k) => a.map((row) => row[k]));
const about = {
	x: (a) => [
		[1, 0, 0],
		[0, Math.cos(a), -Math.sin(a)],
		[0, Math.sin(a), Math.cos(a)],
	],
	y: (a) => [
		[Math.cos(a), 0, Math.sin(a)],
		[0, 1, 0],
		[-Math.sin(a), 0, Math.cos(a)],
	],
	z: (a) => [
		[Math.cos(a), -Math.sin(a), 0],
		[Math.sin(a), Math.cos(a), 0],
		[0, 0, 1],
	],
};
const yawPitchRoll = (yaw, pitch, roll) => multiply(multiply(about.z(yaw), about.y(pitch)), about.x(roll));
const rows = (r) => r.flatMap((row) => [...row, 0]);

test("yaw, pitch and roll give the rotation back that they were made into", () => {
	for (const [yaw, pitch, roll] of [
		[0.3, -0.7, 2.9],
		[-3, 1.2, -0.1],
		[0, 0, 0],
		[1, -1.5, 0.5],
	]) {
		const found = eulerAngles(rows(yawPitchRoll(yaw, pitch, roll)));
		[yaw, pitch, roll].forEach((v, i) => near(found[i], v, 1e-9));
	}
	const [yaw, pitch, roll] = eulerAngles(rows(yawPitchRoll(0.4, Math.PI / 2, 0)));
	((near(yaw, 0.4, 1e-6), near(pitch, Math.PI / 2, 1e-6)), near(roll, 0, 0));
});

test("the quaternion of a rotation turns by it, whichever component is largest", () => {
	for (const [w, x, y, z] of [
		[0.9, 0.3, -0.2, 0.1],
		[0.1, -0.9, 0.3, 0.2],
		[0.2, 0.1, 0.95, -0.1],
		[0.05, 0.2, 0.1, -0.97],
	]) {
		const n = Math.hypot(w, x, y, z);
		const q = [w / n, x / n, y / n, z / n];
		// v' = v + 2 w (u x v) + 2 u x (u x v), column by column
		const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
		const u = q.slice(1);
		const columns = [0, 1, 2].map((k) => {
			const v = [0, 1, 2].map((i) => Number(i === k));
			const c = cross(u, v);
			const d = cross(u, c);
			return v.map((s, i) => s + 2 * q[0] * c[i] + 2 * d[i]);
		});
		quaternionOf(rows(transpose(columns))).forEach((v, i) => near(v, q[i], 1e-12));
	}
});

test("principal inertia: moments of a turned ellipsoid, its axes, and the ellipsoid back", () => {
	const [mass, a, b, c] = [7, 0.5, 1.5, 2.5];
	const moments = [(mass / 5) * (b * b + c * c), (mass / 5) * (a * a + c * c), (mass / 5) * (a * a + b * b)];
	for (const [yaw, pitch, roll] of [
		[0, 0, 0],
		[0.3, -0.7, 2.9],
		[1.2, 0.1, -2],
	]) {
		const r = yawPitchRoll(yaw, pitch, roll);
		const diagonal = moments.map((m, i) => moments.map((_, k) => (i === k ? m : 0)));
		const i = multiply(multiply(r, diagonal), transpose(r));
		const found = principalInertia([i[0][0], i[1][1], i[2][2], i[0][1], i[0][2], i[1][2]]);
		[...moments].sort((p, q) => p - q).forEach((m, k) => near(found.moments[k], m, 1e-12 * m));
		found.axes.forEach((axis, k) => {
			near(Math.hypot(...axis), 1, 1e-12);
			const turned = i.map((row) => row.reduce((s, v, n) => s + v * axis[n], 0));
			turned.forEach((v, n) => near(v, found.moments[k] * axis[n], 1e-12 * moments[0]));
		});
		const sizes = ellipsoidAxes(mass, found.moments);
		[c, b, a].forEach((v, k) => near(sizes[k], v, 1e-12));
	}
});

/** A body on a circle about z, which it faces: velocities are known. */
function circling(count, velocity) {
	const [radius, rate, end] = [2, 1.5, 2];
	const t = Array.from({ length: count }, (_, i) => (end * i) / (count - 1));
	const pose = t.map((s) => {
		const a = rate * s;
		return [[radius * Math.cos(a), radius * Math.sin(a), 0, Math.cos(a / 2), 0, 0, Math.sin(a / 2)]];
	});
	const frames = { t, pose };
	const rates = (s) => [-radius * rate * Math.sin(rate * s), radius * rate * Math.cos(rate * s), 0, 0, 0, rate];
	if (velocity) frames.velocity = [{ body: 0, values: t.map(rates) }];
	const replay = decodeReplay({ format: "calder-replay", version: 1, bodies: [{ name: "a" }], frames }, false);
	return { sample: new Sample(replay), rates };
}

test("velocities by differences are of second order, and recorded ones are taken", () => {
	const error = (count, velocity, source) => {
		const { sample, rates } = circling(count, velocity);
		const out = new Float64Array(6);
		let worst = 0;
		for (const time of [0.4, 1, 1.237]) {
			sample.at(time);
			assert.equal(bodyRates(sample, 0, out), source);
			rates(time).forEach((v, k) => (worst = Math.max(worst, Math.abs(out[k] - v))));
			near(out[5], 1.5, 1e-4, "turning about z:");
		}
		return worst;
	};
	const [coarse, fine] = [error(41, false, "differences"), error(81, false, "differences")];
	near(coarse / fine, 4, 1, "halving the interval:");
	assert.ok(error(81, true, "recorded") < 0.002);
	const { sample } = circling(41, false);
	assert.equal(bodyRates(sample, 1, new Float64Array(6)), "recorded", "the ground rests");
});

test("at a jump the velocity is that of the side that is shown; one frame has none", () => {
	const of = (t, x) =>
		new Sample(
			decodeReplay(
				{
					format: "calder-replay",
					version: 1,
					bodies: [{ name: "a" }],
					frames: { t, pose: x.map((v) => [[v, 0, 0, 1, 0, 0, 0]]) },
				},
				false,
			),
		);
	const out = new Float64Array(6);
	const sample = of([0, 1, 1, 2], [0, 1, 1, 4]);
	sample.at(1.5);
	assert.equal(bodyRates(sample, 0, out), "differences");
	near(out[0], 3, 1e-6);
	const still = of([0], [0]);
	still.at(0);
	assert.equal(bodyRates(still, 0, out), "none");
});

test("lengths of the scale bar are round and named", () => {
	for (const [most, length, text] of [
		[7.3, 5, "5 m"],
		[4.9, 2, "2 m"],
		[1, 1, "1 m"],
		[0.0379, 0.02, "20 mm"],
		[99999, 50000, "50 km"],
		[2.2e-6, 2e-6, "2 µm"],
	]) {
		assert.equal(roundBelow(most), length);
		assert.equal(lengthText(length), text);
	}
	assert.equal(roundBelow(0), 0);
});
