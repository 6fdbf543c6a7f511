// SPDX-License-Identifier: Apache-2.0
/*
 * campaign.test.mjs — campaigns in parallel coordinates: what is wrong in a document is named, lines are found where they are
 * drawn, and a click replays the case that the program ran, with its numbers.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { frames, startBrowser, violations } from "./browser.mjs";
import { startModules } from "./modules.mjs";

const { CALDER } = process.env;
const skip = CALDER ? false : "CALDER is not set";
let browser, modules, decodeCampaign, lineDistance, ranges;
before(async () => {
	modules = await startModules();
	({ decodeCampaign, lineDistance, ranges } = await modules.load("data/campaign.ts"));
	browser = await startBrowser();
});
after(() => Promise.all([browser.close(), modules.close()]));

const campaign = () => ({
	format: "calder-campaign",
	version: 1,
	axes: [
		{ name: "mass", unit: "kg", role: "parameter" },
		{ name: "rate", role: "output", below: 3 },
	],
	cases: [
		{ case: 0, status: "ok", values: [1, 2] },
		{ case: 4, status: "failed", message: "no", values: [1, null] },
	],
});

test("a campaign is read, and what is wrong in it is named", () => {
	const good = decodeCampaign(campaign());
	assert.deepEqual(
		good.cases.map((c) => [c.number, ...c.values]),
		[
			[0, 1, 2],
			[4, 1, NaN],
		],
	);
	assert.deepEqual([good.axes[1].above, good.axes[1].below], [-Infinity, 3]);
	assert.deepEqual(ranges(good), [
		[0, 2],
		[0, 4],
	]);
	for (const [change, text] of [
		[(c) => (c.version = 2), /version: 2 is not 1/],
		[(c) => (c.axes[0].role = "guess"), /axes\[0\]\.role: "guess" is none of/],
		[(c) => c.cases[1].values.pop(), /cases\[1\]\.values: has 1 numbers instead of 2/],
		[(c) => (c.cases[0].case = -1), /cases\[0\]\.case/],
		[(c) => (c.replays = [{ case: 3, replay: {} }]), /replays\[0\]\.case: is no case of the campaign/],
		[(c) => (c.replays = [{ case: 0 }]), /replays\[0\]\.replay: is not an object/],
	]) {
		const bad = campaign();
		change(bad);
		assert.throws(() => decodeCampaign(bad), text);
	}
});

test("the distance to a line is that to the segment between two axes", () => {
	const xs = [10, 110, 210];
	const heights = [0, 50, 30];
	assert.equal(lineDistance(xs, heights, 60, 25), 0);
	assert.equal(lineDistance(xs, heights, 160, 45), 5);
	assert.equal(lineDistance(xs, heights, 5, 0), Infinity);
	assert.equal(lineDistance(xs, [0, NaN, 30], 60, 25), Infinity);
});

const PLAN = `sweep: 1
title: Tip-off </script><b>
model: ${new URL("../../examples/separation.yaml", import.meta.url).pathname}
design: latin-hypercube
cases: 8
parameters:
  stiffness: {target: devices.push_x1.stiffness, normal: {mean: 20 kN/m, std: 200 N/m}}
  mass: {target: bodies.satellite.mass, uniform: {min: 280 kg, max: 320 kg}}
outputs:
  tip_off: {signal: "velocity:satellite.wy", statistic: peak}
  speed: {signal: "velocity:satellite.vz"}
`;

test("a click on a case replays it, with the numbers of that case", { skip }, async () => {
	const [plan, folder, html, json] = ["plan.yaml", "cases", "cases.html", "cases.json"].map((n) =>
		join(browser.folder, n),
	);
	writeFileSync(plan, PLAN);
	execFileSync(CALDER, ["sweep", plan, "-o", folder, "-q"]);
	execFileSync(CALDER, ["view", folder, "--html", html]);
	execFileSync(CALDER, ["view", folder, "--json", json, "--case", "5"]);
	const { cases, replays } = JSON.parse(readFileSync(json, "utf8"));
	assert.equal(cases.length, 8);
	assert.deepEqual(
		replays.map((r) => r.case),
		[5],
	);
	const { page, complaints, close } = await browser.open(pathToFileURL(html).href);
	await page.waitForFunction(() => window.calder?.stats.first > 0);
	const word = page.locator(".campaign-word");
	assert.equal(await word.textContent(), "8 cases");
	const offered = (await page.getByLabel("Case that is replayed").locator("option").allTextContents()).map((t) =>
		Number(t.replace("Case ", "")),
	);
	// The cases with extreme outputs, from the table.
	const extremes = [2, 3].flatMap((a) =>
		[Math.min, Math.max].map((f) => cases.find((c) => c.values[a] === f(...cases.map((o) => o.values[a]))).case),
	);
	assert.deepEqual(new Set(offered), new Set(extremes));
	const replayed = () =>
		page.evaluate(() => ({
			number: Number(calder.replay.title.match(/case (\d+)$/)[1]),
			model: calder.replay.modelName,
			mass: calder.replay.bodies.find((b) => b.name === "satellite").mass.mass,
		}));
	const first = (await replayed()).number;
	// Along a vertical between the last two axes, until the pointer is on another case that can be replayed.
	const box = await page.locator(".campaign canvas").boundingBox();
	const x = box.x + box.width * 0.7;
	let clicked = null;
	for (let y = box.y + box.height - 10; y > box.y && clicked === null; y -= 2) {
		await page.mouse.move(x, y);
		const found = Number((await word.textContent()).match(/^Case (\d+),/)?.[1] ?? -1);
		if (!offered.includes(found) || found === first) continue;
		await page.mouse.click(x, y);
		clicked = found;
	}
	assert.notEqual(clicked, null, "no line was found");
	await page.waitForFunction((n) => calder.replay.title.endsWith(`case ${n}`), clicked);
	const { mass, model } = await replayed();
	assert.match(model, /separation\.yaml$/, "the model of the plan, not the file that was run");
	assert.ok(
		Math.abs(mass - cases[clicked].values[1]) < 1e-6 * mass,
		`${mass} instead of ${cases[clicked].values[1]}`,
	);
	// A range of the last axis: the cases whose speed is in its upper half.
	const right = box.x + box.width - 62;
	const [top, bottom] = [box.y + 46, box.y + box.height - 22];
	await page.mouse.move(right, top - 3);
	await page.mouse.down();
	await page.mouse.move(right, (top + bottom) / 2, { steps: 4 });
	await page.mouse.up();
	const speeds = cases.map((c) => c.values[3]);
	const half = (Math.min(...speeds) + Math.max(...speeds)) / 2;
	const kept = speeds.filter((v) => v >= half).length;
	assert.equal(await word.textContent(), `${kept} of 8 cases`);
	await frames(page);
	assert.deepEqual(await violations(page), []);
	assert.deepEqual(complaints, []);
	await close();
});
