// SPDX-License-Identifier: Apache-2.0
/*
 * look.test.mjs — the initial view at a run: what is framed, how fast it plays, that thin, white and shapeless bodies are
 * seen, and that what is drawn is where the run has it. Measured on rendered pixels. The examples need CALDER.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { startBrowser } from "./browser.mjs";
import { openDocument, watchPixels } from "./pixels.mjs";

const { CALDER } = process.env;
const skip = CALDER ? false : "CALDER is not set";
const EXAMPLES = new URL("../../examples/", import.meta.url).pathname;
let browser;
before(async () => {
	browser = await startBrowser();
});
after(() => browser.close());

const REST = [0, 0, 0, 1, 0, 0, 0];
const still = (bodies, more = {}) => ({
	bodies,
	frames: { t: [0, 10], pose: [bodies.map((b) => b.pose ?? REST), bodies.map((b) => b.pose ?? REST)] },
	...more,
});
const moments = (page, count) =>
	page.evaluate(
		(n) => Array.from({ length: n }, (_, i) => calder.start + ((calder.end - calder.start) * i) / (n - 1)),
		count,
	);

/* ---- examples ------------------------------------------------------------------------------ */

/** The example's run as a page. */
async function open(name) {
	const stem = join(browser.folder, name);
	execFileSync(CALDER, ["run", `${EXAMPLES}${name}.yaml`, "-q", "-o", `${stem}.h5`]);
	execFileSync(CALDER, ["view", `${stem}.h5`, "--html", `${stem}.html`]);
	const opened = await browser.open(pathToFileURL(`${stem}.html`).href, { width: 1024, height: 640 });
	await opened.page.waitForFunction(() => window.calder?.stats.first > 0);
	return opened;
}

/**
 * What is recognisable fills at least 30 % of the view: the rectangle around all that the model draws over the run has that
 * part of its area. The bodies alone have it, too, or, of a slender motion, more than half the width or height of the view.
 * At no moment is the picture empty, and nothing is below the toolbars, where no camera of the model was chosen.
 */
async function filling(page) {
	await watchPixels(page);
	const [bodies, all] = await page.evaluate(
		(times) => [drawn(times), drawn(times.slice(0, 1), true)],
		await moments(page, 9),
	);
	const toolbar = await page.evaluate(() => calder.stage.insets.top / calder.stage.height);
	const framed = await page.evaluate(() => calder.replay.view.cameras.length === 0);
	const [area, wide] = [bodies, all].map(({ width, height }) => width * height);
	const text = `${bodies.width.toFixed(2)} x ${bodies.height.toFixed(2)} of the view`;
	const found = [];
	if (bodies.empty) found.push(`nothing is drawn at ${bodies.empty} moments`);
	if (Math.max(area, wide) < 0.3) found.push(`${text}, with the ground ${wide}`);
	if (area < 0.3 && Math.max(bodies.width, bodies.height) < 0.5) found.push(`${text}: the bodies are lost`);
	if (framed && bodies.top < toolbar - 0.01) found.push(`${bodies.top} is free, the toolbar needs ${toolbar}`);
	return { text: `${(100 * area).toFixed(0)} %, ${text}`, found };
}

/** So far two runs with outputs at other times agree: what is an error of 1e-11 at first grows by e every 0.3 s or so [s]. */
const CHAOTIC = { double_pendulum: 8 };

