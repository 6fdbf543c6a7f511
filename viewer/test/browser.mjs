// SPDX-License-Identifier: Apache-2.0
/*
 * browser.mjs — what the browser tests share: Chromium without a network, pages from files, complaints of the page
 * collected. The browser is CHROMIUM or /usr/bin/chromium; it draws in software, so nothing here says how fast a
 * graphics card is.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { page as samplePage } from "../sample/pack.mjs";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const ARGS = [
	"--no-sandbox",
	"--use-gl=angle",
	"--use-angle=swiftshader",
	"--enable-unsafe-swiftshader",
	"--ignore-gpu-blocklist",
	"--enable-precise-memory-info",
	"--js-flags=--expose-gc",
];

/** Against hangs only: no test may depend on how busy the machine is [ms]. */
export const PATIENCE = 600_000;

export async function startBrowser() {
	const folder = mkdtempSync(join(tmpdir(), "calder-viewer-"));
	const browser = await chromium.launch({
		executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
		args: ARGS,
		timeout: PATIENCE,
	});
	const files = new Map();

	/** A sample as a file; made once. */
	async function file(name) {
		if (!files.has(name)) {
			const { make } = await import(`../sample/${name}.mjs`);
			const path = join(folder, `${name}.html`);
			writeFileSync(path, samplePage(make()));
			files.set(name, path);
		}
		return files.get(name);
	}

	/** A page without a network. `complaints`: errors and everything that was asked for over the network. */
	async function open(
		url,
		{ theme = "light", width = 1280, height = 800, network = false, touch = false, prepare } = {},
	) {
		const context = await browser.newContext({
			viewport: { width, height },
			colorScheme: theme,
			acceptDownloads: true,
			offline: !network,
			hasTouch: touch,
			isMobile: touch,
		});
		context.setDefaultTimeout(PATIENCE);
		const page = await context.newPage();
		const complaints = [];
		page.on(
			"console",
			(message) => ["error", "warning"].includes(message.type()) && complaints.push(message.text()),
		);
		page.on("pageerror", (error) => complaints.push(error.stack));
		page.on(
			"request",
			(request) =>
				/^(file|data|blob):/.test(request.url()) || network || complaints.push(`request of ${request.url()}`),
		);
		await prepare?.(page);
		await page.goto(url);
		return { page, complaints, close: () => context.close() };
	}

	async function sample(name, { hash = "", ...options } = {}) {
		const opened = await open(pathToFileURL(await file(name)).href + hash, options);
		await opened.page.waitForFunction(() => window.calder?.stats.first > 0);
		return opened;
	}

	/**
	 * The same, with what the first frame took: `wall` and the processor time of the page's main thread, `processor` [ms].
	 * The former says how busy the machine is, the latter does not.
	 */
	async function measured(url) {
		let thread;
		const prepare = async (page) => {
			thread = await threadClock(page);
		};
		const opened = await open(url, { prepare });
		await opened.page.waitForFunction(() => window.calder?.stats.first > 0);
		const wall = await opened.page.evaluate(() => window.calder.stats.first);
		return { ...opened, wall, processor: await thread() };
	}

	async function close() {
		await browser.close();
		rmSync(folder, { recursive: true, force: true });
	}

	return { folder, file, open, sample, measured, close };
}

/** A function that gives the processor time of the page's main thread so far [ms]. */
export async function threadClock(page) {
	const session = await page.context().newCDPSession(page);
	await session.send("Performance.enable", { timeDomain: "threadTicks" });
	return async () => {
		const { metrics } = await session.send("Performance.getMetrics");
		return 1000 * metrics.find((m) => m.name === "TaskDuration").value;
	};
}

/** Waits until the camera has come to where it was sent. */
export async function cameraRests(page) {
	await page.waitForFunction(() => window.calder.camera.progress === 1);
	await frames(page, 3);
}

/** Waits until the page has drawn `count` more frames. */
export async function frames(page, count = 2) {
	const now = await page.evaluate(() => {
		window.calder.draw();
		return window.calder.stats.frames;
	});
	for (let i = 1; i <= count; i++) {
		await page.waitForFunction((n) => window.calder.stats.frames >= n, now + i);
		await page.evaluate(() => window.calder.draw());
	}
}

export const time = (page) => page.evaluate(() => window.calder.time);

/** A download that an action starts: its name and its bytes. */
export async function download(page, action) {
	const [file] = await Promise.all([page.waitForEvent("download"), action()]);
	const chunks = [];
	for await (const chunk of await file.createReadStream()) chunks.push(chunk);
	return { name: file.suggestedFilename(), bytes: Buffer.concat(chunks) };
}

/** What axe-core complains about, in words. Colors over the scene are beyond it; page.test.mjs computes contrasts. */
export async function violations(page) {
	if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(AXE);
	return page.evaluate(async () => {
		const found = await axe.run(document, { rules: { "color-contrast": { enabled: true } } });
		return found.violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html.slice(0, 120)).join(" | ")}`);
	});
}
