// SPDX-License-Identifier: Apache-2.0
/*
 * browser.mjs — what the browser tests share: Chromium without a network, pages from files, complaints of the page
 * collected. The browser is CHROMIUM or /usr/bin/chromium; it draws in software, so nothing here says how fast a
 * graphics card is.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { page as samplePage } from "../sample/pack.mjs";

const ARGS = [
	"--no-sandbox",
	"--use-gl=angle",
	"--use-angle=swiftshader",
	"--enable-unsafe-swiftshader",
	"--ignore-gpu-blocklist",
	"--enable-precise-memory-info",
	"--js-flags=--expose-gc",
];

export async function startBrowser() {
	const folder = mkdtempSync(join(tmpdir(), "calder-viewer-"));
	const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ARGS });
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
	async function open(url, { theme = "light", width = 1280, height = 800, network = false, prepare } = {}) {
		const context = await browser.newContext({
			viewport: { width, height },
			colorScheme: theme,
			acceptDownloads: true,
			offline: !network,
		});
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
		await opened.page.waitForFunction(() => window.calder?.stats.first > 0, null, { timeout: 20_000 });
		return opened;
	}

	async function close() {
		await browser.close();
		rmSync(folder, { recursive: true, force: true });
	}

	return { folder, file, open, sample, close };
}

/** Waits until the page has drawn `count` more frames, at most a few seconds. */
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
export async function download(page, action, timeout = 20_000) {
	const [file] = await Promise.all([page.waitForEvent("download", { timeout }), action()]);
	const chunks = [];
	for await (const chunk of await file.createReadStream()) chunks.push(chunk);
	return { name: file.suggestedFilename(), bytes: Buffer.concat(chunks) };
}
