// SPDX-License-Identifier: Apache-2.0
/*
 * laboratory.test.mjs — parameters and moments of a live run: what the page sends, and what it shows of the answers.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { frames, startBrowser } from "./browser.mjs";
import { Server, tick } from "./live_server.mjs";

let browser;
before(async () => {
	browser = await startBrowser();
});
after(() => browser.close());

async function connected(t) {
	const server = await new Server().start();
	t.after(() => server.stop());
	const opened = await browser.open(server.url, { network: true, width: 1100, height: 900 });
	t.after(opened.close);
	server.run();
	await opened.page.waitForFunction(() => window.calder?.replay?.frames.t.count > 3);
	server.hold();
	await opened.page.waitForFunction((t) => calder.end === t, server.t);
	return { server, ...opened };
}

const field = (page, name) => page.locator(`input[data-parameter='${name}']`);

test("a parameter is sent when it is entered, and shows what the simulation says it is", async (t) => {
	const { page, complaints, server } = await connected(t);
	const mass = field(page, "body:upper.mass");
	assert.equal(await mass.inputValue(), "2");
	assert.equal(await mass.getAttribute("min"), "0");
	await mass.fill("5.5");
	await mass.press("Enter");
	assert.deepEqual(await server.command("parameter"), { command: "parameter", parameter: 2, value: 5.5 });
	server.send({ parameter: { index: 2, value: 5.5 } });
	await page.waitForFunction(() => calder.live.parameters[2].value === 5.5);
	assert.equal(await mass.inputValue(), "5.5");
	await mass.fill("-1");
	await mass.press("Enter");
	await server.command("parameter", (c) => c.value === -1);
	server.send({ error: "body:upper.mass cannot be -1: give a finite number above 0 kg" });
	server.send({ parameter: { index: 2, value: 5.5 } }); // refused: it is as it was
	await page.getByText("cannot be -1").waitFor();
	await page.waitForFunction(() => document.querySelector("input[data-parameter='body:upper.mass']").value === "5.5");
	const integral = field(page, "device:motor.integral");
	assert.equal(await integral.isDisabled(), true);
	assert.match(await integral.getAttribute("title"), /there is none/);
	assert.equal(await field(page, "group:main.gravity.z").inputValue(), "-9.81");
	assert.equal(await page.locator(".parameter-group summary").first().textContent(), "device motor");
	assert.deepEqual(complaints, []);
});

test("a field that is emptied sends nothing and shows its number again", async (t) => {
	const { page, server } = await connected(t);
	const gain = field(page, "device:motor.proportional");
	await gain.fill("");
	await gain.press("Tab");
	await frames(page);
	assert.equal(await gain.inputValue(), "20");
	assert.deepEqual(
		server.commands.filter((c) => c.command === "parameter"),
		[],
	);
});

test("messages about parameters that do not fit are reported, and change nothing", async (t) => {
	const { page, complaints, server } = await connected(t);
	for (const parameter of [
		{ index: 4, value: 1 },
		{ index: -1, value: 1 },
		{ index: 0.5, value: 1 },
		{ index: "0" },
		null,
	]) {
		server.send({ parameter });
		await page.getByText("cannot be read").first().waitFor();
	}
	server.send({ moments: [{ moment: "<b>x</b>", t: 1 }] });
	await frames(page);
	const values = await page.evaluate(() => calder.live.parameters.map((p) => p.value));
	assert.deepEqual(values, [20, 0, 2, -9.81]);
	assert.deepEqual(complaints, []);
});

test("moments are kept, returned to and forgotten; the history ends where the run goes back to", async (t) => {
	const { page, complaints, server } = await connected(t);
	server.send({ moments: [{ moment: 0, t: 0 }] });
	await page.getByRole("button", { name: "Keep this moment" }).click();
	await server.command("keep");
	server.send({
		moments: [
			{ moment: 0, t: 0 },
			{ moment: 3, t: 0.04 },
		],
	});
	server.send({ event: { t: server.t, name: "late", text: "set body:upper.mass to 3 kg" } });
	await page.locator(".mark", { hasText: "late" }).waitFor();
	await page.getByRole("button", { name: "Back to 0.04 s" }).click();
	assert.deepEqual(await server.command("return"), { command: "return", moment: 3 });
	server.t = 0.04;
	server.send(tick(server.sequence++, server.t));
	await page.waitForFunction(() => calder.replay.frames.t.count === 1 && calder.time === 0.04);
	assert.equal(await page.locator(".mark", { hasText: "late" }).count(), 0);
	await page.getByRole("button", { name: "Forget 0.04 s" }).click();
	assert.deepEqual(await server.command("forget"), { command: "forget", moment: 3 });
	server.send({ moments: [{ moment: 0, t: 0 }] });
	await page.waitForFunction(() => document.querySelectorAll(".moment").length === 0);
	await page.getByRole("button", { name: "Back to the start" }).click();
	assert.deepEqual(await server.command("reset"), { command: "reset" });
	assert.deepEqual(complaints, []);
});

test("a pause within a long step says so, and the end of a run that stays what can be done", async (t) => {
	const { page, server } = await connected(t);
	const state = page.locator(".live-state");
	server.send({ state: { running: false, busy: true, text: "" } });
	await page.waitForFunction(() =>
		document.querySelector(".live-state").textContent.startsWith("Paused after this step"),
	);
	server.send({ state: { running: false, busy: false, text: "" } });
	await page.waitForFunction(() => /^Paused(?! after)/.test(document.querySelector(".live-state").textContent));
	server.send({
		state: { running: false, busy: false, text: "the end of the run: go back to the start or to a moment" },
	});
	await page.waitForFunction(() =>
		document.querySelector(".live-state").textContent.startsWith("the end of the run"),
	);
	assert.equal(await state.getAttribute("data-state"), "paused");
});
