// SPDX-License-Identifier: Apache-2.0
/*
 * live.test.mjs — the page against a small server that speaks the live protocol of docs/replay.md: ticks, commands, a
 * server that stalls, floods, goes away and comes back.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { cameraRests, frames, startBrowser } from "./browser.mjs";
import { Server, tick } from "./live_server.mjs";

let browser;
before(async () => {
	browser = await startBrowser();
});
after(() => browser.close());

const near = (a, b, tolerance) => assert.ok(Math.abs(a - b) <= tolerance, `${a} is not within ${tolerance} of ${b}`);

async function connected(t) {
	const server = await new Server().start();
	t.after(() => server.stop());
	const opened = await browser.open(server.url, { network: true, width: 1100, height: 700 });
	server.run();
	await opened.page.waitForFunction(() => window.calder?.replay?.frames.t.count > 3);
	t.after(opened.close);
	return { server, ...opened };
}

/** Stops the server and waits until the page has all that was sent. */
async function holdAndCatchUp(server, page) {
	server.hold();
	await page.waitForFunction((t) => calder.end === t, server.t);
}

const state = (page) => page.locator(".live-state").textContent();

test("the page connects, shows ticks as they come, and plots them", async (t) => {
	const { page, complaints, server } = await connected(t);
	assert.equal(await page.locator("h1").textContent(), "Live pendulum");
	assert.match(await state(page), /^Live · 1× real time/);
	const first = await page.evaluate(() => calder.time);
	await page.waitForFunction((t) => calder.time > t + 0.3, first);
	await holdAndCatchUp(server, page);
	await page.waitForFunction(() => calder.time === calder.end);
	await frames(page);
	const shown = await page.evaluate(() => ({
		t: calder.time,
		q: calder.replay.signals[0].values.data[calder.replay.frames.t.count - 1],
		x: calder.view.sample.pose[7],
		eta: calder.view.sample.eta[0],
		arrow: calder.replay.arrows[0].vector.data[0],
	}));
	near(shown.t, server.t, 1e-12);
	assert.equal(shown.q, 0.3 * Math.sin(server.t));
	near(shown.x, Math.sin(0.3 * Math.sin(server.t)), 1e-6);
	near(shown.eta, 0.2 * Math.sin(5 * server.t), 1e-6);
	assert.equal(shown.arrow, 3);
	await page.getByRole("tab", { name: "Signals" }).click();
	await page.locator("#page-1 .row:visible", { hasText: "q:upper" }).first().click();
	await page.locator(".plot .uplot").waitFor();
	server.run();
	await page.waitForFunction((t) => calder.end > t + 0.5, server.t);
	assert.equal(await page.locator(".chip").count(), 1);
	assert.deepEqual(complaints, []);
});

test("pause, resume, step, speed and a joint's slider arrive as commands", async (t) => {
	const { page, complaints, server } = await connected(t);
	await page.keyboard.press(" ");
	assert.deepEqual(await server.command("pause"), { command: "pause" });
	server.hold();
	server.send({ state: { running: false } });
	await page.waitForFunction(() => document.querySelector(".live-state").textContent.startsWith("Paused"));
	await page.keyboard.press("ArrowRight");
	assert.deepEqual(await server.command("step"), { command: "step", count: 1 });
	await page.keyboard.press(" ");
	assert.deepEqual(await server.command("resume"), { command: "resume" });
	await page.keyboard.press("+");
	assert.deepEqual(await server.command("speed"), { command: "speed", value: 2 });
	server.send({ state: { speed: 0 } });
	await page.waitForFunction(() => document.querySelector(".timeline .rate").value === "fastest");
	await page.locator("[data-joint='0']").fill("1.5");
	assert.deepEqual(await server.command("joint"), { command: "joint", joint: 0, dof: 0, value: 1.5 });
	assert.deepEqual(complaints, []);
});

test("a slider follows its joint, holds it when moved, and releases it", async (t) => {
	const { page, complaints, server } = await connected(t);
	await holdAndCatchUp(server, page);
	await page.waitForFunction(() => calder.time === calder.end);
	await frames(page);
	const slider = page.locator("[data-joint='0']");
	const release = page.getByRole("button", { name: "Release upper" });
	near(Number(await slider.inputValue()), 0.3 * Math.sin(server.t), 1e-4);
	assert.equal(await release.isEnabled(), false);
	await slider.fill("1.5");
	await server.command("joint", (c) => c.value === 1.5);
	server.t += 0.5;
	server.send(tick(server.sequence++, server.t));
	await page.waitForFunction((end) => calder.time === end, server.t);
	await frames(page);
	assert.equal(Number(await slider.inputValue()), 1.5, "it stays where it was put");
	const shown = await page.locator(".joint-slider .value").first().textContent();
	near(parseFloat(shown), 0.3 * Math.sin(server.t), 1e-3);
	assert.match(shown, /→ 1.5 rad$/);
	await release.click();
	assert.deepEqual(await server.command("release_joint"), { command: "release_joint", joint: 0, dof: 0 });
	near(Number(await slider.inputValue()), 0.3 * Math.sin(server.t), 1e-4);
	const boxes = await page.evaluate(() =>
		[...document.querySelectorAll(".joint-slider > *")].map((e) => {
			const { left, right, top, bottom } = e.getBoundingClientRect();
			return { left, right, top, bottom };
		}),
	);
	for (const a of boxes)
		for (const b of boxes)
			if (a !== b)
				assert.ok(
					a.right <= b.left + 1 || b.right <= a.left + 1 || a.bottom <= b.top + 1 || b.bottom <= a.top + 1,
					`overlap: ${JSON.stringify([a, b])}`,
				);
	assert.deepEqual(complaints, []);
});

