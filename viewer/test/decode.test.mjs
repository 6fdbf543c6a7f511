// SPDX-License-Identifier: Apache-2.0
/*
 * decode.test.mjs — documents to runs, without a browser: arrays, complaints, interpolation, meshes, CSV.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createServer } from "vite";
import { head, pack, turn } from "../sample/pack.mjs";
import { make as pendulum } from "../sample/pendulum.mjs";
import { make as station } from "../sample/station.mjs";

let vite, decodeReplay, Sample, valueAt, documentInFile, weld, creasedNormals, csvText, fileName, parseHash;
before(async () => {
	vite = await createServer({
		configFile: false,
		root: new URL("..", import.meta.url).pathname,
		server: { middlewareMode: true, ws: false, watch: null },
		appType: "custom",
		logLevel: "error",
		optimizeDeps: { noDiscovery: true },
	});
	({ decodeReplay } = await vite.ssrLoadModule("/src/data/decode.ts"));
	({ Sample, valueAt } = await vite.ssrLoadModule("/src/data/sample.ts"));
	({ documentInFile } = await vite.ssrLoadModule("/src/data/embedded.ts"));
	({ weld, creasedNormals } = await vite.ssrLoadModule("/src/scene/shapes.ts"));
	({ csvText, fileName } = await vite.ssrLoadModule("/src/export.ts"));
	({ parseHash } = await vite.ssrLoadModule("/src/link.ts"));
});
after(() => vite.close());

const near = (a, b, tolerance) => assert.ok(Math.abs(a - b) <= tolerance, `${a} is not within ${tolerance} of ${b}`);
const small = (change = {}) => ({
	...head("small", "small.yaml"),
	bodies: [{ name: "a" }, { name: "b", parent: 0 }],
	frames: {
		t: [0, 1],
		pose: [
			[
				[0, 0, 0, 1, 0, 0, 0],
				[1, 0, 0, 1, 0, 0, 0],
			],
			[
				[0, 0, 2, 1, 0, 0, 0],
				[1, 4, 0, ...turn(0, 0, 1, 1)],
			],
		],
	},
	...change,
});

test("packed arrays of every type read back", () => {
	for (const [type, values] of [
		["f32", [0.5, -2]],
		["f64", [1e-300, Math.PI]],
		["i32", [-70000, 5]],
		["u32", [4e9, 1]],
		["i16", [-300, 7]],
		["u16", [60000, 0]],
		["u8", [255, 1]],
	]) {
		const replay = decodeReplay(small({ signals: [{ name: "s", values: pack(type, [2], values) }] }), false);
		assert.deepEqual(Array.from(replay.signals[0].values.data), values, type);
	}
});

/** An array coded by differences, column by column, as docs/replay.md says. */
function coded(type, shape, columns, more = {}) {
	const bytes = [];
	const put = (n) => {
		for (; n > 127; n = Math.floor(n / 128)) bytes.push(128 | (n % 128));
		bytes.push(n);
	};
	for (const column of columns) {
		for (let i = 0; i < column.length;) {
			const line = (k) => (k === 0 ? 0 : k === 1 ? column[0] : 2 * column[k - 1] - column[k - 2]);
			let zeros = 0;
			while (i + zeros < column.length && column[i + zeros] === line(i + zeros)) zeros++;
			if (zeros > 0) {
				(put(0), put(zeros - 1), (i += zeros));
				continue;
			}
			const left = column[i] - line(i++);
			put(left >= 0 ? 2 * left : -2 * left - 1);
		}
	}
	return { type, shape, coding: "differences", data: Buffer.from(bytes).toString("base64"), ...more };
}
const signalOf = (values, t = [0, 1, 2, 3, 4]) =>
	decodeReplay(small({ signals: [{ name: "s", t, values }] }), false).signals[0].values.data;

