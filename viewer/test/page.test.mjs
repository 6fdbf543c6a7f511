// SPDX-License-Identifier: Apache-2.0
/*
 * page.test.mjs — the page as such: hostile names, the policy, contrast in both themes, the start, the size, and how
 * long things take. Chromium draws in software here: what is measured is the script of a frame, not the picture.
 */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { NAMES } from "../sample/hostile.mjs";
import { page as samplePage } from "../sample/pack.mjs";
import { make as pendulum } from "../sample/pendulum.mjs";
import { frames, startBrowser, threadClock } from "./browser.mjs";

let browser;
before(async () => {
	browser = await startBrowser();
});
after(() => browser.close());

const BUILT = new URL("../dist/viewer.html", import.meta.url);

test("the viewer without data is one file below 1.5 MB with one place for the document", () => {
	const html = readFileSync(BUILT, "utf8");
	assert.ok(html.length < 1.5e6, `${html.length} bytes`);
	assert.equal(html.split("@CALDER_REPLAY_JSON@").length, 2);
	assert.ok(html.includes('<script type="application/json" id="calder-replay">@CALDER_REPLAY_JSON@</script>'));
	assert.ok(
		!/<(script|link|img|iframe)[^>]+(src|href)="(?!data:)/.test(
			html.replace(/<script type="module"[\s\S]*?<\/script>/, ""),
		),
	);
	assert.match(html, /SPDX-License-Identifier: Apache-2.0/);
});

test("hostile names are text", async () => {
	const { page, complaints, close } = await browser.sample("hostile", { hash: "#t=4.1" });
	page.on("dialog", () => assert.fail("a dialog"));
	await page.locator(".tree-tools").getByRole("button", { name: "Nodes" }).click();
	assert.equal(await page.locator("h1").textContent(), NAMES.title);
	const names = await page.locator("#page-0 .row:visible .name").allTextContents();
	for (const name of [NAMES.group, NAMES.body, NAMES.node, NAMES.joint])
		assert.ok(names.includes(name), `${name} is not in ${names.join(" | ")}`);
	await page.locator("#page-0 .row", { hasText: "iframe" }).first().click();
	assert.equal(await page.locator(".selection-name").textContent(), NAMES.joint);
	await page.keyboard.press("p");
	assert.equal(await page.locator(".chip .name").first().textContent(), NAMES.signal);
	assert.equal(await page.locator(".mark").textContent(), NAMES.event);
	assert.ok((await page.locator(".badge").textContent()).startsWith(NAMES.badge));
	await frames(page);
	assert.match(await page.locator(".caption").textContent(), /<a href=/);
	await page.getByRole("tab", { name: "Signals" }).click();
	await page.waitForFunction(() => location.hash.includes("sel=")); // the address takes the names too
	assert.equal(await page.evaluate(() => window.harmed), undefined);
	const counts = await page.evaluate(() =>
		["script", "iframe", "img", "style", "marquee", "base", "a[href]"].map(
			(s) => document.querySelectorAll(s).length,
		),
	);
	assert.deepEqual(counts, [2, 0, 0, 1, 0, 0, 0], "scripts, iframes, images, styles, … in the page");
	assert.deepEqual(complaints, []);
	await close();
});

test("the policy refuses other scripts, styles and the network", async () => {
	const { page, close } = await browser.sample("pendulum", { network: true });
	const refused = await page.evaluate(async () => {
		const seen = [];
		document.addEventListener("securitypolicyviolation", (event) => seen.push(event.effectiveDirective));
		const script = document.createElement("script");
		script.textContent = "window.harmed = 1";
		document.head.append(script);
		const style = document.createElement("style");
		style.textContent = "body { display: none }";
		document.head.append(style);
		const image = new Image();
		image.src = "https://example.invalid/x.png";
		await fetch("https://example.invalid/").catch(() => 0);
		try {
			new WebSocket("wss://example.invalid/live");
		} catch {
			/* refused at once */
		}
		while (new Set(seen).size < 4) await new Promise((done) => setTimeout(done, 20));
		return {
			seen: [...new Set(seen)].sort(),
			harmed: window.harmed,
			display: getComputedStyle(document.body).display,
		};
	});
	assert.deepEqual(refused.seen, ["connect-src", "img-src", "script-src-elem", "style-src-elem"]);
	assert.equal(refused.harmed, undefined);
	assert.notEqual(refused.display, "none");
	await close();
});