/** Orientations of bodies from a run of its own, at times that no other record has: {body: [[t, w, x, y, z], ...]}. */
function orientations(name, bodies, duration) {
	const path = join(browser.folder, `${name}.csv`);
	const interval = String(Math.max(duration / 397, 1e-5));
	const signals = bodies.flatMap((body) => ["-s", `pose:${body}`]);
	execFileSync(CALDER, ["run", `${EXAMPLES}${name}.yaml`, "-q", "--interval", interval, ...signals, "-o", path]);
	const [head, ...rows] = readFileSync(path, "utf8").trim().split("\n");
	const columns = head.split(",").map((column) => column.replace(/ \[.*/, ""));
	const table = rows.map((row) => row.split(",").map((cell) => (cell === "" ? NaN : Number(cell))));
	const at = bodies.map((body) => columns.indexOf(`pose:${body}.qw`));
	return bodies.map((_, i) => table.map((row) => [row[0], ...row.slice(at[i], at[i] + 4)]));
}

/** The largest angle between what is drawn and what was computed [degrees], with the body and the time. */
async function turnError(page, name, until) {
	const { bodies, duration } = await page.evaluate(() => ({
		bodies: calder.replay.bodies.slice(0, -1).map((b) => b.name),
		duration: calder.end - calder.start,
	}));
	return page.evaluate(
		([names, runs, until]) => {
			const { sample } = calder.view;
			const m = sample.matrix;
			let worst = { angle: 0 };
			runs[0].forEach(([t], k) => {
				if (t > until) return;
				sample.at(t);
				runs.forEach((run, i) => {
					const [, w, x, y, z] = run[k];
					// The trace of drawn' * computed: 1 + 2 cos(angle); m has rows of [R p].
					const r = [
						...[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
						...[2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
						...[2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
					];
					let away = 0;
					for (let e = 0; e < 9; e++) away += (r[e] - m[i * 12 + Math.floor(e / 3) * 4 + (e % 3)]) ** 2;
					const angle = (2 * Math.asin(Math.min(1, Math.sqrt(away / 8))) * 180) / Math.PI;
					if (angle > worst.angle && sample.present[i]) worst = { angle, body: names[i], t };
				});
			});
			return worst;
		},
		[bodies, orientations(name, bodies, duration), until],
	);
}

test("every example fills the view, and its bodies are drawn as they turn, to a degree", { skip }, async (t) => {
	const names = readdirSync(EXAMPLES)
		.filter((f) => f.endsWith(".yaml"))
		.map((f) => f.slice(0, -5));
	const failures = [];
	for (const name of names.filter((n) => !process.env.LOOK || process.env.LOOK.split(",").includes(n))) {
		const { page, complaints, close } = await open(name);
		const worst = await turnError(page, name, CHAOTIC[name] ?? Infinity);
		if (!(worst.angle < 1))
			failures.push(`${name}: ${worst.body} is off by ${worst.angle} degrees at ${worst.t} s`);
		const { text, found } = await filling(page);
		t.diagnostic(`${name}: ${text}; turned wrongly by at most ${worst.angle.toFixed(3)} degrees`);
		failures.push(...found.map((line) => `${name}: ${line}`), ...complaints.map((line) => `${name}: ${line}`));
		await close();
	}
	assert.deepEqual(failures, []);
});

test("a body that spins at 3 rad/s is drawn at 3 t, to a degree, at any time", { skip }, async () => {
	const model = join(browser.folder, "spin.yaml");
	writeFileSync(
		model,
		`calder: 1
bodies:
  bar: {mass: 1, inertia: [1, 1, 1], visual: {box: [0.4, 0.4, 0.4], at: [2, 0, 0], color: "#ffffff"}}
joints: {flight: {type: free, to: bar}}
state: {flight: {angular_velocity: [0, 0, 3]}}
run: {duration: 100 s, method: rk4, step: 10 ms}
`,
	);
	const stem = join(browser.folder, "spin");
	execFileSync(CALDER, ["run", model, "-q", "-o", `${stem}.h5`, "--replay", "1"]);
	execFileSync(CALDER, ["view", `${stem}.h5`, "--html", `${stem}.html`]);
	const { page, complaints, close } = await browser.open(pathToFileURL(`${stem}.html`).href);
	await page.waitForFunction(() => window.calder?.stats.first > 0);
	await watchPixels(page);
	const times = Array.from({ length: 25 }, (_, i) => 0.37 + i * 4.01);
	const angles = await page.evaluate((list) => {
		// From above, aimed at the axis: the middle of what is drawn is at its angle.
		calder.follow(-1);
		calder.camera.place([0, -0.0001, 9, 0, 0, 0]);
		calder.stage.scene.background = null;
		calder.stage.renderer.setClearColor("#ff00ff", 1);
		calder.set("grid", false);
		calder.stage.setInsets({ top: 0, bottom: 0 });
		return list.map((time) => {
			const { width, height, data } = renderAt(time, false);
			let [x, y, n] = [0, 0, 0];
			for (let i = 0; i < data.length; i += 4) {
				if (data[i] === 255 && data[i + 1] === 0) continue;
				((x += ((i / 4) % width) + 0.5), (y += Math.floor(i / 4 / width) + 0.5), n++);
			}
			return Math.atan2(y / n - height / 2, x / n - width / 2);
		});
	}, times);
	times.forEach((t, i) => {
		const off = Math.atan2(Math.sin(angles[i] - 3 * t), Math.cos(angles[i] - 3 * t));
		assert.ok(Math.abs(off) < Math.PI / 180, `at ${t} s the picture is off by ${(off * 180) / Math.PI} degrees`);
	});
	assert.deepEqual(complaints, []);
	await close();
});

/* ---- framing ------------------------------------------------------------------------------- */

test("a run much larger than its mechanism is followed; one that is not, is framed as a whole", async () => {
	const ball = (far) => ({
		bodies: [{ name: "ball", shapes: [{ kind: "sphere", dimensions: [0.1] }] }],
		frames: { t: [0, 10], pose: [[REST], [[far, 0, 0, 1, 0, 0, 0]]] },
	});
	for (const [far, follows] of [
		[20, 0],
		[0.5, -1],
	]) {
		const { page, complaints, close } = await openDocument(browser, ball(far));
		assert.equal(await page.evaluate(() => calder.camera.following), follows);
		await watchPixels(page);
		const seen = await page.evaluate((times) => drawn(times), await moments(page, 5));
		assert.equal(seen.empty, 0);
		assert.ok(Math.max(seen.width, seen.height) > 0.5 && seen.width < 1, JSON.stringify(seen));
		assert.deepEqual(complaints, []);
		await close();
	}
});

test("the initial view shows a planar mechanism from its front, whatever its plane", async () => {
	const { page, close } = await openDocument(
		browser,
		still([{ name: "plate", shapes: [{ kind: "box", dimensions: [0.01, 2, 1] }] }]),
	);
	const d = await page.evaluate(() =>
		calder.stage.camera.position.clone().sub(calder.camera.controls.target).normalize().toArray(),
	);
	assert.ok(d[0] > 0.75, `seen from ${d}`);
	await close();
});

/* ---- rate ---------------------------------------------------------------------------------- */

test("the play rate follows from the duration, and any factor can be typed", async () => {
	const lasting = (end, pose = REST) => ({
		bodies: [{ name: "a", shapes: [{ kind: "box", dimensions: [1, 1, 1] }] }],
		frames: { t: [0, end], pose: [[REST], [pose]] },
	});
	for (const [end, rate] of [
		[0.05, 0.01],
		[10, 1],
		[150, 5],
		[28800, 1000],
	]) {
		const { page, close } = await openDocument(browser, lasting(end));
		assert.equal(await page.evaluate(() => calder.rate), rate, `${end} s`);
		await close();
	}
	const { page, complaints, close } = await openDocument(browser, lasting(10));
	const input = page.getByLabel("Play rate");
	for (const [typed, rate] of [
		["0.3", 0.3],
		["1/8", 0.125],
		["7×", 7],
		["-2", 7],
		["fast", 7],
	]) {
		await input.fill(typed);
		await input.press("Enter");
		assert.equal(await page.evaluate(() => calder.rate), rate, typed);
	}
	assert.equal(await input.inputValue(), "7×");
	assert.deepEqual(complaints, []);
	await close();
});

/* ---- what is seen -------------------------------------------------------------------------- */

test("a thread of 0.1 mm in a scene of 20 m is at least two pixels wide", async () => {
	const { page, complaints, close } = await openDocument(
		browser,
		still([{ name: "thread", shapes: [{ kind: "cylinder", dimensions: [5e-5, 20] }] }]),
		{ hash: "#cam=front" },
	);
	await watchPixels(page);
	const seen = await page.evaluate(() => ({ ...drawn([0]), width: calder.stage.width, height: calder.stage.height }));
	const long = seen.pixels * seen.width * seen.height; // pixels
	assert.ok(long > 2 * 0.6 * seen.height, `${long} pixels for a height of ${seen.height}`);
	assert.deepEqual(complaints, []);
	await close();
});

test("a white part is seen before the light background, and casts a shadow on the ground", async () => {
	const white = { name: "a", shapes: [{ kind: "sphere", dimensions: [1], color: "#ffffff" }] };
	const { page, complaints, close } = await openDocument(
		browser,
		still([white], { joints: [{ name: "j", type: "revolute", from: { body: -1 }, to: { body: 0 } }] }),
	);
	await watchPixels(page);
	const { rim, floor } = await page.evaluate(() => {
		const gray = ({ data }, i) => (data[i * 4] + data[i * 4 + 1] + data[i * 4 + 2]) / 3;
		const lit = renderAt(0, false);
		calder.view.hidden[0] = 1;
		const bare = renderAt(0, false);
		calder.view.hidden[0] = 0;
		let [rim, floor] = [0, 0];
		for (let i = 0; i < lit.width * lit.height; i++) {
			const change = gray(lit, i) - gray(bare, i);
			if (Math.abs(change) > 20) rim++;
			if (change < -12 && i < (lit.width * lit.height) / 4) floor++; // in the lower quarter of the picture
		}
		return { rim: rim / (lit.width * lit.height), floor: floor / (lit.width * lit.height) };
	});
	assert.ok(rim > 0.05, `${rim} of the picture differ from the background by more than 20 of 255`);
	assert.ok(floor > 0.005, `${floor} of the picture are in the shadow`);
	assert.deepEqual(complaints, []);
	await close();
});

test("bodies without shapes are links between their joints, with joints and the ground's pedestals", async () => {
	const end = (body, at = [0, 0, 0]) => ({ body, at });
	const document = still(
		[
			{ name: "crank", mass: 1, center_of_mass: [0.5, 0, 0], inertia: [0, 1, 1, 0, 0, 0] },
			{ name: "rod", pose: [1, 0, 0, 1, 0, 0, 0] },
		],
		{
			joints: [
				{ name: "a", type: "revolute", axis: [0, 1, 0], from: end(-1), to: end(0) },
				{ name: "b", type: "revolute", axis: [0, 1, 0], from: end(0, [1, 0, 0]), to: end(1) },
				{ name: "c", type: "prismatic", axis: [1, 0, 0], from: end(-1, [3, 0, 0]), to: end(1, [2, 0, 0]) },
			],
		},
	);
	const { page, complaints, close } = await openDocument(browser, document);
	const boxes = await page.evaluate(() => Array.from(calder.view.bodies.boxes));
	assert.ok(boxes[0] < 0 && boxes[3] > 1 && boxes[3] < 1.2, `the crank reaches from ${boxes[0]} to ${boxes[3]}`);
	assert.ok(boxes[6 + 3] > 2 && boxes[6 + 3] < 2.3, `the rod reaches to ${boxes[9]}`);
	// 4.7 radii of rods high, which are 0.011 of half the 1 m between the bodies: 26 mm, in a box that is little larger.
	assert.ok(boxes[12 + 5] <= 0.02, `the pedestals are below the joints: ${boxes[12 + 5]}`);
	assert.ok(boxes[12 + 2] < -0.0258 && boxes[12 + 2] > -0.05, `pedestals down to ${boxes[12 + 2]}`);
	await watchPixels(page);
	assert.ok((await page.evaluate(() => drawn([0]))).width > 0.5);
	assert.deepEqual(complaints, []);
	await close();
});

test("the initial view holds the pedestals of joints to the ground, unless the run goes far away from them", async () => {
	const end = (body, at = [0, 0, 0]) => ({ body, at });
	const rest = [0, 0, 0, 1, 0, 0, 0];
	const wheels = (joint, poses) => ({
		bodies: [0, 1].map((i) => ({ name: `wheel ${i}`, mass: 1, center_of_mass: [0, 0, 0.02], pose: poses[0][i] })),
		joints: [0, 1].map((i) => ({ name: `j${i}`, ...joint, from: end(-1, [i, 0, 0]), to: end(i) })),
		frames: { t: [0, 10], pose: poses },
	});
	const still = [rest, [1, 0, 0, 1, 0, 0, 0]];
	const { page, complaints, close } = await openDocument(
		browser,
		wheels({ type: "revolute", axis: [0, 0, 1] }, [still, still]),
	);
	const outside = await page.evaluate(() => {
		const { view, stage } = calder;
		const found = view.bodies.pedestals.flatMap(({ at, radius }) =>
			[-radius, radius].map((r) => {
				const p = stage.camera.position
					.clone()
					.set(at[0] + r, at[1], at[2] - Math.abs(r))
					.project(stage.camera);
				const low = -1 + (2 * stage.insets.bottom) / stage.height;
				return Math.max(Math.abs(p.x) - 1, low - p.y);
			}),
		);
		return Math.max(...found);
	});
	assert.ok(outside < 0, `pedestals are outside by ${outside} of half the picture`);
	assert.deepEqual(complaints, []);
	await close();
	const gone = [
		[300, 0, 0, 1, 0, 0, 0],
		[301, 0, 0, 1, 0, 0, 0],
	];
	const rail = await openDocument(browser, wheels({ type: "prismatic", axis: [1, 0, 0] }, [still, gone]));
	assert.ok((await rail.page.evaluate(() => calder.camera.following)) >= 0, "it is not followed");
	await rail.close();
});

test("a live view steps back when the mechanism leaves the picture", async () => {
	const { page, complaints, close } = await openDocument(browser, {
		bodies: [{ name: "a", shapes: [{ kind: "box", dimensions: [1, 1, 1] }] }],
		frames: { t: [0, 1, 2], pose: [[REST], [[0.5, 0, 0, 1, 0, 0, 0]], [[60, 0, 0, 1, 0, 0, 0]]] },
	});
	await page.evaluate(() => {
		calder.drawn = []; // times that were drawn
		calder.afterDraw = () => calder.drawn.push(calder.view.sample.time);
		calder.live = { state: "open", running: true, speed: 1, command() {} };
		calder.follow(-1);
		calder.atEdge = true;
		calder.seek(2);
	});
	// Nothing is drawn after the last tick but what moves the camera.
	await page.waitForFunction(() => calder.drawn.at(-1) === 2);
	await page.waitForFunction(() => calder.camera.progress === 1 && calder.camera.shows(calder.view.bounds()));
	assert.deepEqual(complaints, []);
	await close();
});

test("on a phone the whole time line can be reached", async () => {
	const { page, complaints, close } = await browser.sample("pendulum", { width: 390, height: 780 });
	const slider = await page.locator("#time-slider").boundingBox();
	assert.ok(slider.x >= 0 && slider.x + slider.width <= 390 && slider.width > 300, JSON.stringify(slider));
	for (const part of [0.25, 0.75]) {
		await page.mouse.click(slider.x + part * slider.width, slider.y + slider.height / 2);
		const at = await page.evaluate(() => (calder.time - calder.start) / (calder.end - calder.start));
		assert.ok(Math.abs(at - part) < 0.05, `${part} of the width is ${at} of the run`);
	}
	assert.deepEqual(complaints, []);
	await close();
});
