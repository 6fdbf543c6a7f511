// SPDX-License-Identifier: Apache-2.0
/*
 * story.test.mjs — view settings of a document: first moment, speed, cameras of three kinds, captions and cameras of
 * the steps, plots and trails.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { frames, startBrowser } from "./browser.mjs";
import { openDocument, watchPixels } from "./pixels.mjs";

let browser;
before(async () => {
	browser = await startBrowser();
});
after(() => browser.close());

const near = (a, b) => a.forEach((v, i) => assert.ok(Math.abs(v - b[i]) < 1e-4, `${a} is not ${b}`));
const half = Math.SQRT1_2;

/** A cart that moves 10 m along x and turns by 90 degrees about z. */
const document = (view) => ({
	title: "Cart",
	bodies: [
		{ name: "cart", shapes: [{ kind: "box", dimensions: [1, 1, 1] }], nodes: [{ name: "tip", at: [1, 0, 0] }] },
	],
	frames: {
		t: [0, 10],
		pose: [[[0, 0, 0, 1, 0, 0, 0]], [[10, 0, 0, half, 0, 0, half]]],
	},
	signals: [{ name: "x", values: [0, 10] }],
	events: [{ t: 4, name: "stop", text: "it stops" }],
	view,
});
const VIEW = {
	card: "It rolls.",
	start: 1,
	speed: 0.5,
	arrows: 2,
	deformation: 3,
	plots: ["x"],
	trails: ["cart", "cart/tip"],
	cameras: [
		{ name: "wide", from: [5, -20, 8], at: [5, 0, 0], orthographic: true },
		{ name: "chase", kind: "following", body: 0, from: [-4, -1, 2] },
		{ name: "eye", kind: "onboard", body: 0, from: [2, 0, 1], at: [5, 0, 1] },
	],
	steps: [
		{ t: 0, camera: "wide", caption: "The whole way" },
		{ t: -1, event: "stop", camera: "chase", caption: "Beside it" },
		{ t: 5, event: "stop", camera: "eye" },
		{ t: 0, event: "crash", camera: "eye", caption: "never" },
	],
};
const look = (page) =>
	page.evaluate(() => ({
		position: calder.stage.camera.position.toArray(),
		target: calder.camera.controls.target.toArray(),
		orthographic: calder.stage.camera.orthographic,
		caption: document.querySelector(".caption").hidden ? "" : document.querySelector(".caption").textContent,
	}));
const at = async (page, t) => {
	await page.evaluate((time) => calder.seek(time), t);
	await frames(page, 3);
	return look(page);
};

test("the initial view is as the document says", async () => {
	const { page, complaints, close } = await openDocument(browser, document(VIEW));
	const state = await page.evaluate(() => ({
		time: calder.time,
		rate: calder.rate,
		arrows: calder.view.arrows.factor,
		deformation: calder.view.flexible.exaggeration,
		trails: calder.view.trails.list.map((t) => [t.body, t.node]),
	}));
	assert.deepEqual(state, {
		time: 1,
		rate: 0.5,
		arrows: 2,
		deformation: 3,
		trails: [
			[0, -1],
			[0, 0],
		],
	});
	assert.deepEqual(await page.locator(".chip .name").allTextContents(), ["x"]);
	assert.equal((await look(page)).caption, "CartIt rolls.");
	assert.deepEqual(complaints, []);
	await close();
});

test("steps take their cameras and say their captions, until somebody moves the camera", async () => {
	const { page, complaints, close } = await openDocument(browser, document(VIEW));
	let seen = await at(page, 2);
	near(seen.position, [5, -20, 8]);
	assert.ok(seen.orthographic);
	assert.equal(seen.caption, "The whole way");
	seen = await at(page, 3.5); // a second before the event
	near(seen.position, [3.5 - 4, -1, 2]);
	assert.ok(!seen.orthographic);
	assert.equal(seen.caption, "Beside it");
	seen = await at(page, 8);
	near(seen.position, [8 - 4, -1, 2]);
	seen = await at(page, 10); // onboard: turned by 90 degrees, 2 m ahead is along y
	near(seen.position, [10, 2, 1]);
	near(seen.target, [10, 5, 1]);
	await page.evaluate(() => calder.seek(2));
	await frames(page, 3);
	await page.keyboard.press("a");
	const turned = await at(page, 2);
	seen = await at(page, 3.5);
	near(seen.position, turned.position);
	assert.equal(seen.caption, "Beside it");
	await page.getByLabel("Cameras of the model").selectOption("Story");
	await page.waitForFunction(() => calder.camera.progress === 1);
	near((await at(page, 3.5)).position, [-0.5, -1, 2]);
	assert.deepEqual(complaints, []);
	await close();
});

