// SPDX-License-Identifier: Apache-2.0
/*
 * pixels.mjs — what is really drawn: pixels of the canvas, read right after a frame was rendered for it.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { page as samplePage } from "../sample/pack.mjs";

let counter = 0;

/** Opens a document that a test made. */
export async function openDocument(browser, document, { hash = "", ...options } = {}) {
	const path = join(browser.folder, `document-${++counter}.html`);
	writeFileSync(path, samplePage({ format: "calder-replay", version: 1, title: "Test", ...document }));
	const opened = await browser.open(pathToFileURL(path).href + hash, options);
	await opened.page.waitForFunction(() => window.calder?.stats.first > 0);
	return opened;
}

/**
 * Installs drawn(times, ground) in the page: the pixels that are not background while bodies are drawn at these times of
 * the run, without grid and arrows, and without the model's ground unless it is asked for: their bounding rectangle and their number, as parts of the canvas, and how many
 * moments have none. The camera follows as it does for a person.
 */
export async function watchPixels(page) {
	await page.evaluate(() => {
		const { stage } = calder;
		const gl = stage.renderer.getContext();
		window.renderAt = (time, ground) => {
			calder.seek(time);
			calder.locate(calder.view);
			calder.camera.update(1);
			calder.view.hidden[calder.replay.bodies.length - 1] = ground ? 0 : 1;
			calder.view.refresh();
			stage.render(calder.camera.distance, calder.view.size);
			const [width, height] = [gl.drawingBufferWidth, gl.drawingBufferHeight];
			const data = new Uint8Array(width * height * 4);
			gl.readPixels(0, 0, width, height, gl.RGBA, gl.UNSIGNED_BYTE, data);
			return { width, height, data };
		};
		window.drawn = (times, ground = false) => {
			stage.scene.background = null;
			stage.renderer.setClearColor("#ff00ff", 1);
			calder.set("grid", false);
			calder.set("arrows", false);
			let [left, right, low, high, most, empty, view] = [Infinity, -1, Infinity, -1, 0, 0, null];
			for (const time of times) {
				view = renderAt(time, ground);
				let count = 0;
				for (let i = 0; i < view.data.length; i += 4) {
					if (view.data[i] === 255 && view.data[i + 1] === 0 && view.data[i + 2] === 255) continue;
					const x = (i / 4) % view.width,
						y = Math.floor(i / 4 / view.width);
					((left = Math.min(left, x)), (right = Math.max(right, x)));
					((low = Math.min(low, y)), (high = Math.max(high, y)));
					count++;
				}
				most = Math.max(most, count);
				if (count === 0) empty++;
			}
			const { width, height } = view;
			return {
				width: (right - left + 1) / width,
				height: (high - low + 1) / height,
				top: 1 - (high + 1) / height, // free above
				bottom: low / height, // free below
				pixels: most / (width * height),
				empty,
			};
		};
	});
}
