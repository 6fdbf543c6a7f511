// SPDX-License-Identifier: Apache-2.0
/*
 * measure.test.mjs — what can be measured in the scene: the scale bar and the legend of arrows against pixels that were
 * drawn, distances and angles against where bodies are, labels, sections, transparency, the ellipsoid of inertia.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { cameraRests, frames, startBrowser } from "./browser.mjs";
import { openDocument, watchPixels } from "./pixels.mjs";

let browser;
before(async () => {
	browser = await startBrowser();
});
after(() => browser.close());

const near = (a, b, tolerance, what = "") =>
	assert.ok(Math.abs(a - b) <= tolerance, `${what} ${a} is not within ${tolerance} of ${b}`);
const at = (x, y, z) => [x, y, z, 1, 0, 0, 0];
const box = (name, size, color, more = {}) => ({
	name,
	shapes: [{ kind: "box", dimensions: size, color }],
	...more,
});

/** Bodies at rest. */
const still = (bodies, poses, more = {}) => ({ bodies, frames: { t: [0, 1], pose: [poses, poses] }, ...more });

/** Where a point of the world is in the page [px]. */
const onPage = (page, point) =>
	page.evaluate((p) => {
		const { camera, renderer } = calder.stage;
		const v = camera.position.clone().set(...p);
		v.project(camera);
		const rect = renderer.domElement.getBoundingClientRect();
		return [rect.left + ((v.x + 1) / 2) * rect.width, rect.top + ((1 - v.y) / 2) * rect.height];
	}, point);

async function clickPoint(page, point) {
	await page.mouse.click(...(await onPage(page, point)));
}

/* ---- scale --------------------------------------------------------------------------------- */

for (const orthographic of [false, true])
	test(`the scale bar is as long as what is drawn, ${orthographic ? "without" : "with"} perspective`, async () => {
		// A thin plate through the target: 3 m wide, whatever the camera.
		const { page, complaints, close } = await openDocument(
			browser,
			still([box("a", [3, 1e-4, 1], "#ffffff")], [at(0, 0, 0)]),
		);
		await page.keyboard.press("2");
		if (orthographic) await page.keyboard.press("5");
		await cameraRests(page);
		for (const factor of [1, 1.9, 3.3]) {
			await page.evaluate((f) => {
				calder.camera.place([0, -7 * f, 0, 0, 0, 0]);
				calder.draw();
			}, factor);
			await frames(page);
			const bar = await page.locator(".scale-line").evaluate((e) => e.getBoundingClientRect().width);
			const [value, unit] = (await page.locator(".scale-text").textContent()).split(" ");
			const meters = Number(value) * { mm: 1e-3, m: 1, km: 1e3 }[unit];
			await watchPixels(page);
			const plate = await page.evaluate(() => drawn([0]).width * calder.stage.width);
			near(bar / meters, plate / 3, (2 / 3) * 1.01, `pixels per meter at ${factor}:`);
			assert.ok(bar > 20 && bar <= 131, `${bar} px`);
		}
		assert.deepEqual(complaints, []);
		await close();
	});

test("without perspective what is farther away is as large, and the address keeps it", async () => {
	const document = still(
		[box("near", [1, 1, 1], "#ff0000"), box("far", [1, 1, 1], "#00ff00")],
		[at(-1, -4, 0), at(1, 4, 0)],
	);
	const { page, complaints, close } = await openDocument(browser, document, { hash: "#cam=front" });
	const widths = () =>
		page.evaluate(() =>
			[0, 1].map((body) => {
				const [a, b] = [-0.5, 0.5].map((x) => {
					const p = calder.view.sample.pose;
					return calder.stage.camera.position
						.clone()
						.set(p[body * 7] + x, p[body * 7 + 1] - 0.5, 0)
						.project(calder.stage.camera).x;
				});
				return b - a;
			}),
		);
	let [first, second] = await widths();
	assert.ok(first > 1.2 * second);
	await page.getByRole("button", { name: "Ortho" }).click();
	await frames(page);
	[first, second] = await widths();
	near(first / second, 1, 1e-6);
	await page.waitForFunction(() => location.hash.includes("ortho=1"));
	assert.deepEqual(complaints, []);
	await close();
});