test("a document that cannot be read is explained, not drawn", async () => {
	const doc = pendulum();
	doc.joints[1].to.body = 9;
	const path = join(browser.folder, "broken.html");
	writeFileSync(path, samplePage(doc));
	const { page, complaints, close } = await browser.open(pathToFileURL(path).href);
	await page.getByText("This replay cannot be read").waitFor();
	await page.getByText("joints[1].to.body: 9 is not an index below 2").waitFor();
	assert.deepEqual(complaints, []);
	await close();
});

test("the viewer without data asks for a file and opens it", async () => {
	const { page, complaints, close } = await browser.open(BUILT.href);
	const [chooser] = await Promise.all([
		page.waitForEvent("filechooser"),
		page.getByRole("button", { name: "Open a replay…" }).click(),
	]);
	await chooser.setFiles(await browser.file("pendulum"));
	await page.waitForFunction(() => window.calder.replay?.title === "Double pendulum");
	assert.equal(await page.locator(".start").isVisible(), false);
	assert.deepEqual(complaints, []);
	await close();
});

/* ---- contrast ------------------------------------------------------------------------------ */

/** Runs in the page: every text in sight with the contrast to its background. */
function contrasts() {
	const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
	const rgba = (text) => {
		context.clearRect(0, 0, 1, 1);
		context.fillStyle = text;
		context.fillRect(0, 0, 1, 1);
		const [r, g, b, a] = context.getImageData(0, 0, 1, 1).data;
		return [r, g, b, a / 255];
	};
	const light = ([r, g, b]) => {
		const [x, y, z] = [r, g, b].map((v) =>
			v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4,
		);
		return 0.2126 * x + 0.7152 * y + 0.0722 * z;
	};
	const over = (top, below) => below.map((v, i) => (i < 3 ? top[i] * top[3] + v * (1 - top[3]) : 1));
	const backgroundOf = (element) => {
		const layers = [];
		for (let e = element; e; e = e.parentElement) layers.push(rgba(getComputedStyle(e).backgroundColor));
		return layers.reduceRight((below, top) => over(top, below), [255, 255, 255, 1]);
	};
	const found = [];
	const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (walker.nextNode()) {
		const element = walker.currentNode.parentElement;
		const text = walker.currentNode.data.trim();
		if (
			!text ||
			!element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) ||
			element.closest("script, style, .gizmo, noscript, :disabled")
		)
			continue;
		const background = backgroundOf(element);
		const color = over(rgba(getComputedStyle(element).color), background);
		const [a, b] = [light(color), light(background)].sort((x, y) => y - x);
		found.push({ text: text.slice(0, 40), ratio: (a + 0.05) / (b + 0.05), class: element.className });
	}
	return found;
}

for (const theme of ["light", "dark"])
	test(`contrast in the ${theme} theme is at least 4.5`, async () => {
		const { page, complaints, close } = await browser.sample("station", {
			theme,
			hash: "#t=20&sel=body:solar%20array%20P3a&plot=q:elbow%20pitch",
		});
		assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), theme, "as the system prefers");
		const check = async (where) => {
			const all = await page.evaluate(contrasts);
			assert.ok(all.length > 20, `${all.length} texts`);
			assert.deepEqual(
				all.filter((t) => t.ratio < 4.5),
				[],
				where,
			);
		};
		await page.locator(".mode").first().click();
		await page.locator("[data-test=coloring]").selectOption("strain");
		await page.keyboard.press("h");
		await check("scene");
		await page.keyboard.press("h");
		await page.getByRole("tab", { name: "Signals" }).click();
		await check("signals");
		await page.getByRole("button", { name: "Export" }).click();
		await check("menu");
		await page.keyboard.press("Escape");
		await page.keyboard.press("?");
		await check("help");
		assert.deepEqual(complaints, []);
		await close();
	});

