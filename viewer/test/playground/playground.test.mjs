// SPDX-License-Identifier: Apache-2.0
/*
 * playground.test.mjs — the playground in Chromium, from a file and without a network: examples, files that are dropped, forces,
 * joints, parameters, mistakes at their place, links. `./dev playground` builds the page before.
 */
import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { cameraRests, startBrowser } from "../browser.mjs";

const root = join(import.meta.dirname, "../../..");
const path = join(root, "build/playground/playground.html");
const url = pathToFileURL(path).href;

let browser;
before(async () => {
	browser = await startBrowser();
});
after(() => browser.close());

/** A pendulum that rests: whatever moves it comes from the page. */
const RESTING = `calder: 1
title: Resting
gravity: [0, 0, -9.81]
bodies:
  rod: {mass: 2 kg, rod: {from: [0, 0, 0], to: [0, 0, -1]}}
joints:
  hinge: {type: revolute, from: ground, to: rod, axis: y}
run: {duration: 1 s}
`;

async function opened(t, { hash = "", address = url, network = false } = {}) {
	const made = await browser.open(address + hash, { width: 1300, height: 800, network });
	t.after(made.close);
	await running(made.page);
	return made;
}

/** Until the run that is shown has moved on. */
async function running(page, title) {
	await page.waitForFunction(
		(wanted) =>
			window.calder?.replay?.frames.t.count > 3 &&
			(wanted === undefined || document.querySelector("h1").textContent === wanted),
		title,
	);
}

async function drop(page, files) {
	await page.evaluate((given) => {
		const data = new DataTransfer();
		for (const { name, text } of given) data.items.add(new File([text], name));
		document.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
	}, files);
}

const type = (page, text) => page.locator(".editor-text").fill(text);
const message = (page) => page.locator(".editor-message");

async function runText(page, text, title) {
	await type(page, text);
	await page.locator(".editor-text").press("Control+Enter");
	await running(page, title);
}

test("the page is one file of at most 3 MB, runs an example from disk and asks for nothing", async (t) => {
	assert.ok(statSync(path).size <= 3e6, `${statSync(path).size} bytes`);
	const { page, complaints } = await opened(t);
	assert.equal(await page.locator("h1").textContent(), "Double pendulum");
	const before = await page.evaluate(() => calder.end);
	await page.waitForFunction((end) => calder.end > end + 0.2, before);
	assert.deepEqual(complaints, []);
});

test("every example runs", async (t) => {
	const { page, complaints } = await opened(t);
	const names = await page.locator(".editor-tools option").evaluateAll((all) => all.map((o) => o.value));
	assert.ok(names.length >= 20);
	for (const name of names) {
		await page.locator(".editor-tools select").selectOption(name);
		await page.waitForFunction(
			(wanted) => document.querySelector(".editor-status").textContent.startsWith(`${wanted} runs.`),
			name,
		);
		await page.waitForFunction(() => calder.live.state === "open" && calder.replay.frames.t.count > 1);
	}
	assert.deepEqual(complaints, []);
});

test("a URDF that is dropped runs, with its import report, and becomes a model file", async (t) => {
	const { page, complaints } = await opened(t);
	const text = readFileSync(join(root, "examples/zoo/arm.urdf"), "utf8");
	await drop(page, [{ name: "own.urdf", text }]);
	await page.waitForFunction(() => document.querySelector(".editor-status").textContent.startsWith("own.urdf runs."));
	await running(page);
	assert.match(await page.locator(".editor-status").textContent(), /own\.urdf:\d+:\d+: /);
	const links = [...text.matchAll(/<link name="([^"]*)"/g)].length;
	const bodies = await page.evaluate(() => calder.replay.bodies.length - 1);
	assert.ok(bodies > 3 && bodies <= links, `${bodies} bodies of ${links} links`);
	await page.getByRole("button", { name: "As model file" }).click();
	await page.waitForFunction(() => document.querySelector(".editor-status").textContent.startsWith("own.yaml runs."));
	assert.match(await page.locator(".editor-text").inputValue(), /^calder: 1/m);
	assert.deepEqual(complaints, []);
});