test("arrays coded by differences read back: steps, floats, gaps, lines", () => {
	const steps = coded("i32", [5], [[3, 5, 7, -(2 ** 31), 2 ** 31 - 1]], { scale: 0.5, offset: 1 });
	assert.deepEqual(Array.from(signalOf(steps)), [2.5, 3.5, 4.5, NaN, 1 + 0.5 * (2 ** 31 - 1)]);
	const bits = (v) => {
		const n = new Int32Array(new Float32Array([v]).buffer)[0];
		return (n < 0 ? -(n & 0x7fffffff) : n) / 2 ** 4;
	};
	const floats = coded("f32", [5], [[1.5, -0.25, 0, NaN, -Infinity].map(bits)], { dropped: 4 });
	assert.deepEqual(Array.from(signalOf(floats)), [1.5, -0.25, 0, NaN, -Infinity]);
	const still = coded("i32", [100000], [new Array(100000).fill(9)], { scale: 1 });
	assert.equal(still.data.length, 8);
	const t = Array.from({ length: 100000 }, (_, i) => i);
	assert.ok(signalOf(still, t).every((v) => v === 9));
	const pose = coded(
		"i32",
		[2, 2, 7],
		Array.from({ length: 14 }, (_, c) => [c, 2 * c]),
		{ scale: [1, 1, 1, 2, 2, 2, 2] },
	);
	const replay = decodeReplay(small({ frames: { t: [0, 1], pose } }), false);
	assert.deepEqual(
		Array.from(replay.frames.pose.data.slice(14)),
		[0, 2, 4, 12, 16, 20, 24, 14, 16, 18, 40, 44, 48, 52],
	);
});

test("coded arrays that do not fill their shape, or would fill the memory, are refused", () => {
	const good = coded("i32", [5], [[1, 4, 9, 16, 20]], { scale: 1 });
	const bytes = (...list) => Buffer.from(list).toString("base64");
	for (const [change, complaint] of [
		[{ data: good.data.slice(0, 4) }, /ends too early/],
		[{ data: bytes(...Buffer.from(good.data, "base64"), 1) }, /more than its shape/],
		[{ data: bytes(0, 5) }, /more rows than its shape/],
		[{ data: bytes(0, 128) }, /ends too early/],
		[{ data: bytes(255, 255, 255, 255, 255, 255, 255, 255, 255, 1) }, /too large/],
		[{ data: bytes(254, 255, 255, 255, 31, 0, 3) }, /leaves the range/],
		[{ shape: [2 ** 26], data: bytes(0, 255, 255, 255, 31) }, /more than 33554432/],
		[{ shape: [1e200, 1e200], data: bytes(0, 4) }, /more than 33554432/],
		[{ shape: [-1, -5], data: bytes(0, 4) }, /whole numbers/],
		[{ shape: [2.5, 2] }, /whole numbers/],
		[{ coding: "magic" }, /"magic" is not known/],
		[{ type: "u8" }, /neither i32 nor f32/],
		[{ dropped: 40 }, /within 0 to 22/],
		[{ dropped: 1.5 }, /within 0 to 22/],
		[{ type: "f32", dropped: 4, data: bytes(254, 255, 255, 255, 15, 0, 3) }, /leaves the range/],
	])
		assert.throws(() => signalOf({ ...good, ...change }), complaint, JSON.stringify(change));
});

test("base64 decodes with and without the browser's own decoder", () => {
	const own = Uint8Array.fromBase64;
	delete Uint8Array.fromBase64;
	const replay = decodeReplay(small({ signals: [{ name: "s", values: pack("f64", [2], [1.25, -7]) }] }), false);
	if (own) Uint8Array.fromBase64 = own;
	assert.deepEqual(Array.from(replay.signals[0].values.data), [1.25, -7]);
});

test("scale and offset act per column", () => {
	const pose = {
		...pack(
			"u16",
			[2, 2, 7],
			[0, 1, 2, 65535, 0, 0, 0, 10, 11, 12, 65535, 0, 0, 0, 0, 1, 2, 65535, 0, 0, 0, 10, 11, 12, 65535, 0, 0, 0],
		),
		scale: [0.1, 0.1, 1, 1 / 65535, 1, 1, 1],
		offset: [0, 0, -5, 0, 0, 0, 0],
	};
	const sample = new Sample(decodeReplay(small({ frames: { t: [0, 1], pose } }), false));
	sample.at(0);
	[1, 1.1, 7, 1, 0, 0, 0].forEach((v, i) => near(sample.pose[7 + i], v, 1e-6));
});

