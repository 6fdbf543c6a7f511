// SPDX-License-Identifier: Apache-2.0
/*
 * calder.test.mjs — the page with what the program writes and sends, not with samples. CALDER is the program; without it
 * these tests are skipped.
 */
import assert from "node:assert/strict";
import { spawn, execFileSync } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { after, before, test } from "node:test";
import { frames, startBrowser } from "./browser.mjs";
import { startModules } from "./modules.mjs";

const { CALDER } = process.env;
const skip = CALDER ? false : "CALDER is not set";
const EXAMPLES = new URL("../../examples/", import.meta.url).pathname;
let browser;
before(async () => {
	if (!skip) browser = await startBrowser();
});
after(() => browser?.close());

/** Runs an example and opens its replay from disk. */
async function replayOf(example, options = []) {
	const stem = join(browser.folder, example);
	execFileSync(CALDER, ["run", `${EXAMPLES}${example}.yaml`, "-q", "-o", `${stem}.h5`, ...options]);
	execFileSync(CALDER, ["view", `${stem}.h5`, "--html", `${stem}.html`]);
	const opened = await browser.open(pathToFileURL(`${stem}.html`).href);
	await opened.page.waitForFunction(() => window.calder?.stats.first > 0);
	return { ...opened, size: statSync(`${stem}.html`).size };
}

test("a scenario: events on the time line, bodies that move, signals of all streams", { skip }, async () => {
	const { page, complaints, close } = await replayOf("walking_arm");
	assert.equal(await page.locator("h1").textContent(), "Walking arm");
	const events = await page.evaluate(() => calder.replay.events.map((e) => `${e.name} ${e.kind}`));
	assert.deepEqual(events.slice(0, 3), ["grip2 attach", "step2 other", "step2 detach"]);
	const foot = (t) =>
		page.evaluate(async (time) => {
			calder.seek(time);
			await new Promise(requestAnimationFrame);
			return [...calder.view.sample.pose.slice(0, 3)];
		}, t);
	const [from, to] = [await foot(0), await foot(4)];
	assert.ok(Math.abs(from[0] - 1) < 1e-5 && Math.abs(to[0] - 3) < 1e-2, `the foot went from ${from} to ${to}`);
	const names = await page.evaluate(() => calder.replay.signals.map((s) => s.name));
	assert.ok(names.includes("q:knee") && names.includes("balance:error"), names.join(" "));
	assert.deepEqual(complaints, []);
	await close();
});

test("flexible bodies: modes with their frequencies, and a shape that is drawn", { skip }, async () => {
	const { page, complaints, close } = await replayOf("flexible_arm");
	const modes = await page.evaluate(() => calder.replay.bodies[0].flexible.frequencies);
	assert.ok(Math.abs(modes[0] - 2.7475) < 1e-3, String(modes));
	await page.evaluate(() => calder.showMode(0, 0));
	await frames(page);
	const eta = await page.evaluate(() => [...calder.view.flexible.bodies[0].override]);
	assert.ok(Math.abs(eta[0]) > 0, String(eta));
	assert.deepEqual(complaints, []);
	await close();
});

test(
	"the flagship: its story, at most 2.5 MB, and a first frame within half a second of processor time",
	{ skip },
	async (t) => {
		const first = await replayOf("station");
		assert.ok(first.size <= 2.5e6, `${first.size} bytes`);
		const events = await first.page.evaluate(() => calder.replay.events.map((e) => e.name));
		assert.deepEqual(events, ["unfold", "capture", "damped", "berthing", "release", "clear"]);
		const badges = await first.page.evaluate(() => calder.replay.badges.map((b) => b.label));
		assert.deepEqual(badges, ["Energy", "Momentum"]);
		assert.deepEqual(first.complaints, []);
		await first.close();
		const walls = [],
			threads = [];
		for (let i = 0; i < 3; i++) {
			const { wall, processor, close } = await browser.measured(
				pathToFileURL(join(browser.folder, "station.html")).href,
			);
			walls.push(Math.round(wall));
			threads.push(Math.round(processor));
			await close();
		}
		t.diagnostic(
			`${first.size} bytes, first frames after ${walls.join(", ")} ms, processor time ${threads.join(", ")} ms`,
		);
		assert.ok(Math.min(...threads) <= 500, `${threads} ms of processor time`);
	},
);