test("a camera can be chosen by its name, in the page and in the address", async () => {
	const { page, complaints, close } = await openDocument(browser, document({ ...VIEW, steps: [] }), {
		hash: "#t=5&cam=chase",
	});
	near((await at(page, 5)).position, [1, -1, 2]);
	await page.getByLabel("Cameras of the model").selectOption("eye");
	near((await at(page, 0)).position, [2, 0, 1]);
	await page.keyboard.press("2");
	await page.waitForFunction(() => calder.camera.progress === 1);
	assert.ok((await at(page, 0)).position[1] < -1, "a preset leaves the cart");
	assert.deepEqual(complaints, []);
	await close();
});

test("on an upright screen cameras are farther away, so that the sides of their picture stay", async () => {
	const { page, complaints, close } = await openDocument(browser, document({ ...VIEW, steps: [] }), {
		...{ width: 390, height: 900, hash: "#t=5&cam=wide" },
	});
	const aspect = await page.evaluate(() => calder.stage.camera.aspect);
	assert.ok(aspect < 0.8, String(aspect));
	const { position } = await at(page, 5);
	near(position, [5, -20 / aspect, 8 / aspect]);
	assert.deepEqual(complaints, []);
	await close();
});

test("the light comes from where the document says", async () => {
	const { width, height } = { width: 400, height: 400 };
	const bright = [];
	for (const light of [undefined, [0, -0.1, 1], [0, -0.1, -1]]) {
		const ball = {
			bodies: [{ name: "a", shapes: [{ kind: "sphere", dimensions: [1], color: "#888888" }] }],
			frames: { t: [0], pose: [[[0, 0, 0, 1, 0, 0, 0]]] },
			view: { light, cameras: [{ name: "front", from: [0, -5, 0] }], camera: "front" },
		};
		const { page, complaints, close } = await openDocument(browser, ball, { width, height });
		await watchPixels(page);
		bright.push(
			await page.evaluate(() => {
				const { data, width, height } = renderAt(0, false); // rows from below
				const row = (part) => data[4 * (Math.floor(part * height) * width + Math.floor(width / 2))];
				return row(0.5 + 0.2) - row(0.5 - 0.2);
			}),
		);
		assert.deepEqual(complaints, []);
		await close();
	}
	const [usual, above, below] = bright;
	assert.ok(usual > 20 && above > 30 && below < above - 30, `above minus below: ${bright}`);
});

test("what is wrong in view settings is named", async () => {
	for (const [view, text] of [
		[{ camera: "none" }, 'view.camera: there is no camera "none"'],
		[{ cameras: [{ name: "a", from: [1, 2] }] }, "view.cameras[0].from: is not three numbers"],
		[{ cameras: [{ name: "a", kind: "onboard", body: 4, from: [1, 2, 3] }] }, "view.cameras[0].body"],
		[{ speed: -1 }, "view.speed"],
		[{ light: [0, 0, 0] }, "view.light: has no direction"],
	]) {
		const opened = await openDocument(browser, document({}));
		const message = await opened.page.evaluate(
			([doc]) => {
				const file = new File([JSON.stringify(doc)], "a.json");
				const data = new DataTransfer();
				data.items.add(file);
				document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true }));
				return new Promise((done) => {
					const look = () => {
						const toast = document.querySelector(".toast");
						if (toast.hidden) requestAnimationFrame(look);
						else done(toast.textContent);
					};
					look();
				});
			},
			[{ format: "calder-replay", version: 1, ...document(view) }],
		);
		assert.ok(message.includes(text), message);
		await opened.close();
	}
});