test("complaints name the place", () => {
	const cases = [
		[{ format: "x" }, /^format: this is not/],
		[{ version: 2 }, /^version: is 2; this viewer reads version 1/],
		[{ bodies: undefined }, /^bodies: is missing/],
		[{ frames: undefined }, /^frames: is missing/],
		[{ bodies: [{ name: "a" }, { name: 7 }] }, /^bodies\[1\]\.name: is not a text/],
		[{ bodies: [{ name: "a", parent: 5 }, { name: "b" }] }, /^bodies\[0\]\.parent: 5 is not an index below 2/],
		[
			{ bodies: [{ name: "a", shapes: [{ kind: "boxx" }] }, { name: "b" }] },
			/^bodies\[0\]\.shapes\[0\]\.kind: "boxx" is none of box/,
		],
		[
			{ bodies: [{ name: "a", shapes: [{ kind: "box", dimensions: [1] }] }, { name: "b" }] },
			/dimensions: a box needs 3/,
		],
		[
			{ bodies: [{ name: "a", shapes: [{ kind: "mesh", mesh: 0 }] }, { name: "b" }] },
			/\.mesh: 0 is not an index below 0/,
		],
		[{ bodies: [{ name: "a", color: "red" }, { name: "b" }] }, /color: "red" is not a color/],
		[{ frames: { t: [0, 1], pose: [[1]] } }, /^frames\.pose: has the shape \[1, 1\] instead of \[2, 2, 7\]/],
		[{ frames: { ...small().frames, t: [1, 0] } }, /^frames\.t: decreases at 1/],
		[
			{ signals: [{ name: "s", values: { type: "f32", shape: [2], data: "AAAA" } }] },
			/^signals\[0\]\.values: holds 3 bytes; its shape asks for 8/,
		],
		[{ signals: [{ name: "s", values: { type: "f32", shape: [2], data: "*" } }] }, /data: is not base64/],
		[{ meshes: [{ vertices: [[0, 0, 0]], triangles: [[0, 0, 3]] }] }, /^meshes\[0\]\.triangles: names 3/],
		[{ joints: [{ name: "j", from: { body: -1 }, to: { body: 0, node: 0 } }] }, /^joints\[0\]\.to\.node/],
		[{ badges: [{ label: "x", signal: 3 }] }, /^badges\[0\]\.signal/],
		[{ ghost: { frames: { t: [0], pose: [] } } }, /^ghost: frames\.pose/],
	];
	for (const [change, message] of cases)
		assert.throws(
			() => decodeReplay(small(change), false),
			(error) => message.test(error.message) || assert.fail(`${error.message} instead of ${message}`),
		);
});

test("poses: positions linear, quaternions along the shorter arc, the ground after the others", () => {
	const doc = small();
	doc.frames.pose[1][1] = doc.frames.pose[1][1].map((v, i) => (i > 2 ? -v : v));
	const replay = decodeReplay(doc, false);
	const sample = new Sample(replay);
	sample.at(0.5);
	near(sample.pose[2], 1, 1e-6);
	near(sample.pose[8], 2, 1e-6);
	const expected = turn(0, 0, 1, 0.5);
	near(Math.abs(sample.pose[10]), expected[0], 1e-6);
	near(Math.abs(sample.pose[13]), expected[3], 1e-6);
	assert.equal(replay.bodies.length, 3);
	assert.deepEqual(Array.from(sample.pose.slice(14)), [0, 0, 0, 1, 0, 0, 0]);
	sample.at(-5);
	near(sample.pose[2], 0, 0);
	sample.at(99);
	near(sample.pose[2], 2, 0);
});