test("labels of the grid are where the coordinates are that they name", async () => {
	const { page, complaints, close } = await openDocument(
		browser,
		still([box("a", [3, 2, 1], "#ffffff")], [at(0, 0, 0)]),
	);
	await page.evaluate(() => {
		calder.set("grid", true);
		calder.set("gridLabels", true);
	});
	await frames(page);
	const labels = await page.evaluate(() => {
		const { stage } = calder;
		const raycaster = new calder.view.raycaster.constructor();
		const stageBox = document.querySelector(".stage").getBoundingClientRect();
		return [...document.querySelectorAll(".scene-label:not([hidden])")].map((e) => {
			const rect = e.getBoundingClientRect();
			// The point is 3 px to the left of the text and 8 px below its middle.
			const x = rect.left - stageBox.left - 3;
			const y = rect.top + rect.height / 2 - stageBox.top + 8;
			stage.camera.aim(raycaster, (x / stage.width) * 2 - 1, 1 - (y / stage.height) * 2);
			const { origin, direction } = raycaster.ray;
			const s = (stage.grid.position.z - origin.z) / direction.z;
			return { text: e.textContent, x: origin.x + s * direction.x, y: origin.y + s * direction.y };
		});
	});
	assert.ok(labels.length >= 4, JSON.stringify(labels));
	for (const { text, x, y } of labels) {
		const [axis, value] = text.split(" ");
		near(axis === "x" ? x : y, Number(value), 0.05, text);
	}
	assert.ok(new Set(labels.map((l) => l.text[0])).size === 2, "both axes");
	assert.deepEqual(complaints, []);
	await close();
});

test("the legend of arrows: a round value is as long as an arrow of that value", async () => {
	const rows = (v) => [v, v];
	const arrows = [
		{ name: "f", kind: "force", at: rows([0, 0, 0]), vector: rows([30, 0, 0]) },
		{ name: "r", kind: "reaction", at: rows([0, 0, 0]), vector: rows([0, 0, 17]) },
		// What 30 N have by the last digits of their arms: no moment.
		{ name: "m", kind: "moment", unit: "N*m", at: rows([0, 0, 0]), vector: rows([3e-13, 0, 0]) },
	];
	const { page, complaints, close } = await openDocument(
		browser,
		still([box("a", [3, 0.2, 1], "#ffffff")], [at(0, 0, 0)], { arrows }),
		{ hash: "#cam=front&ortho=1" },
	);
	await page.locator("label", { hasText: "Values" }).locator("input").check();
	await cameraRests(page);
	assert.deepEqual((await page.locator(".scene-label:visible").allTextContents()).sort(), ["17 N", "30 N"]);
	const [tail] = await onPage(page, [0, 0, 0]);
	const label = await page.locator(".scene-label", { hasText: "30 N" }).boundingBox();
	const perNewton = (label.x - 6 - tail) / 30;
	const legend = await page.locator(".legend-arrow").boundingBox();
	const value = parseFloat(await page.locator(".legend-value").textContent());
	near(legend.width / value, perNewton, 1.5 / value);
	assert.equal(await page.locator(".legend-row").count(), 1);
	assert.match(await page.locator(".legend-row").textContent(), /N.*Forces.*Reactions/);
	await page.keyboard.press("r");
	await frames(page);
	assert.equal(await page.locator(".arrow-legend").isVisible(), false);
	assert.deepEqual(complaints, []);
	await close();
});

/* ---- distances and angles --------------------------------------------------------------------- */

const node = (name, x, y, z) => ({ name, at: [x, y, z] });

function moving() {
	const bodies = [
		box("a", [1, 1, 1], "#ff0000", { nodes: [node("n", 0, -0.5, 0.5)] }),
		box("b", [1, 1, 1], "#00ff00", { nodes: [node("n", 0, -0.5, -0.5)] }),
		box("c", [1, 1, 1], "#0000ff", { nodes: [node("n", 0, -0.5, 0)] }),
	];
	const pose = (t) => [at(0, 0, 0), at(3 + t, 0, 0), at(0, 0, 3)];
	return { bodies, frames: { t: [0, 1, 2], pose: [0, 1, 2].map(pose) } };
}