test("dragging a body applies a force at the point that was grabbed, and letting go releases it", async (t) => {
	const { page, complaints, server } = await connected(t);
	await holdAndCatchUp(server, page);
	await page.keyboard.press("2");
	await cameraRests(page);
	const [x, y] = await page.evaluate(() => {
		const { view, stage } = calder;
		const m = view.sample.matrix;
		const p = stage.camera.position
			.clone()
			.set(m[2] * -0.5 + m[3], m[6] * -0.5 + m[7], m[10] * -0.5 + m[11])
			.project(stage.camera);
		const box = stage.renderer.domElement.getBoundingClientRect();
		return [box.left + ((p.x + 1) / 2) * box.width, box.top + ((1 - p.y) / 2) * box.height];
	});
	await page.locator(".show-tools").getByRole("button", { name: "Push" }).click();
	const camera = await page.evaluate(() => calder.camera.numbers());
	await page.mouse.move(x, y);
	await page.mouse.down();
	await page.mouse.move(x + 80, y, { steps: 4 });
	const scale = await page.evaluate(() => {
		const { camera, height } = calder.stage;
		return (2 * Math.tan((camera.fov * Math.PI) / 360) * calder.camera.distance) / height;
	});
	const pull = 80 * scale * 250;
	await server.command("force", (c) => Math.abs(c.force[0] - pull) < 0.1 * pull);
	await page.mouse.up();
	await server.command("release");
	const last = server.commands.filter((c) => c.command === "force").at(-1);
	assert.equal(last.body, 0);
	near(last.point[2], -0.5, 0.02);
	near(Math.hypot(last.point[0], last.point[1]), 0.03, 0.012);
	near(last.force[0], pull, 0.1 * pull);
	near(last.force[2], 0, last.force[0] * 0.05);
	(await page.evaluate(() => calder.camera.numbers())).forEach((v, i) => near(v, camera[i], 1e-9)); // the camera stayed
	assert.deepEqual(complaints, []);
});

test("events and changes of topology arrive; ticks that do not fit are ignored and reported", async (t) => {
	const { page, complaints, server } = await connected(t);
	server.send({ event: { t: server.t, name: "Latch", text: "The latch closed.", kind: "lock" } });
	await page.locator(".mark", { hasText: "Latch" }).waitFor();
	server.send({ topology: { t: server.t, body: 1, parent: -1, group: "free" } });
	await page.waitForFunction(() => calder.view.sample.group[1] === "free");
	const count = await page.evaluate(() => calder.replay.frames.t.count);
	server.send(Buffer.alloc(17));
	await page.getByText("a tick of 17 bytes does not fit").waitFor();
	await page.waitForFunction((n) => calder.replay.frames.t.count > n, count);
	server.send({ error: "<b>refused</b>: the joint is locked" });
	await page.getByText("<b>refused</b>: the joint is locked").waitFor();
	server.hold();
	server.t = 0;
	server.send(tick(server.sequence++, 0));
	await page.waitForFunction(() => calder.replay.frames.t.count === 1 && calder.time === 0);
	assert.deepEqual(complaints, []);
});

test("a server that stalls or floods does not stop the page", async (t) => {
	const { page, complaints, server } = await connected(t);
	await holdAndCatchUp(server, page);
	await page.waitForTimeout(1200); // it stalls
	await page.locator("#time-slider").fill("0.05");
	await frames(page);
	near(await page.evaluate(() => calder.time), 0.05, 1e-6);
	assert.equal(await page.getByRole("button", { name: "To now" }).isEnabled(), true);
	const before = await page.evaluate(() => calder.replay.frames.t.count);
	for (let i = 0; i < 3000; i++) {
		server.t += 0.001;
		server.send(tick(server.sequence++, server.t));
	}
	await page.waitForFunction((n) => calder.replay.frames.t.count === n, before + 3000);
	near(await page.evaluate(() => calder.time), 0.05, 1e-6);
	await page.getByRole("button", { name: "To now" }).click();
	await page.waitForFunction(() => calder.time === calder.end);
	server.sequence += 5;
	server.send(tick(server.sequence++, (server.t += 0.01)));
	server.send({ state: { running: true } });
	await page.waitForFunction(() => document.querySelector(".live-state").textContent.includes("5 frames skipped"));
	assert.deepEqual(complaints, []);
});

test("a lost connection is reported and tried again; a run that is over is not", async (t) => {
	const { page, server } = await connected(t);
	const { port } = server;
	await server.stop();
	await page.waitForFunction(() => /lost|Connecting/.test(document.querySelector(".live-state").textContent));
	const frozen = await page.evaluate(() => calder.replay.frames.t.count);
	assert.ok(frozen > 0, "what was seen remains");
	const again = await new Server().start(port);
	t.after(() => again.stop());
	again.run();
	await page.waitForFunction(() => document.querySelector(".live-state").textContent.startsWith("Live"));
	await page.waitForFunction(() => calder.time > 0 && calder.time === calder.end);
	again.send({ end: "The run is complete." });
	await page.waitForFunction(() => document.querySelector(".live-state").textContent === "The run is complete.");
	again.hold();
	let connections = 0;
	again.sockets.on("connection", () => connections++);
	for (const socket of again.clients) socket.terminate();
	await page.waitForTimeout(1500);
	assert.equal(connections, 0);
});