test("a jump is not interpolated: two frames at one time", () => {
	const one = (x) => [[x, 0, 0, 1, 0, 0, 0]];
	const doc = small({
		bodies: [{ name: "a" }],
		frames: { t: [0, 1, 1, 2], pose: [one(0), one(1), one(10), one(11)] },
	});
	const sample = new Sample(decodeReplay(doc, false));
	for (const [t, x] of [
		[0.5, 0.5],
		[0.999999, 0.999999],
		[1, 10],
		[1.5, 10.5],
	]) {
		sample.at(t);
		near(sample.pose[0], x, 1e-5);
	}
});

test("bodies that are not there: intervals, and poses that are not finite", () => {
	const doc = small();
	doc.frames.present = [
		{
			body: 0,
			intervals: [
				[null, 0.2],
				[0.8, null],
			],
		},
	];
	doc.frames.pose[1][1][0] = null;
	const sample = new Sample(decodeReplay(doc, false));
	const present = (t) => {
		sample.at(t);
		return Array.from(sample.present);
	};
	assert.deepEqual(present(0), [1, 1, 1]);
	assert.deepEqual(present(0.5), [0, 0, 1]);
	assert.deepEqual(present(0.9), [1, 0, 1]);
});

test("the topology is that of the time, forwards and backwards", () => {
	const replay = decodeReplay(station(), false);
	const sample = new Sample(replay);
	const flyer = replay.bodies.findIndex((b) => b.name === "free flyer");
	const state = (t) => {
		sample.at(t);
		return [replay.bodies[sample.parent[flyer]].name, sample.group[flyer]];
	};
	assert.deepEqual(state(0), ["ground", "free flyer"]);
	assert.deepEqual(state(30), ["arm wrist roll", "station"]);
	assert.deepEqual(state(55), ["ground", "free flyer"]);
	assert.deepEqual(state(20), ["arm wrist roll", "station"]);
	assert.deepEqual(state(1), ["ground", "free flyer"]);
});

test("a node of a flexible body is where its shapes put it", () => {
	const doc = small({
		bodies: [
			{
				name: "a",
				nodes: [{ name: "tip", at: [1, 0, 0], shapes: [[0, 0, 2, 0, -0.1, 0]] }],
				flexible: {
					points: [
						[0, 0, 0],
						[1, 0, 0],
					],
					lines: [[0, 1]],
					shapes: [
						[
							[0, 0, 0],
							[0, 0, 2],
						],
					],
				},
			},
			{ name: "b" },
		],
	});
	doc.frames.eta = [{ body: 0, values: [[0], [0.5]] }];
	const replay = decodeReplay(doc, false);
	const sample = new Sample(replay);
	const out = new Float32Array(12);
	sample.at(1);
	sample.place(replay.bodies[0], replay.bodies[0].nodes[0], 1, out);
	near(out[3], 1, 1e-6);
	near(out[11], 2 + 1, 1e-6);
	near(out[8], 0.05, 1e-3); // turned about -y: x rises
	sample.place(replay.bodies[0], replay.bodies[0].nodes[0], 3, out);
	near(out[11], 2 + 3, 1e-6);
});

test("signals are linear between samples and keep their own times", () => {
	const doc = small({ signals: [{ name: "s", t: [0, 10], values: [5, 15] }] });
	const [signal] = decodeReplay(doc, false).signals;
	near(valueAt(signal.t, signal.values, 2.5), 7.5, 1e-12);
	near(valueAt(signal.t, signal.values, 11), 15, 0);
});

test("signals share times by number", () => {
	const times = [[0, 1, 2], pack("f64", [2], [0, 10])];
	const doc = small({ times, signals: [{ name: "s", t: 1, values: [5, 15] }] });
	const [signal] = decodeReplay(doc, false).signals;
	near(valueAt(signal.t, signal.values, 2.5), 7.5, 1e-12);
	doc.signals[0].t = 2;
	assert.throws(() => decodeReplay(doc, false), /signals\[0\]\.t/);
});