test("a distance between two points of bodies follows the motion, and can be plotted", async () => {
	const { page, complaints, close } = await openDocument(browser, moving(), { hash: "#cam=front" });
	await page.keyboard.press("v");
	await page.getByText("Click 2 points on bodies.").waitFor();
	await clickPoint(page, [0.1, -0.5, 0.2]);
	await page.getByText("Click 1 point on bodies.").waitFor();
	await clickPoint(page, [3, -0.5, 0.2]);
	await page.locator(".measure").waitFor();
	const value = async () => parseFloat(await page.locator(".measure .detail").textContent());
	near(await value(), 2.9, 0.03);
	const first = await value();
	await page.evaluate(() => calder.seek(1.5));
	await frames(page);
	near(await value(), first + 1.5, 0.002, "it moves with the body:");
	near(parseFloat(await page.locator(".measures text").textContent()), first + 1.5, 0.002);
	await page.getByRole("button", { name: "Plot distance 1" }).click();
	assert.equal(await page.locator(".chip .name").textContent(), "distance 1");
	const plotted = await page.evaluate(() => document.querySelector(".chip .value").textContent);
	near(parseFloat(plotted), first + 1.5, 0.002);
	await page.getByRole("button", { name: "Remove distance 1", exact: true }).first().click();
	await frames(page);
	assert.equal(await page.locator(".measures > *").count(), 0);
	assert.deepEqual(complaints, []);
	await close();
});

test("origins of frames that are shown attract the click; an angle is that at the second point", async () => {
	const { page, complaints, close } = await openDocument(browser, moving(), { hash: "#cam=front" });
	await page.keyboard.press("n");
	await page.getByRole("button", { name: "Angle" }).click();
	for (const p of [
		[3, -0.5, -0.5],
		[0, -0.5, 0.5],
		[0, -0.5, 3],
	])
		await clickPoint(page, p);
	await page.locator(".measure").waitFor();
	const value = async () => parseFloat(await page.locator(".measure .detail").textContent());
	const angle = (t) => 90 + (Math.atan2(1, 3 + t) * 180) / Math.PI;
	near(await value(), angle(0), 0.01);
	await page.evaluate(() => calder.seek(2));
	await frames(page);
	near(await value(), angle(2), 0.01);
	assert.equal(await page.evaluate(() => calder.selection), null, "a click measures and does not select");
	await page.keyboard.press("Escape");
	await clickPoint(page, [0, -0.5, 0]);
	assert.deepEqual(await page.evaluate(() => calder.selection), { kind: "body", body: 0 });
	assert.deepEqual(complaints, []);
	await close();
});

test("on a flexible body the point moves with the deformation, and its value is not exaggerated", async () => {
	const flexible = {
		points: [
			[0, 0, 0],
			[0, 0, 1],
		],
		lines: [[0, 1]],
		thickness: 0.1,
		shapes: [
			[
				[0, 0, 0],
				[1, 0, 0],
			],
		],
	};
	const document = {
		bodies: [
			box("a", [0.2, 0.2, 0.2], "#ff0000", { nodes: [node("n", 0, 0, 0)] }),
			{ name: "b", flexible, nodes: [{ name: "tip", at: [0, 0, 1], shapes: [[1, 0, 0, 0, 0, 0]] }] },
		],
		frames: {
			t: [0, 1],
			pose: [
				[at(1, 0, 1), at(0, 0, 0)],
				[at(1, 0, 1), at(0, 0, 0)],
			],
			eta: [{ body: 1, values: [[0.1], [0.3]] }],
		},
	};
	const { page, complaints, close } = await openDocument(browser, document, { hash: "#cam=front&exaggeration=2" });
	await page.keyboard.press("n");
	await page.keyboard.press("v");
	await clickPoint(page, [1, 0, 1]);
	await clickPoint(page, [0.2, 0, 1]); // drawn twice as far as it is
	const value = async () => parseFloat(await page.locator(".measure .detail").textContent());
	near(await value(), 0.9, 1e-3);
	await page.evaluate(() => calder.seek(1));
	await frames(page);
	near(await value(), 0.7, 1e-3);
	await page.keyboard.press("n");
	await clickPoint(page, [1, -0.1, 1]);
	await clickPoint(page, [0.6 * 0.97, 0, 0.97]); // on the rod itself, near its end
	await page.locator(".measure").nth(1).waitFor();
	const second = parseFloat(await page.locator(".measure .detail").nth(1).textContent());
	near(second, Math.hypot(1 - 0.3, 0, 0.03), 0.08);
	assert.deepEqual(complaints, []);
	await close();
});

