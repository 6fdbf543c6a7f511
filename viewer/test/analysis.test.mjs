// SPDX-License-Identifier: Apache-2.0
/*
 * analysis.test.mjs — statistics, spectra and differences: the formulas against plain sums that are written down here, and the
 * plots that show them.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { download, frames, startBrowser } from "./browser.mjs";
import { startModules } from "./modules.mjs";
import { openDocument } from "./pixels.mjs";

let browser, modules, statistics, spectrum, transform, difference, along, Track;
before(async () => {
	modules = await startModules();
	({ statistics, spectrum, transform, difference, along } = await modules.load("data/analysis.ts"));
	({ Track } = await modules.load("data/track.ts"));
	browser = await startBrowser();
});
after(() => Promise.all([browser.close(), modules.close()]));

const near = (a, b, tolerance, what = "") =>
	assert.ok(Math.abs(a - b) <= tolerance, `${what} ${a} is not within ${tolerance} of ${b}`);
const track = (values) => new Track(Float64Array.from(values), 1, values.length);
const signalOf = (t, f, name = "s") => ({ name, unit: "m", t: track(t), values: track(t.map(f)) });
const even = (count, end) => Array.from({ length: count }, (_, i) => (end * i) / (count - 1));

test("the transform is the sum that defines it", () => {
	for (const n of [8, 64]) {
		const re = Float64Array.from({ length: n }, (_, i) => Math.sin(i * i) + 0.3 * i);
		const im = Float64Array.from({ length: n }, (_, i) => Math.cos(3 * i));
		const sums = Array.from({ length: n }, (_, k) => {
			let [x, y] = [0, 0];
			for (let i = 0; i < n; i++) {
				const a = (-2 * Math.PI * k * i) / n;
				x += re[i] * Math.cos(a) - im[i] * Math.sin(a);
				y += re[i] * Math.sin(a) + im[i] * Math.cos(a);
			}
			return [x, y];
		});
		transform(re, im);
		sums.forEach(([x, y], k) => {
			near(re[k], x, 1e-11 * n);
			near(im[k], y, 1e-11 * n);
		});
	}
});

test("a sine appears at its frequency with its amplitude, on a constant and at uneven times", () => {
	const wave = (t) => 5 + 2 * Math.sin(2 * Math.PI * 12 * t) + 0.5 * Math.cos(2 * Math.PI * 30 * t);
	const uneven = even(4001, 4).map((t, i) => t + (i % 2 ? 2e-4 : 0));
	for (const t of [even(4097, 4), uneven]) {
		const { frequency, amplitude } = spectrum(signalOf(t, wave), 0, 4);
		const at = (f) => amplitude[frequency.findIndex((v) => Math.abs(v - f) < 1e-9)];
		near(at(12), 2, 0.01);
		near(at(30), 0.5, 0.01);
		near(at(0), 0, 1e-3, "the mean is taken out:");
		near(at(21), 0, 1e-3);
	}
	assert.equal(spectrum(signalOf(even(7, 1), wave), 0, 1), null);
});

test("statistics over a window are integrals over time", () => {
	const t = [0, 0.1, 0.15, 0.4, 1, 1.05, 2, 3];
	const signal = signalOf(t, (s) => s * s - 1);
	const [from, to] = [0.12, 2.4];
	// The straight lines between the samples, at very many equal intervals, as means and deviations of numbers.
	const n = 400_000;
	const values = Array.from({ length: n }, (_, i) => {
		const s = from + ((i + 0.5) * (to - from)) / n;
		const k = t.findLastIndex((v) => v <= s);
		const [a, b] = [t[k] * t[k] - 1, t[k + 1] * t[k + 1] - 1];
		return a + ((s - t[k]) / (t[k + 1] - t[k])) * (b - a);
	});
	const mean = values.reduce((a, b) => a + b, 0) / n;
	const found = statistics(signal, from, to);
	near(found.mean, mean, 1e-6);
	near(found.rms, Math.sqrt(values.reduce((a, v) => a + v * v, 0) / n), 1e-6);
	near(found.deviation, Math.sqrt(values.reduce((a, v) => a + (v - mean) ** 2, 0) / n), 1e-6);
	near(found.min, Math.min(...values.slice(0, 100)), 1e-3);
	near(found.max, values.at(-1), 1e-4);
	assert.ok(Number.isNaN(statistics(signal, 5, 6).mean), "nothing is there");
	const gap = signalOf([0, 1, 2, 3], (s) => (s === 1 ? NaN : 4));
	near(statistics(gap, 0, 3).mean, 4, 1e-12);
});

test("a difference is taken at the times of the first, as far as the second goes", () => {
	const a = signalOf(even(11, 10), (t) => 3 * t);
	const b = signalOf(even(4, 6), (t) => t);
	const { t, values, name } = difference(a, b);
	assert.equal(name, "Δ s");
	for (let i = 0; i <= 6; i++) near(values.data[i], 2 * t.data[i], 1e-12);
	assert.ok(Number.isNaN(values.data[7]));
});

test("a plot shows spectrum, statistics, difference and logarithmic values", async () => {
	const { page, complaints, close } = await browser.sample("pendulum", { hash: "#plot=q:upper" });
	const choose = async (name) => {
		await page.getByRole("button", { name: "Analyze" }).click();
		await page.getByRole("menuitem", { name }).click();
		await frames(page);
	};
	await page.locator(".plot .uplot").waitFor();
	await choose("Statistics of the time shown");
	const row = async (i) => (await page.locator(".statistics tr").nth(i).locator("td").allTextContents()).map(Number);
	// The run is 0.9 cos(2.2 t) over 10 s.
	const [mean, rms, , min, max] = await row(1);
	near(mean, (0.9 * Math.sin(22)) / 22, 2e-3);
	near(rms, 0.9 * Math.sqrt(0.5 + Math.sin(44) / 88), 2e-3);
	near(min, -0.9, 1e-3);
	near(max, 0.9, 1e-3);
	assert.match(await page.locator(".statistics th[scope=row]").nth(1).textContent(), /second run/);
	await choose("Difference to the other runs");
	const largest = 1.8 * Math.sin(0.075); // of 0.9 (cos(x) - cos(x + 0.15))
	const bounds = await row(1);
	near(bounds[4], largest, 2e-3);
	near(bounds[3], -largest, 2e-3);
	await choose("Difference to the other runs");
	await choose("Spectrum of the time shown");
	const plot = await page.evaluate(() => document.querySelector(".playhead").hidden);
	assert.equal(plot, true, "there is no time in a spectrum");
	const { bytes } = await download(page, () => page.getByRole("button", { name: "SVG" }).click());
	const svg = bytes.toString();
	assert.match(svg, /f \[Hz\]/);
	await choose("Logarithmic values");
	assert.equal(await page.locator(".plot .uplot").count(), 1);
	await choose("Spectrum of the time shown");
	assert.equal(await page.evaluate(() => document.querySelector(".playhead").hidden), false);
	assert.deepEqual(complaints, []);
	await close();
});

test("a signal over another one is taken at its own times, in their order", () => {
	const x = signalOf(even(11, 10), (t) => 2 * t);
	const y = signalOf([0.5, 2.25, 3.5, 9], (t) => -t);
	const curve = along(x, y, 1, 8);
	assert.deepEqual([...curve.t], [2.25, 3.5]);
	assert.deepEqual([...curve.x], [4.5, 7]);
	assert.deepEqual([...curve.y], [-2.25, -3.5]);
});

test("a phase plot has the shape of the motion, a dot at the time shown, and takes clicks", async () => {
	const circle = Array.from({ length: 201 }, (_, i) => (2 * Math.PI * i) / 200);
	const { page, complaints, close } = await openDocument(browser, {
		bodies: [{ name: "a", shapes: [{ kind: "sphere", dimensions: [1] }] }],
		frames: { t: circle, pose: circle.map(() => [[0, 0, 0, 1, 0, 0, 0]]) },
		signals: [
			{ name: "x", unit: "m", values: circle.map((t) => 3 * Math.cos(t)) },
			{ name: "y", unit: "m/s", values: circle.map((t) => 2 * Math.sin(t)) },
		],
		view: { plots: ["x, y"] },
	});
	await page.locator(".plot .uplot").waitFor();
	await page.getByRole("button", { name: "Analyze" }).click();
	await page.getByRole("menuitem", { name: "Over x, in the time shown" }).click();
	await frames(page);
	const { bytes } = await download(page, () => page.getByRole("button", { name: "SVG" }).click());
	const svg = bytes.toString();
	assert.match(svg, />x \[m\]</);
	const points = [...svg.match(/stroke-linejoin="round"[^>]* d="(M[^"]*)"/)[1].matchAll(/[ML]([\d.]+) ([\d.]+)/g)];
	assert.equal(points.length, 201);
	const [xs, ys] = [1, 2].map((k) => points.map((p) => Number(p[k])));
	const middle = (list) => (Math.min(...list) + Math.max(...list)) / 2;
	const half = (list) => (Math.max(...list) - Math.min(...list)) / 2;
	points.forEach((_, i) => {
		near((xs[i] - middle(xs)) / half(xs), Math.cos(circle[i]), 2e-3);
		near((middle(ys) - ys[i]) / half(ys), Math.sin(circle[i]), 2e-3);
	});
	// On the screen: dots at a quarter and three quarters of the circle, and a click on its left.
	const dot = async (t) => {
		await page.evaluate((time) => calder.seek(time), t);
		await frames(page);
		const box = await page.locator(".xy-dot").boundingBox();
		return [box.x + box.width / 2, box.y + box.height / 2];
	};
	const [top, bottom, left] = [await dot(Math.PI / 2), await dot(1.5 * Math.PI), await dot(Math.PI)];
	near(top[0], bottom[0], 1.5, "above each other:");
	assert.ok(bottom[1] - top[1] > 60 && top[0] - left[0] > 100, `${top} ${bottom} ${left}`);
	await dot(0);
	await page.mouse.click(...left);
	await page.waitForFunction(() => Math.abs(calder.time - Math.PI) < 0.1);
	await page.getByRole("button", { name: "Analyze" }).click();
	await page.getByRole("menuitem", { name: "Over x, in the time shown" }).click();
	assert.equal(await page.locator(".xy-dot").count(), 0);
	assert.deepEqual(complaints, []);
	await close();
});

test("any number of runs can be laid over one, each with a color, and plotted", async () => {
	const { page, complaints, close } = await browser.sample("pendulum", { hash: "#t=1&plot=q:upper" });
	const add = async () => {
		await page.getByRole("button", { name: "Compare" }).click();
		const [chooser] = await Promise.all([
			page.waitForEvent("filechooser"),
			page.getByRole("menuitem", { name: "Compare with another replay…" }).click(),
		]);
		await chooser.setFiles(await browser.file("pendulum"));
	};
	for (const count of [2, 3]) {
		await add();
		await page.waitForFunction((n) => calder.view.ghosts.list.length === n, count);
	}
	await frames(page);
	const ghosts = await page.evaluate(() =>
		calder.view.ghosts.list.map(({ color, sample }) => ({ color, x: sample.pose[7] })),
	);
	assert.equal(new Set(ghosts.map((g) => g.color)).size, 3);
	near(ghosts[0].x, Math.sin(0.9 * Math.cos(2.2 + 0.15)), 2e-3, "the run of the document:");
	for (const { x } of ghosts.slice(1)) near(x, Math.sin(0.9 * Math.cos(2.2)), 2e-3, "the same run again:");
	assert.equal(await page.getByRole("list", { name: "Other runs" }).locator("li").count(), 3);
	await page.getByRole("button", { name: "Analyze" }).click();
	await page.getByRole("menuitem", { name: "Statistics" }).click();
	assert.deepEqual(await page.locator(".statistics th[scope=row]").allTextContents(), [
		"q:upper",
		"q:upper (second run)",
		"q:upper (third run)",
		"q:upper (fourth run)",
	]);
	await page.getByRole("button", { name: "Compare" }).click();
	await page.getByRole("menuitem", { name: "Remove the other runs" }).click();
	await page.waitForFunction(() => calder.view.ghosts.list.length === 0);
	assert.equal(await page.locator(".statistics th[scope=row]").count(), 1);
	assert.deepEqual(complaints, []);
	await close();
});
