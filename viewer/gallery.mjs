// SPDX-License-Identifier: Apache-2.0
/*
 * gallery.mjs — pictures of replays: opens each page and takes the canvas with the frame around it.
 *
 *   node gallery.mjs OUT_FOLDER PAGE.html[#ADDRESS]...
 *
 * The picture of NAME.html is OUT_FOLDER/NAME.jpg. Without an address the page is shown as its view settings say: at
 * their start, else in the middle of their story, else at two fifths of the run.
 */
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { cameraRests, startBrowser } from "./test/browser.mjs";

const [out, ...pages] = process.argv.slice(2);
if (!out || pages.length === 0) {
	console.error("usage: node gallery.mjs OUT_FOLDER PAGE.html[#ADDRESS]...");
	process.exit(2);
}
const browser = await startBrowser();
let failed = 0;
for (const given of pages) {
	const [path, hash] = given.split("#", 2);
	const name = basename(path, ".html");
	const url = pathToFileURL(resolve(path)).href + (hash ? `#${hash}` : "");
	const { page, complaints, close } = await browser.open(url, { width: 1200, height: 720 });
	await page.waitForFunction(() => window.calder?.stats.first > 0, null, { timeout: 60_000 });
	if (!hash?.includes("t="))
		await page.evaluate(() => {
			const { start, steps } = calder.replay.view;
			const told = steps[steps.length >> 1]?.t;
			calder.seek(start || (told ?? calder.start + 0.4 * (calder.end - calder.start)));
		});
	await cameraRests(page);
	await page.screenshot({ path: join(out, `${name}.jpg`), type: "jpeg", quality: 82 });
	for (const complaint of complaints) console.error(`${name}: ${complaint}`);
	failed += complaints.length;
	await close();
}
await browser.close();
process.exit(failed ? 1 : 0);