/* ---- looking inside ----------------------------------------------------------------------------- */

/** A red box between the camera and a green one; which part of the picture is rather green. */
const hiding = () =>
	still([box("red", [3, 0.2, 3], "#ff0000"), box("green", [1, 0.2, 1], "#00ff00")], [at(0, -1, 0), at(0, 1, 0)]);

async function greenness(page) {
	await watchPixels(page);
	return page.evaluate(() => {
		const { width, height, data } = renderAt(0, false);
		let green = 0;
		for (let i = 0; i < data.length; i += 4)
			if (data[i + 1] > data[i] + 15 && data[i + 1] > data[i + 2] + 15) green++;
		return green / (width * height);
	});
}

test("transparent bodies show what they cover, and those that are not stay", async () => {
	const { page, complaints, close } = await openDocument(browser, hiding(), { hash: "#cam=front&sel=body:red" });
	assert.ok((await greenness(page)) < 1e-3);
	await page.getByRole("button", { name: "Transparent" }).click();
	const seen = await greenness(page);
	assert.ok(seen > 0.01, `${seen}`);
	await page.getByRole("button", { name: "Solid" }).click();
	assert.ok((await greenness(page)) < 1e-3);
	await page.evaluate(() => calder.select({ kind: "body", body: 1 }));
	await page.locator("summary", { hasText: "Look inside" }).click();
	await page.locator("label", { hasText: "Transparent bodies" }).locator("input").check();
	assert.deepEqual(
		await page.evaluate(() => Array.from(calder.view.glass.bodies)),
		[1, 0, 1],
		"all but the selected",
	);
	await page.evaluate(() => calder.select(null));
	await page.getByLabel("Opacity").fill("0.05");
	await frames(page);
	assert.ok((await greenness(page)) > seen * 0.9);
	assert.deepEqual(complaints, []);
	await close();
});

test("a section plane takes away the side of the camera, also from clicks", async () => {
	const { page, complaints, close } = await openDocument(browser, hiding(), { hash: "#cam=front" });
	await page.locator("summary", { hasText: "Look inside" }).click();
	await page.getByLabel("Cut along").selectOption("y");
	const seen = await greenness(page);
	assert.ok(seen > 0.01, `${seen}`);
	await clickPoint(page, [0, 0.9, 0]);
	assert.deepEqual(await page.evaluate(() => calder.selection), { kind: "body", body: 1 });
	await page.evaluate(() => calder.select(null));
	await page.getByRole("button", { name: "Other side" }).click();
	assert.ok((await greenness(page)) < 1e-3);
	await clickPoint(page, [0, -1.1, 0]);
	assert.deepEqual(await page.evaluate(() => calder.selection), { kind: "body", body: 0 });
	await page.getByLabel("Cut along").selectOption("none");
	await frames(page);
	assert.deepEqual(complaints, []);
	await close();
});

test("a body that is cut shows its inside as a flat surface", async () => {
	const document = still([box("white", [2, 2, 2], "#ffffff")], [at(0, 0, 0)]);
	const { page, complaints, close } = await openDocument(browser, document, { hash: "#cam=front" });
	await page.locator("summary", { hasText: "Look inside" }).click();
	await page.getByLabel("Cut along").selectOption("y");
	await watchPixels(page);
	const { spread, depth } = await page.evaluate(() => {
		const { width, height, data } = renderAt(0, false);
		const values = [-0.6, -0.3, 0, 0.3, 0.6].map((x) => {
			const p = calder.stage.camera.position.clone().set(x, 0, 0.2).project(calder.stage.camera);
			const i = Math.round(((p.y + 1) / 2) * height) * width + Math.round(((p.x + 1) / 2) * width);
			return data[i * 4];
		});
		return { spread: Math.max(...values) - Math.min(...values), depth: values[0] };
	});
	assert.ok(spread <= 2 && depth > 100, `gray values differ by ${spread}, the first is ${depth}`);
	assert.deepEqual(complaints, []);
	await close();
});

/* ---- the selection ------------------------------------------------------------------------------ */