test("poses in the page are those of the run to the error that the document states", { skip }, async () => {
	for (const example of ["spinning_panels", "rolling_ball", "flexible_arm"]) {
		const stem = join(browser.folder, `poses-${example}`);
		const model = `${EXAMPLES}${example}.yaml`;
		execFileSync(CALDER, ["run", model, "-q", "-o", `${stem}.h5`, "-s", "pose", "--replay", "0.05"]);
		execFileSync(CALDER, ["run", model, "-q", "-o", `${stem}.csv`, "-s", "pose", "--interval", "0.05"]);
		execFileSync(CALDER, ["view", `${stem}.h5`, "--json", `${stem}.json`]);
		const lines = readFileSync(`${stem}.csv`, "utf8").trim().split("\n");
		const columns = lines[0].split(",").map((name) => name.split(" [")[0]);
		const rows = new Map(lines.slice(1).map((line) => [Number(line.split(",")[0]).toFixed(9), line.split(",")]));
		const { page, close } = await browser.sample("pendulum");
		const found = await page.evaluate(
			async (text) => {
				const file = new File([text], "run.json");
				const transfer = new DataTransfer();
				transfer.items.add(file);
				await calder.setGhost(null);
				document.dispatchEvent(
					new DragEvent("drop", { dataTransfer: transfer, cancelable: true, bubbles: true }),
				);
				while (!calder.view.ghost) await new Promise(requestAnimationFrame);
				const { bodies, frames } = calder.view.ghost.replay;
				return { names: bodies.map((b) => b.name), t: [...frames.t.data], pose: [...frames.pose.data] };
			},
			readFileSync(`${stem}.json`, "utf8"),
		);
		const { error } = JSON.parse(readFileSync(`${stem}.json`, "utf8")).frames;
		const count = found.names.length - 1;
		let compared = 0;
		found.t.forEach((t, i) => {
			const row = rows.get(t.toFixed(9));
			if (!row) return;
			for (let b = 0; b < count; b++) {
				const at = columns.indexOf(`pose:${found.names[b]}.x`);
				const wanted = row.slice(at, at + 7).map(Number);
				const got = found.pose.slice(7 * (i * count + b), 7 * (i * count + b) + 7);
				for (let k = 0; k < 3; k++) {
					const slack = 1.001 * error.position + 1e-7 * Math.abs(wanted[k]); // the page holds floats
					assert.ok(Math.abs(got[k] - wanted[k]) <= slack, `${example} ${found.names[b]} at ${t} s`);
				}
				const along = wanted.slice(3).reduce((sum, v, k) => sum + v * got[3 + k], 0);
				const cross = Math.hypot(...wanted.slice(3).map((v, k) => v - Math.sign(along) * got[3 + k]));
				assert.ok(
					2 * cross <= 1.1 * error.rotation,
					`${example} ${found.names[b]} at ${t} s: ${2 * cross} rad`,
				);
				compared++;
			}
		});
		assert.ok(compared >= 40, `${example}: ${compared} poses compared`);
		await close();
	}
});

test("forces: contact points and reactions are arrows", { skip }, async () => {
	const ball = await replayOf("rolling_ball");
	const arrows = await ball.page.evaluate(() => calder.replay.arrows.map((a) => a.kind));
	assert.deepEqual(arrows, ["contact", "contact", "contact", "contact"]);
	assert.deepEqual(ball.complaints, []);
	await ball.close();
	const bars = await replayOf("four_bar", ["-s", "reaction", "-s", "q"]);
	const names = await bars.page.evaluate(() => calder.replay.arrows.map((a) => a.name));
	assert.ok(names.includes("reaction:pin.fx"), names.join(" "));
	assert.deepEqual(bars.complaints, []);
	await bars.close();
});

test("meshes of a body are read from its file", { skip }, async () => {
	const model = join(browser.folder, "solid.yaml");
	const corners = [
		[0, 0, 0],
		[1, 0, 0],
		[0, 1, 0],
		[0, 0, 1],
	];
	const faces = [
		[0, 2, 1],
		[0, 1, 3],
		[1, 2, 3],
		[0, 3, 2],
	];
	writeFileSync(
		join(browser.folder, "solid.obj"),
		corners.map((v) => `v ${v.join(" ")}\n`).join("") +
			faces.map((f) => `f ${f.map((i) => i + 1).join(" ")}\n`).join(""),
	);
	writeFileSync(
		model,
		`calder: 1
bodies: {rock: {mass: 1, inertia: [1, 1, 1], visual: {mesh: solid.obj, scale: 2, color: "#884422"}}}
joints: {flight: {type: free, to: rock}}
run: {duration: 1 s}
`,
	);
	execFileSync(CALDER, ["run", model, "-q", "-o", join(browser.folder, "solid.h5")]);
	execFileSync(CALDER, ["view", join(browser.folder, "solid.h5"), "--html", join(browser.folder, "solid.html")]);
	const { page, complaints, close } = await browser.open(pathToFileURL(join(browser.folder, "solid.html")).href);
	await page.waitForFunction(() => window.calder?.stats.first > 0);
	const radius = await page.evaluate(() => calder.view.bounds().radius);
	assert.ok(Math.abs(radius - Math.sqrt(3)) < 1e-5, String(radius)); // half the diagonal of a box of 2 m
	assert.deepEqual(complaints, []);
	await close();
});

