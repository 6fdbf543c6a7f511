// SPDX-License-Identifier: Apache-2.0
/*
 * everywhere.test.mjs — phones, desks and walls: axe-core finds nothing in any state of the page at four widths, every
 * control can be reached, fingers do what a mouse does, and within another page only scene, play button and title are left.
 */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { page as samplePage } from "../sample/pack.mjs";
import { make as pendulum } from "../sample/pendulum.mjs";
import { frames, startBrowser, violations } from "./browser.mjs";
import { Server } from "./live_server.mjs";

const WIDTHS = [
	[390, 780],
	[1024, 700],
	[1280, 800],
	[2560, 1300],
];
let browser;
before(async () => {
	browser = await startBrowser();
});
after(() => browser.close());

const near = (a, b, tolerance, what = "") =>
	assert.ok(Math.abs(a - b) <= tolerance, `${what} ${a} is not within ${tolerance} of ${b}`);

/** Controls that stick out of the window, where nothing scrolls, and a page that is wider than it. */
const outside = (page) =>
	page.evaluate(() => {
		const scrolls = (e) => {
			for (let p = e.parentElement; p; p = p.parentElement)
				if (/auto|scroll/.test(getComputedStyle(p).overflowX + getComputedStyle(p).overflowY)) return true;
			return false;
		};
		const found = document.documentElement.scrollWidth > innerWidth ? ["the page is too wide"] : [];
		for (const e of document.querySelectorAll("button, input, select, summary")) {
			const r = e.getBoundingClientRect();
			if (!e.checkVisibility() || r.width === 0 || e.closest(".marks") || scrolls(e)) continue;
			if (r.left < -1 || r.right > innerWidth + 1 || r.top < -1 || r.bottom > innerHeight + 1)
				found.push(
					`${e.getAttribute("aria-label") ?? e.textContent}: ${r.left}…${r.right}, ${r.top}…${r.bottom}`,
				);
		}
		return found;
	});

async function clean(page, state) {
	await frames(page);
	assert.deepEqual(await violations(page), [], state);
	assert.deepEqual(await outside(page), [], state);
}

const sheet = (page, name) => page.locator(".sheet-button").and(page.getByRole("button", { name, exact: true }));

for (const [width, height] of WIDTHS)
	for (const theme of width === 1280 ? ["light", "dark"] : ["light"])
		test(`${width} px, ${theme}: axe-core finds nothing in any state, and all is within reach`, async () => {
			const phone = width < 700;
			const { page, complaints, close } = await browser.sample("station", {
				...{ width, height, theme, touch: phone },
				hash: "#t=20&sel=body:solar%20array%20P3a",
			});
			await clean(page, "initial");
			if (phone) await sheet(page, "Scene and signals").click();
			await clean(page, "scene");
			await page.getByRole("tab", { name: "Signals" }).click();
			await clean(page, "signals");
			if (phone) await sheet(page, "Properties").click();
			await page.locator("summary", { hasText: "Look inside" }).click();
			await page.getByLabel("Cut along").selectOption("y");
			await page.locator("label", { hasText: "Transparent bodies" }).locator("input").check();
			await page.locator(".mode").first().click();
			await clean(page, "panels open");
			if (phone) await sheet(page, "Properties").click();
			await page.keyboard.press("y");
			await page.keyboard.press("p");
			await page.locator(".plot .uplot").waitFor();
			await clean(page, "plots");
			await page.keyboard.press("v");
			const canvas = await page.locator("canvas.view").boundingBox();
			const bodies = await page.evaluate(() => {
				const { view, stage } = calder;
				return [0, 1].map((body) => {
					const p = view.middleOf(body, stage.camera.position.clone()).project(stage.camera);
					return [((p.x + 1) / 2) * stage.width, ((1 - p.y) / 2) * stage.height];
				});
			});
			for (const [x, y] of bodies) await page.mouse.click(canvas.x + x, canvas.y + y);
			await clean(page, "measure tool");
			await page.getByRole("button", { name: "Export" }).click();
			await clean(page, "menu");
			await page.keyboard.press("Escape");
			await page.keyboard.press("?");
			await clean(page, "help");
			await page.keyboard.press("Escape");
			await page.getByRole("button", { name: "Export" }).click();
			await page.getByRole("menuitem", { name: /Figure or film/ }).click();
			await page.getByLabel("Kind").selectOption("mp4");
			await clean(page, "film");
			await page.keyboard.press("Escape");
			await page.keyboard.press("b");
			await clean(page, "large text");
			assert.deepEqual(complaints, []);
			await close();
		});

for (const width of [390, 1280])
	test(`${width} px: axe-core finds nothing in a live run, its end, and an error`, async (t) => {
		const server = await new Server().start();
		t.after(() => server.stop());
		const live = await browser.open(server.url, { network: true, width, height: 780, touch: width < 700 });
		server.run();
		await live.page.waitForFunction(() => window.calder?.replay?.frames.t.count > 3);
		if (width < 700) await sheet(live.page, "Properties").click();
		await clean(live.page, "live");
		server.send({ end: "The run is complete." });
		await live.page.waitForFunction(() => calder.live.state === "ended");
		await clean(live.page, "the end");
		await live.close();

		const document = pendulum();
		document.joints[1].to.body = 9;
		const path = join(browser.folder, `broken-${width}.html`);
		writeFileSync(path, samplePage(document));
		const broken = await browser.open(pathToFileURL(path).href, { width, height: 780 });
		await broken.page.getByText("This replay cannot be read").waitFor();
		assert.deepEqual(await violations(broken.page), [], "error");
		assert.deepEqual(await outside(broken.page), [], "error");
		await broken.close();
	});