test("the panel shows orientation, velocities and mass, and the ellipsoid has the body's inertia", async () => {
	const [m, a, b, c] = [10, 0.3, 0.6, 0.9];
	const mass = {
		mass: m,
		center_of_mass: [0.1, 0, 0.2],
		inertia: [(m / 5) * (b * b + c * c), (m / 5) * (a * a + c * c), (m / 5) * (a * a + b * b), 0, 0, 0],
	};
	const spin = (t) => [2 * t, 0, 0, Math.cos(t / 4), 0, 0, Math.sin(t / 4)]; // 2 m/s, 0.5 rad/s about z
	const times = [0, 0.5, 1, 1.5, 2];
	const { page, complaints, close } = await openDocument(
		browser,
		{ bodies: [box("a", [1, 1, 1], "#ffffff", mass)], frames: { t: times, pose: times.map((t) => [spin(t)]) } },
		{ hash: "#sel=body:a&t=1" },
	);
	await frames(page);
	const value = (name) =>
		page.evaluate(
			(label) =>
				[...document.querySelectorAll("dt")].find((e) => e.textContent.startsWith(label)).nextSibling
					.textContent,
			name,
		);
	const numbers = async (name) => (await value(name)).match(/-?[\d.]+(e-?\d+)?/g).map(Number);
	const close4 = (found, wanted) => wanted.forEach((v, i) => near(found[i], v, 2e-3));
	close4(await numbers("Quaternion"), [Math.cos(0.25), 0, 0, Math.sin(0.25)]);
	close4(
		await numbers("Yaw pitch roll"),
		[(0.5 * 180) / Math.PI, 0, 0].map((v) => Number(v.toFixed(2))),
	);
	assert.match(await value("Velocity"), /^≈/);
	close4(await numbers("Velocity"), [2, 0, 0]);
	close4(await numbers("Angular velocity"), [0, 0, 0.5]);
	close4(await numbers("Mass"), [10]);
	close4(await numbers("Center of mass"), [0.1, 0, 0.2]);
	close4(await numbers("Principal"), [
		(m / 5) * (a * a + b * b),
		(m / 5) * (a * a + c * c),
		(m / 5) * (b * b + c * c),
	]);
	assert.equal(await page.evaluate(() => calder.view.ellipsoid.object.visible), false);
	await page.getByLabel("Inertia ellipsoid").check();
	await frames(page);
	const shape = await page.evaluate(() => {
		const { object } = calder.view.ellipsoid;
		const e = object.matrix.elements;
		const columns = [0, 4, 8].map((k) => Math.hypot(e[k], e[k + 1], e[k + 2]));
		return { visible: object.visible, columns, at: [e[12], e[13], e[14]] };
	});
	assert.equal(shape.visible, true);
	[c, b, a].forEach((v, k) => near(shape.columns[k], v, 1e-5));
	near(shape.at[0], 2 + 0.1 * Math.cos(0.5), 1e-5);
	near(shape.at[1], 0.1 * Math.sin(0.5), 1e-5);
	near(shape.at[2], 0.2, 1e-6);
	assert.deepEqual(complaints, []);
	await close();
});

test("names of bodies, joints and nodes are beside them and do not cover each other", async () => {
	const { page, complaints, close } = await browser.sample("station", { hash: "#t=20" });
	await page.keyboard.press("y");
	await frames(page);
	const read = () =>
		page.evaluate(() =>
			[...document.querySelectorAll(".scene-label:not([hidden])")].map((e) => {
				const { left, right, top, bottom } = e.getBoundingClientRect();
				return { text: e.textContent, kind: e.dataset.kind, left, right, top, bottom };
			}),
		);
	const labels = await read();
	assert.ok(labels.filter((l) => l.kind === "body").length > 12, `${labels.length} labels`);
	for (const a of labels)
		for (const b of labels) {
			if (a === b) continue;
			const [wide, tall] = [
				Math.min(a.right, b.right) - Math.max(a.left, b.left),
				Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top),
			];
			assert.ok(wide <= 4 || tall <= 4, `"${a.text}" and "${b.text}" overlap by ${wide} x ${tall} px`);
		}
	await page.keyboard.press("y");
	await page.evaluate(() => calder.set("nodeNames", true));
	await frames(page);
	const nodes = await read();
	assert.ok(nodes.length > 0 && nodes.every((l) => l.kind === "node" && l.text.includes("/")));
	assert.deepEqual(complaints, []);
	await close();
});