test("modes are combinations of coordinates where the document says so", () => {
	const flexible = { points: [[0, 0, 0]], shapes: [[[0, 0, 1]], [[0, 1, 0]]], modes: [[1, -1]], frequencies: [3] };
	const [body] = decodeReplay(small({ bodies: [{ name: "a", flexible }, { name: "b" }] }), false).bodies;
	assert.deepEqual([body.flexible.frequencies, [...body.flexible.vectors]], [[3], [1, -1]]);
	flexible.modes = [[1, -1, 0]];
	assert.throws(() => decodeReplay(small({ bodies: [{ name: "a", flexible }, { name: "b" }] }), false), /modes/);
});

test("a live document needs no values and has empty tracks", () => {
	const { frames: _, ghost: __, badges: ___, ...doc } = pendulum();
	doc.signals.forEach((s) => delete s.values);
	const replay = decodeReplay(doc, true);
	assert.equal(replay.frames.t.count, 0);
	assert.equal(replay.frames.pose.width, 14);
	replay.frames.pose.push(new Float32Array(14).fill(2), 0);
	for (let i = 0; i < 1000; i++) replay.signals[0].values.push([i], 0);
	assert.equal(replay.signals[0].values.data[999], 999);
	replay.signals[0].values.drop(400);
	assert.deepEqual([replay.signals[0].values.count, replay.signals[0].values.data[0]], [600, 400]);
});

test("the stiffness of dragging is read by its key and by the one of earlier versions", () => {
	const { frames: _, ...doc } = small();
	for (const [live, expected] of [
		[{ force_per_meter: 250 }, 250],
		[{ force_per_metre: 40 }, 40],
		[{}, 0],
	])
		assert.equal(decodeReplay({ ...doc, live }, true).forcePerMeter, expected);
	assert.throws(() => decodeReplay({ ...doc, live: { force_per_meter: "much" } }, true), /live\.force_per_meter/);
});

test("a document is found in a page and in bare JSON, and an empty viewer is refused", () => {
	const json = JSON.stringify(small()).replaceAll("<", "\\u003c");
	const page = `<html><script type="application/json" id="calder-replay">${json}</script></html>`;
	assert.equal(documentInFile(page).title, "small");
	assert.equal(documentInFile(`\n ${json}`).title, "small");
	assert.throws(() => documentInFile(page.replace(json, "@CALDER_REPLAY_JSON@")), /without data/);
	assert.throws(() => documentInFile("hello"), /no Calder replay/);
});

test("meshes: corners at one place are welded, sharp edges stay sharp, smooth ones do not", () => {
	const vertices = Float32Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0);
	assert.deepEqual(Array.from(weld(vertices)), [0, 1, 2, 0, 4, 1]);
	const sharp = creasedNormals(vertices, Uint32Array.of(0, 1, 2, 3, 5, 4));
	assert.deepEqual(Array.from(sharp.slice(0, 3)), [0, 0, 1]);
	near(Math.abs(sharp[9 + 1]), 1, 1e-6);
	const bent = Float32Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0, 0, -1, -0.1);
	const smooth = creasedNormals(bent, Uint32Array.of(0, 1, 2, 0, 3, 1));
	near(smooth[1], smooth[9 + 1], 1e-6);
	assert.ok(smooth[1] !== 0);
});

test("CSV: quoted headings, numbers to the last bit, empty cells at others' times", () => {
	const doc = small({
		signals: [
			{ name: 'a, "b"', unit: "m", values: [0.1 + 0.2, 2] },
			{ name: "c", t: [0.5], values: [7] },
		],
	});
	assert.equal(
		csvText(decodeReplay(doc, false).signals),
		't [s],"a, ""b"" [m]",c\n0,0.30000000000000004,\n0.5,,7\n1,2,\n',
	);
});

test("file names and addresses take any text", () => {
	assert.equal(fileName("../Ein <b>Größe</b>", "png"), "Ein-b-Größe-b.png");
	assert.equal(fileName("///", "png"), "calder.png");
	assert.deepEqual(
		[...parseHash("#t=1&sel=a=b&x&=y")],
		[
			["t", "1"],
			["sel", "a=b"],
		],
	);
});