test("one control has one name: no two in a panel are called the same", async () => {
	const { page, close } = await browser.sample("station", { hash: "#t=20&sel=joint:elbow%20pitch" });
	const double = await page.evaluate(() => {
		const found = [];
		for (const area of document.querySelectorAll(".header, .tools, .timeline, .side.right")) {
			const names = [...area.querySelectorAll("button, input, select")]
				.filter((e) => e.checkVisibility())
				.map((e) => e.getAttribute("aria-label") ?? e.labels?.[0]?.textContent ?? e.textContent);
			found.push(...names.filter((n, i) => n.trim() === "" || names.indexOf(n) !== i));
		}
		return found;
	});
	assert.deepEqual(double, []);
	await close();
});

/* ---- fingers ---------------------------------------------------------------------------------- */

/** Fingers from point to point, in steps: one list of points per moment. */
async function fingers(page, moments) {
	const session = await page.context().newCDPSession(page);
	const points = (list) => list.map(([x, y], id) => ({ x, y, id }));
	await session.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: points(moments[0]) });
	for (const moment of moments.slice(1))
		await session.send("Input.dispatchTouchEvent", { type: "touchMove", touchPoints: points(moment) });
	await session.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
}

const line = (from, to, steps = 8) =>
	Array.from({ length: steps + 1 }, (_, i) => from.map((v, k) => v + ((to[k] - v) * i) / steps));

test("on a phone a finger scrubs the whole time line, turns and zooms the scene, and taps select", async () => {
	const { page, complaints, close } = await browser.sample("pendulum", { width: 390, height: 780, touch: true });
	const slider = await page.locator("#time-slider").boundingBox();
	assert.ok(slider.height >= 28, "large enough for a finger");
	const y = slider.y + slider.height / 2;
	const part = () => page.evaluate(() => (calder.time - calder.start) / (calder.end - calder.start));
	await fingers(
		page,
		line([slider.x + 0.1 * slider.width, y], [slider.x + 0.8 * slider.width, y]).map((p) => [p]),
	);
	near(await part(), 0.8, 0.05);
	await fingers(
		page,
		line([slider.x + 0.8 * slider.width, y], [slider.x + slider.width + 8, y]).map((p) => [p]),
	);
	near(await part(), 1, 0.001);
	await fingers(
		page,
		line([slider.x + 0.5 * slider.width, y], [slider.x - 8, y]).map((p) => [p]),
	);
	near(await part(), 0, 0.001);

	const canvas = await page.locator("canvas.view").boundingBox();
	const middle = [canvas.x + canvas.width / 2, canvas.y + canvas.height * 0.75];
	const camera = () => page.evaluate(() => ({ at: calder.camera.numbers(), away: calder.camera.distance }));
	const before = await camera();
	await fingers(
		page,
		line(middle, [middle[0] + 90, middle[1]]).map((p) => [p]),
	);
	await frames(page, 4);
	const turned = await camera();
	assert.ok(Math.hypot(...turned.at.slice(0, 3).map((v, i) => v - before.at[i])) > 0.2 * before.away, "it turns");
	near(turned.away, before.away, 1e-3 * before.away, "and keeps its distance:");
	const apart = line([40], [110]).map(([d]) => [
		[middle[0] - d, middle[1]],
		[middle[0] + d, middle[1]],
	]);
	await fingers(page, apart);
	await frames(page, 4);
	assert.ok((await camera()).away < 0.7 * before.away, "two fingers zoom");
	await page.keyboard.press("f");
	await page.waitForFunction(() => calder.camera.progress === 1);
	await frames(page);
	const tap = await page.evaluate(() => {
		const { view, stage } = calder;
		const p = view.middleOf(0, stage.camera.position.clone()).project(stage.camera);
		return [((p.x + 1) / 2) * stage.width, ((1 - p.y) / 2) * stage.height];
	});
	await page.touchscreen.tap(canvas.x + tap[0], canvas.y + tap[1]);
	await page.waitForFunction(() => calder.selection?.body === 0);
	await page.getByRole("button", { name: "Properties" }).tap();
	await page.locator(".selection-name").waitFor();
	await page.getByRole("button", { name: "Scene and signals" }).tap();
	await page.locator("#page-0 .row:visible", { hasText: "lower arm" }).first().tap();
	await page.waitForFunction(() => calder.selection?.body === 1);
	assert.equal(await page.locator(".side.right").isVisible(), false, "one sheet at a time");
	await page.keyboard.press("Escape");
	assert.equal(await page.locator(".side.left").isVisible(), false);
	assert.deepEqual(complaints, []);
	await close();
});

/* ---- within another page -------------------------------------------------------------------- */

test("#embed leaves the scene, a play button and the title", async () => {
	const { page, complaints, close } = await browser.sample("pendulum", {
		hash: "#embed&t=2",
		width: 500,
		height: 320,
	});
	const visible = await page.evaluate(() =>
		[...document.querySelectorAll("button, input, select, h1, p, .gizmo")]
			.filter((e) => e.checkVisibility())
			.map((e) => e.getAttribute("aria-label") ?? e.textContent),
	);
	assert.deepEqual(visible, ["Play", "Double pendulum"]);
	const canvas = await page.locator("canvas.view").boundingBox();
	assert.deepEqual([canvas.width, canvas.height], [500, 320]);
	assert.deepEqual(await violations(page), []);
	assert.equal(await page.evaluate(() => calder.time), 2);
	await page.getByRole("button", { name: "Play" }).click();
	await page.waitForFunction(() => calder.time > 2.01);
	await page.getByRole("button", { name: "Pause" }).click();
	await page.waitForFunction(() => /^#embed&t=/.test(location.hash) && !location.hash.includes("t=2&"));
	await page.evaluate(() => (location.hash = "#t=1"));
	await page.locator(".header").waitFor();
	assert.deepEqual(complaints, []);
	await close();
});
