// SPDX-License-Identifier: Apache-2.0
/*
 * turns.test.mjs — bodies that turn far between frames or ticks are shown as they move: against angles that are known at
 * every time, and against the same run recorded finely.
 */
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { BODIES, COUNT, STEP, poseAt } from "../sample/spinner.mjs";
import { startBrowser } from "./browser.mjs";

const { CALDER } = process.env;
let browser;
before(async () => {
	browser = await startBrowser();
});
after(() => browser.close());

/** Poses of all bodies at the times, as the page draws them. */
const shown = (page, times) =>
	page.evaluate((list) => {
		const { sample } = calder.view;
		return list.map((t) => {
			sample.at(t);
			return [...sample.pose];
		});
	}, times);

/** The angle between two orientations [rad]. */
function apart(p, q) {
	const norm = Math.hypot(...p) * Math.hypot(...q);
	return 2 * Math.acos(Math.min(1, Math.abs(p.reduce((sum, v, i) => sum + v * q[i], 0)) / norm));
}

test("between frames a body turns as its angular velocity says", async () => {
	const { page, complaints, close } = await browser.sample("spinner");
	const times = Array.from({ length: 97 }, (_, i) => (i * STEP * (COUNT - 1)) / 96);
	const poses = await shown(page, times);
	times.forEach((t, i) =>
		BODIES.forEach((body, b) => {
			const pose = poses[i].slice(7 * b, 7 * b + 7);
			const wanted = poseAt(body, t);
			const angle = apart(pose.slice(3), wanted.slice(3));
			assert.ok(angle < 2e-3, `${body.name} at ${t} s is off by ${angle} rad`);
			const off = Math.hypot(...[0, 1, 2].map((k) => pose[k] - wanted[k]));
			assert.ok(off < 1e-3, `${body.name} at ${t} s is off by ${off} m`); // a chord of 0.5 rad is off by 31 mm
		}),
	);
	assert.deepEqual(complaints, []);
	await close();
});

const skip = CALDER ? false : "CALDER is not set";

/** A run of the example for so long, opened; and its poses of the hub every 10 ms from a second, finer record. */
async function panels(duration, options) {
	const model = new URL("../../examples/spinning_panels.yaml", import.meta.url).pathname;
	const stem = join(browser.folder, `panels-${duration}`);
	const run = ["run", model, "-q", "-d", String(duration)];
	execFileSync(CALDER, [...run, "--interval", "2", "-o", `${stem}.h5`]);
	execFileSync(CALDER, [...run, "--interval", "0.01", "-s", "pose:hub", "-s", "pose:right", "-o", `${stem}.csv`]);
	execFileSync(CALDER, ["view", `${stem}.h5`, "--html", `${stem}.html`, ...options]);
	const opened = await browser.open(pathToFileURL(`${stem}.html`).href);
	await opened.page.waitForFunction(() => window.calder?.stats.first > 0);
	const rows = readFileSync(`${stem}.csv`, "utf8").trim().split("\n").slice(1);
	return { ...opened, rows: rows.map((line) => line.split(",").map(Number)) };
}

test("spinning_panels, recorded every 2 s at 3 rad/s, turns the way it does", { skip }, async () => {
	const { page, complaints, close, rows } = await panels(20, []);
	const poses = await shown(
		page,
		rows.map((row) => row[0]),
	);
	let [worst, farthest] = [0, 0];
	rows.forEach((row, i) => {
		worst = Math.max(worst, apart(poses[i].slice(3, 7), row.slice(4, 8)));
		farthest = Math.max(farthest, Math.hypot(...[0, 1, 2].map((k) => poses[i][7 + k] - row[8 + k])));
	});
	assert.ok(worst < 0.02, `the hub is off by ${worst} rad`);
	assert.ok(farthest < 0.02, `the panel is off by ${farthest} m`);
	assert.deepEqual(await page.evaluate(() => calder.replay.badges.map((b) => b.label)), ["Energy"]);
	assert.deepEqual(complaints, []);
	await close();
});

test("where the frames do not resolve the motion, a badge says so and names the bodies", { skip }, async () => {
	const { page, complaints, close } = await panels(40, ["--frames", "9"]);
	const badge = page.locator(".badge", { hasText: "Turns" });
	assert.equal(await badge.getAttribute("data-state"), "bad");
	assert.match(await badge.getAttribute("title"), /hub, right, left; .*--frames/);
	assert.deepEqual(complaints, []);
	await close();
});

test("a live run sends the velocities of its bodies", { skip }, async (t) => {
	const model = join(browser.folder, "wheel.yaml");
	writeFileSync(
		model,
		`calder: 1
title: Wheel
bodies: {wheel: {mass: 1, inertia: [1, 1, 1]}}
joints: {axle: {type: revolute, axis: z, to: wheel}}
state: {axle: {u: 3 rad/s}}
run: {duration: 600 s, method: rk4, step: 1 s, output: {interval: 1 s, signals: [q]}}
`,
	);
	const run = spawn(CALDER, ["run", model, "-q", "--live", "--no-browser"], { stdio: ["ignore", "ignore", "pipe"] });
	t.after(() => run.kill("SIGKILL"));
	const address = await new Promise((done) =>
		run.stderr.once("data", (text) => done(String(text).match(/http:\/\/127\.0\.0\.1:\d+\//)[0])),
	);
	const { page, complaints, close } = await browser.open(address, { network: true });
	// A busy machine sends several ticks of the same time: wait for the times that are asked for below, not for a count.
	await page.waitForFunction(() => {
		const t = calder.replay?.title === "Wheel" ? calder.replay.frames.t : null;
		return t !== null && t.count > 0 && t.data[t.count - 1] - t.data[0] >= 2;
	});
	const start = await page.evaluate(() => calder.replay.frames.t.data[0]);
	const times = [0.25, 0.5, 0.75, 1.4].map((time) => start + time);
	const poses = await shown(page, times);
	times.forEach((time, i) => {
		const wanted = [Math.cos(1.5 * time), 0, 0, Math.sin(1.5 * time)];
		const got = poses[i].slice(3, 7);
		assert.ok(apart(got, wanted) < 1e-3, `at ${time} s: ${got} instead of ${wanted}`);
	});
	assert.equal(await page.locator(".badge", { hasText: "Turns" }).getAttribute("data-state"), "good");
	assert.deepEqual(complaints, []);
	await close();
	run.kill("SIGINT");
	await new Promise((done) => run.once("exit", done));
});