test("dragging a body pulls at it, and letting go releases it", async (t) => {
	const { page } = await opened(t);
	await runText(page, RESTING, "Resting");
	const angle = () =>
		page.evaluate(
			() => calder.replay.signals.find((s) => s.name === "q:hinge").values.data[calder.replay.frames.t.count - 1],
		);
	assert.equal(await angle(), 0);
	await page.evaluate(() => calder.camera.preset("front", calder.view.bounds(), true));
	await cameraRests(page);
	const box = await page.locator("canvas.view").boundingBox();
	const [x, y] = await page.evaluate(() => {
		const p = calder.stage.camera.position.clone().set(0, 0, -0.8).project(calder.stage.camera);
		return [(p.x + 1) / 2, (1 - p.y) / 2];
	});
	await page.keyboard.down("Alt");
	await page.mouse.move(box.x + x * box.width, box.y + y * box.height);
	await page.mouse.down();
	await page.mouse.move(box.x + x * box.width + 120, box.y + y * box.height, { steps: 5 });
	await page.waitForFunction(() => {
		const { signals, frames } = calder.replay;
		return Math.abs(signals.find((s) => s.name === "q:hinge").values.data[frames.t.count - 1]) > 0.05;
	});
	await page.mouse.up();
	await page.keyboard.up("Alt");
	await page.getByRole("button", { name: "Back to the start" }).click();
	await page.waitForFunction(() => calder.end < 0.5 && calder.replay.frames.t.count > 1);
	await page.waitForFunction(() => calder.replay.frames.t.count > 5);
	assert.equal(await angle(), 0); // nothing pulls any more
});

test("sliders move joints, and parameters are changed and refused", async (t) => {
	const { page } = await opened(t);
	await runText(page, RESTING, "Resting");
	await page.evaluate(() => {
		const slider = document.querySelector(".joint-slider input");
		slider.value = "0.5";
		slider.dispatchEvent(new Event("input"));
	});
	// The slider is a spring of 3 rad/s: it rests where I 9 (0.5 - q) = m g L/2 sin q with I = m L^2/3, at 0.1905 rad.
	await page.waitForFunction(() => {
		const { signals, frames } = calder.replay;
		return Math.abs(signals.find((s) => s.name === "q:hinge").values.data[frames.t.count - 1] - 0.1905) < 1e-3;
	});
	const mass = page.locator("input[data-parameter='body:rod.mass']");
	await page.evaluate(() => document.querySelectorAll("details").forEach((d) => (d.open = true)));
	await mass.fill("5");
	await mass.press("Enter");
	await page.waitForFunction(() => calder.live.parameters.find((p) => p.name === "body:rod.mass").value === 5);
	await mass.fill("-5");
	await mass.press("Enter");
	await page.getByText("body:rod.mass cannot be -5").first().waitFor();
	await page.waitForFunction(() => calder.live.parameters.find((p) => p.name === "body:rod.mass").value === 5);
});

test("a mistake is marked in its line while the run continues, and its message leads there", async (t) => {
	const { page } = await opened(t);
	await runText(page, RESTING, "Resting");
	await type(page, RESTING.replace("mass: 2 kg", "mas: 2 kg"));
	await message(page).waitFor();
	assert.equal(
		await message(page).textContent(),
		'double_pendulum.yaml:5:9: error: body "rod": unknown key "mas"; did you mean "mass"?',
	);
	assert.equal(await page.locator(".editor-numbers .bad").textContent(), "5");
	const end = await page.evaluate(() => calder.end);
	await page.waitForFunction((before) => calder.end > before + 0.1, end);
	await message(page).click();
	const [at, focused] = await page.evaluate(() => {
		const area = document.querySelector(".editor-text");
		return [area.selectionStart, document.activeElement === area];
	});
	assert.ok(focused);
	assert.equal(RESTING.replace("mass: 2 kg", "mas: 2 kg").slice(at, at + 4), "mas:");
	await type(page, RESTING);
	await message(page).waitFor({ state: "hidden" });
	assert.equal(await page.locator(".editor-numbers .bad").count(), 0);
	await type(page, "<robot name='r'>\n<link name='a'></robot>");
	await page.waitForFunction(() => document.querySelector(".editor-numbers .bad")?.textContent === "2");
});

test("a link has the model in it, and also a server without headers of its own serves the page", async (t) => {
	const server = createServer((request, response) => {
		response.writeHead(200, { "content-type": "text/html" });
		response.end(readFileSync(path));
	});
	await new Promise((done) => server.listen(0, "127.0.0.1", done));
	t.after(() => server.close());
	const address = `http://127.0.0.1:${server.address().port}/`;
	const { page } = await opened(t, { address, network: true });
	const text = RESTING.replace("Resting", 'Längs <b>&</b> "quer"');
	await runText(page, text);
	await page.getByRole("button", { name: "Copy link" }).click();
	await page.waitForFunction(() => location.hash.includes("model="));
	const hash = await page.evaluate(() => location.hash);
	const second = await opened(t, { hash });
	assert.equal(await second.page.locator(".editor-text").inputValue(), text);
	assert.equal(await second.page.locator("h1").textContent(), 'Längs <b>&</b> "quer"');
	const third = await opened(t, { hash: "#model=nonsense" });
	assert.equal(await third.page.locator("h1").textContent(), "Double pendulum");
	assert.deepEqual([...second.complaints, ...third.complaints], []);
});