for (const theme of ["light", "dark"])
	test(`the lines of a plot in the ${theme} theme stand out from its ground by at least 3`, async () => {
		const joints = [
			"shoulder roll",
			"shoulder yaw",
			"shoulder pitch",
			"elbow pitch",
			"wrist pitch",
			"wrist yaw",
			"wrist roll",
		];
		const names = [...joints.map((name) => `q:${name}`), "reaction:wrist roll"].map(encodeURIComponent);
		const { page, close } = await browser.sample("station", { theme, hash: `#plot=${names.join(",")}` });
		const colors = await page.evaluate(() => [
			getComputedStyle(document.querySelector(".dock")).backgroundColor,
			...[...document.querySelectorAll(".chip .swatch")].map((e) => getComputedStyle(e).backgroundColor),
		]);
		const light = (text) => {
			const linear = text
				.match(/\d+/g)
				.map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
			return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] + 0.05;
		};
		const [ground, ...lines] = colors.map(light);
		assert.equal(new Set(colors).size, 9, "eight colors on a ground");
		for (const line of lines) assert.ok(Math.max(line / ground, ground / line) >= 3, `${colors}`);
		await close();
	});

test("the theme switches, and pictures follow", async () => {
	const { page, complaints, close } = await browser.sample("pendulum", { theme: "light" });
	const corner = () => page.evaluate(() => getComputedStyle(document.querySelector(".header")).backgroundColor);
	const light = await corner();
	const picture = await page.locator("canvas.view").screenshot();
	await page.getByRole("button", { name: "Light or dark" }).click();
	await frames(page);
	assert.notEqual(await corner(), light);
	assert.ok(!picture.equals(await page.locator("canvas.view").screenshot()));
	await page.keyboard.press("b");
	assert.equal(await page.evaluate(() => getComputedStyle(document.documentElement).fontSize), "19px");
	assert.deepEqual(complaints, []);
	await close();
});

/* ---- time ---------------------------------------------------------------------------------- */

test("the first frame of the station takes less than a second of processor time", async (t) => {
	const walls = [],
		threads = [];
	for (let i = 0; i < 4; i++) {
		const { wall, processor, complaints, close } = await browser.measured(
			pathToFileURL(await browser.file("station")).href,
		);
		walls.push(wall);
		threads.push(processor);
		assert.deepEqual(complaints, []);
		await close();
	}
	const rounded = (list) => list.map((v) => Math.round(v)).join(", ");
	t.diagnostic(
		`first frames after ${rounded(walls)} ms, processor time ${rounded(threads)} ms, ` +
			`load ${loadavg()[0].toFixed(1)} on ${cpus().length} cores`,
	);
	assert.ok(Math.min(...threads) <= 1000, `${Math.min(...threads)} ms of processor time`);
});

test("500 bodies: the script of a frame takes a fraction of 16 ms and allocates next to nothing", async (t) => {
	const { page, complaints, close } = await browser.sample("many", { width: 1000, height: 600 });
	const thread = await threadClock(page);
	const run = (count) =>
		page.evaluate((n) => {
			const { view, start, end } = calder;
			gc();
			const before = performance.memory.usedJSHeapSize;
			for (let i = 0; i < n; i++) view.update(start + ((end - start) * i) / n);
			return (performance.memory.usedJSHeapSize - before) / n;
		}, count);
	await run(300);
	const before = await thread();
	const bytes = await run(1000);
	const mean = ((await thread()) - before) / 1000;
	await page.evaluate(() => calder.setPlaying(true));
	await page.waitForFunction((n) => calder.stats.frames > n, (await page.evaluate(() => calder.stats.frames)) + 10);
	const whole = await page.evaluate(() =>
		Array.from(calder.stats.script.slice(0, Math.min(240, calder.stats.frames))).sort((a, b) => a - b),
	);
	const calls = await page.evaluate(() => calder.stage.renderer.info.render.calls);
	t.diagnostic(
		`poses and instances: ${mean.toFixed(2)} ms of processor time, ${Math.round(bytes)} bytes per frame; ` +
			`whole script of a frame: median ${whole[whole.length >> 1].toFixed(2)} ms; ${calls} draw calls`,
	);
	assert.ok(mean < 4, `${mean} ms`);
	assert.ok(bytes < 1000, `${bytes} bytes per frame`);
	assert.ok(calls < 20, `${calls} draw calls`);
	assert.ok(whole[whole.length >> 1] < 16, `${whole[whole.length >> 1]} ms`);
	assert.deepEqual(complaints, []);
	await close();
});
