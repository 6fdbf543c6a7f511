// SPDX-License-Identifier: Apache-2.0
/*
 * film.test.mjs — figures and films that the page makes: the same bytes from page to page, each frame shown at its time and
 * drawn as the run is then, captions and the time in the corner. Times and frames are read by ffmpeg, if it is there.
 */
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { download, startBrowser } from "./browser.mjs";
import { openDocument } from "./pixels.mjs";

let browser;
before(async () => {
	browser = await startBrowser();
});
after(() => browser.close());

const ffmpeg = spawnSync("ffprobe", ["-version"]).status === 0;
const half = Math.SQRT1_2;

/** A bar that turns by 90 degrees about y in 2 s, seen from its front. */
const bar = {
	title: "Bar",
	bodies: [{ name: "bar", shapes: [{ kind: "box", dimensions: [2, 0.2, 0.2], at: [1, 0, 0], color: "#cc2222" }] }],
	frames: {
		t: [0, 1, 2],
		pose: [
			[[0, 0, 0, 1, 0, 0, 0]],
			[[0, 0, 0, Math.cos(Math.PI / 8), 0, Math.sin(Math.PI / 8), 0]],
			[[0, 0, 0, half, 0, half, 0]],
		],
	},
	view: {
		cameras: [{ name: "front", from: [0, -8, 0], at: [0, 0, 0] }],
		steps: [{ t: 1, camera: "front", caption: "Half of the way" }],
		camera: "front",
	},
};

/** The dialog with these fields, and the file that it makes. */
async function film(page, kind, fields, checks = {}) {
	await page.getByRole("button", { name: "Export" }).click();
	await page.getByRole("menuitem", { name: /Figure or film/ }).click();
	const dialog = page.getByRole("dialog", { name: "Figure or film" });
	await dialog.getByLabel("Kind").selectOption(kind);
	for (const [name, value] of Object.entries(fields)) await dialog.getByLabel(name).fill(String(value));
	for (const [name, on] of Object.entries(checks)) await dialog.getByLabel(name).setChecked(on);
	return download(page, () => dialog.getByRole("button", { name: "Make" }).click());
}

const SMALL = { "Width [px]": 320, "Height [px]": 240 };
const FIELDS = { ...SMALL, "From [s]": 0, "To [s]": 2, "Frames per second": 10, "Seconds of the run per second": 0.5 };
const PLAIN = { "Time in the corner": false, Captions: false };

/** Where the red bar is in a picture of RGBA, as an angle [degrees]. */
function angle(data, width) {
	let [x, y, n] = [0, 0, 0];
	for (let i = 0; i < data.length; i += 4) {
		if (data[i] < 90 || data[i] < 2 * data[i + 1]) continue;
		((x += (i / 4) % width), (y += Math.floor(i / 4 / width)), n++);
	}
	assert.ok(n > 100, `${n} red pixels`);
	return (Math.atan2(y / n - 120, x / n - 160) * 180) / Math.PI;
}

for (const kind of ["mp4", "webm"])
	test(`a film (${kind}) is the same from page to page, and its frames are those of their times`, async (t) => {
		const files = [];
		for (let round = 0; round < 2; round++) {
			const { page, complaints, close } = await openDocument(browser, bar);
			await page.evaluate(() => calder.seek(0.3));
			const made = await film(page, kind, FIELDS, PLAIN);
			assert.equal(made.name, `Bar.${kind}`);
			files.push(made.bytes);
			const after = await page.evaluate(() => ({ time: calder.time, held: calder.sizeHeld }));
			assert.deepEqual(after, { time: 0.3, held: false }, "the page is as it was");
			assert.deepEqual(complaints, []);
			await close();
		}
		const hashes = files.map((bytes) => createHash("sha256").update(bytes).digest("hex"));
		assert.equal(hashes[0], hashes[1]);
		if (!ffmpeg) return t.diagnostic("without ffprobe the frames are not read");
		const path = join(browser.folder, `bar.${kind}`);
		writeFileSync(path, files[0]);
		const stream = "stream=codec_name,width,height,avg_frame_rate:frame=pts_time,key_frame";
		const found = JSON.parse(
			execFileSync("ffprobe", ["-v", "error", "-of", "json", "-show_entries", stream, path]).toString(),
		);
		const [{ codec_name, width, height }] = found.streams;
		assert.deepEqual(
			{ codec_name, width, height },
			{ codec_name: kind === "mp4" ? "h264" : "vp9", width: 320, height: 240 },
		);
		const times = found.frames.map((f) => Number(f.pts_time));
		assert.equal(times.length, 41); // 0, 0.05 ... 2 s
		times.forEach((time, i) => assert.ok(Math.abs(time - i / 10) < 6e-4, `frame ${i} is at ${time} s`));
		assert.equal(found.frames[0].key_frame, 1);
		assert.equal(found.frames[20].key_frame, 1, "every two seconds there is a frame to jump to");
		const raw = execFileSync("ffmpeg", ["-v", "error", "-i", path, "-f", "rawvideo", "-pix_fmt", "rgba", "-"], {
			maxBuffer: 1e9,
		});
		const size = 320 * 240 * 4;
		assert.equal(raw.length, 41 * size);
		for (const i of [0, 10, 20, 30, 40]) {
			const seen = angle(raw.subarray(i * size, (i + 1) * size), 320);
			const wanted = 45 * 0.05 * i; // 45 degrees per second, 0.05 s per frame
			assert.ok(Math.abs(seen - wanted) < 3, `at ${0.05 * i} s the bar is at ${seen}, not ${wanted} degrees`);
		}
	});