test("coordinates of joints from where bodies are agree with those of the run", { skip }, async () => {
	const modules = await startModules();
	const { decodeReplay } = await modules.load("data/decode.ts");
	const { documentInFile } = await modules.load("data/embedded.ts");
	const { Sample, valueAt } = await modules.load("data/sample.ts");
	const { jointValue } = await modules.load("data/joint_value.ts");
	const model = join(browser.folder, "joints.yaml");
	writeFileSync(
		model,
		`calder: 1
gravity: [0, 0, -9.81]
bodies:
  cart: {mass: 2, box: [1, 1, 1], nodes: {top: {at: [0, 0, 0.5], orientation: {axis: x, angle: 20 deg}}}}
  arm: {mass: 1, rod: {from: [0, 0, 0], to: [0, 0, -1]}}
joints:
  rail: {type: prismatic, to: cart, axis: [1, 0.5, 0.2]}
  hinge: {type: revolute, from: cart/top, to: arm, axis: [0.2, 1, 0]}
state: {hinge: {q: 2.5}, rail: {u: 0.5}}
run: {duration: 3 s, method: rk4, step: 5 ms, output: {interval: 50 ms, signals: [q]}}
`,
	);
	execFileSync(CALDER, ["run", model, "-q", "-o", `${model}.h5`]);
	execFileSync(CALDER, ["view", `${model}.h5`, "--html", `${model}.html`]);
	const replay = decodeReplay(documentInFile(readFileSync(`${model}.html`, "utf8")), false);
	const signals = replay.signals.splice(0); // without them it must look at the bodies
	const sample = new Sample(replay);
	for (const time of [0, 0.7, 1.9, 3])
		for (const joint of replay.joints) {
			sample.at(time);
			const signal = signals.find((s) => s.name === `q:${joint.name}`);
			const off = jointValue(sample, joint, 0) - valueAt(signal.t, signal.values, time);
			const turns = joint.type === "revolute" ? Math.round(off / (2 * Math.PI)) : 0;
			assert.ok(Math.abs(off - turns * 2 * Math.PI) < 2e-3, `${joint.name} at ${time} s is off by ${off}`);
		}
	await modules.close();
});

test("a live run: the page connects, pauses, pushes, and sees the end", { skip }, async (t) => {
	const model = join(browser.folder, "cart.yaml");
	writeFileSync(
		model,
		`calder: 1
title: Cart
bodies: {cart: {mass: 2 kg, box: [1, 1, 1]}}
joints: {rail: {type: prismatic, to: cart, axis: x}}
run: {duration: 1 h, method: rk4, step: 5 ms, output: {interval: 50 ms, signals: [q]}}
`,
	);
	const run = spawn(CALDER, ["run", model, "-q", "--live", "--no-browser"], { stdio: ["ignore", "ignore", "pipe"] });
	t.after(() => run.kill("SIGKILL"));
	const address = await new Promise((done) =>
		run.stderr.once("data", (text) => done(String(text).match(/http:\/\/127\.0\.0\.1:\d+\//)[0])),
	);
	const { page, complaints, close } = await browser.open(address, { network: true });
	await page.waitForFunction(() => calder.replay?.title === "Cart" && calder.end > 0.2);
	const x = () => page.evaluate(() => calder.view.sample.pose[0]);
	assert.ok(Math.abs(await x()) < 1e-9);
	await page.evaluate(() => calder.live.command({ command: "force", body: 0, point: [0, 0, 0], force: [20, 0, 0] }));
	await page.waitForFunction(() => calder.view.sample.pose[0] > 0.05);
	await page.keyboard.press("Space");
	await page.waitForFunction(() => document.querySelector(".live-state").textContent.startsWith("Paused"));
	const [t1, t2] = [
		await page.evaluate(() => calder.end),
		await page.waitForTimeout(400).then(() => page.evaluate(() => calder.end)),
	];
	assert.equal(t1, t2, "it continues while it is paused");
	assert.deepEqual(complaints, []);
	await close();
	run.kill("SIGINT");
	await new Promise((done) => run.once("exit", done));
});