test("a film jumps to a time as the browser plays it", async () => {
	const { page, complaints, close } = await openDocument(browser, bar);
	const { bytes } = await film(page, "webm", FIELDS, PLAIN);
	const seen = await page.evaluate(
		async (list) => {
			const video = document.createElement("video");
			video.muted = true;
			video.src = URL.createObjectURL(new Blob([new Uint8Array(list)], { type: "video/webm" }));
			await new Promise((done, failed) => ((video.onloadeddata = done), (video.onerror = failed)));
			video.currentTime = 3.05;
			await new Promise((done) => (video.onseeked = done));
			return { duration: video.duration, time: video.currentTime, width: video.videoWidth };
		},
		[...bytes],
	);
	assert.ok(Math.abs(seen.duration - 4.1) < 0.01 && seen.time === 3.05 && seen.width === 320, JSON.stringify(seen));
	assert.deepEqual(complaints, []);
	await close();
});

test("a figure has the size, the background, the time and the caption that were asked for", async () => {
	const { page, complaints, close } = await openDocument(browser, bar);
	await page.evaluate(() => calder.seek(1.5));
	const pictures = {};
	for (const [name, checks] of Object.entries({
		plain: { ...PLAIN, "Without background": false },
		clear: { ...PLAIN, "Without background": true },
		full: { "Time in the corner": true, Captions: true, "Without background": true },
	})) {
		const { bytes, name: file } = await film(page, "png", { "Width [px]": 640, "Height [px]": 400 }, checks);
		assert.equal(file, "Bar.png");
		pictures[name] = await page.evaluate(
			async (list) => {
				const picture = await createImageBitmap(new Blob([new Uint8Array(list)], { type: "image/png" }));
				const context = new OffscreenCanvas(picture.width, picture.height).getContext("2d");
				context.drawImage(picture, 0, 0);
				const { data, width, height } = context.getImageData(0, 0, picture.width, picture.height);
				const covered = (x0, x1) => {
					let n = 0;
					for (let y = height - 90; y < height; y++)
						for (let x = x0; x < x1; x++) if (data[4 * (y * width + x) + 3] > 128) n++;
					return n;
				};
				return { width, height, corner: data[3], time: covered(0, 120), caption: covered(220, 420) };
			},
			[...bytes],
		);
	}
	const { plain, clear, full } = pictures;
	assert.deepEqual([plain.width, plain.height, plain.corner], [640, 400, 255]);
	assert.equal(clear.corner, 0);
	assert.equal(clear.time, 0);
	assert.ok(full.time > 300, `${full.time} pixels of the time`);
	assert.ok(full.caption > clear.caption + 2000, `${full.caption} and ${clear.caption} pixels of the caption`);
	assert.deepEqual(complaints, []);
	await close();
});

test("what cannot be made is said before anything is drawn", async () => {
	const { page, complaints, close } = await openDocument(browser, bar);
	await page.getByRole("button", { name: "Export" }).click();
	await page.getByRole("menuitem", { name: /Figure or film/ }).click();
	const dialog = page.getByRole("dialog", { name: "Figure or film" });
	const make = dialog.getByRole("button", { name: "Make" });
	await dialog.getByLabel("Kind").selectOption("mp4");
	for (const [field, wrong, right, text] of [
		["Width [px]", "321", "320", /even numbers from 16 to 8192/],
		["To [s]", "-1", "2", /from 0 s to 2 s/],
		["Frames per second", "0", "30", /from 1 to 240/],
		["Seconds of the run per second", "", "1", /above zero/],
		["Seconds of the run per second", "1e-4", "1", /More than 36000 frames/],
	]) {
		await dialog.getByLabel(field).fill(wrong);
		assert.match(await dialog.getByRole("status").textContent(), text);
		assert.ok(await make.isDisabled(), field);
		await dialog.getByLabel(field).fill(right);
	}
	assert.equal(await dialog.getByRole("status").textContent(), "61 frames, 2.03 s");
	assert.ok(await make.isEnabled());
	assert.deepEqual(complaints, []);
	await close();
});
