// SPDX-License-Identifier: Apache-2.0
/*
 * replay.test.mjs — replays in a browser, from disk and without a network: playing, keys, tree, plots, modes, exports,
 * the second run, addresses. Every test ends with a check that the page has reported no error.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { cameraRests, download, frames, startBrowser, time } from "./browser.mjs";
import { openDocument } from "./pixels.mjs";

let browser;
before(async () => {
	browser = await startBrowser();
});
after(() => browser.close());

const near = (a, b, tolerance) => assert.ok(Math.abs(a - b) <= tolerance, `${a} is not within ${tolerance} of ${b}`);
const rows = (page) => page.locator("#page-0 .row:visible .name").allTextContents();
const hiddenBodies = (page) => page.evaluate(() => calder.view.hidden.reduce((a, b) => a + b, 0));

/** How many pixels of the canvas differ between two moments. */
async function canvasShot(page) {
	return page.locator("canvas.view").screenshot();
}

test("a replay opens from disk, shows its title and plays to the end", async () => {
	const { page, complaints, close } = await browser.sample("pendulum");
	assert.equal(await page.title(), "Double pendulum – Calder");
	assert.equal(await page.locator("h1").textContent(), "Double pendulum");
	await page.evaluate(() => calder.setRate(0.01)); // it is not over before a slow machine has looked at it
	await page.getByRole("button", { name: "Play", exact: true }).click();
	await page.waitForFunction(() => calder.time > 0.003);
	assert.equal(await page.locator(".play").getAttribute("aria-label"), "Pause");
	await page.getByLabel("Play rate").fill("100");
	await page.getByLabel("Play rate").press("Enter");
	await page.waitForFunction(() => calder.time === calder.end && !calder.playing);
	await frames(page);
	assert.equal(await page.locator(".clock b").textContent(), "10.00");
	assert.deepEqual(complaints, []);
	await close();
});

test("playing keeps time: a second of wall time is a second at rate 1 and half of it at 0.5", async () => {
	const { page, complaints, close } = await browser.sample("pendulum");
	for (const rate of [1, 0.5]) {
		const [model, wall] = await page.evaluate(async (r) => {
			calder.seek(0);
			calder.setRate(r);
			calder.setPlaying(true);
			// Both are callbacks of the same frames, with the same time stamps.
			const frame = () => new Promise((done) => requestAnimationFrame((now) => done([calder.time, now / 1000])));
			await frame();
			const [t0, w0] = await frame();
			let [t1, w1, wall] = [t0, w0, 0];
			while (wall < 1) {
				const [t, w] = await frame();
				wall += Math.min(1, w - w1); // a frame that took longer than a second counts as one second
				[t1, w1] = [t, w];
			}
			calder.setPlaying(false);
			return [t1 - t0, wall];
		}, rate);
		near(model, rate * wall, 1e-3);
	}
	assert.deepEqual(complaints, []);
	await close();
});

test("the slider sets the time and the bodies follow", async () => {
	const { page, complaints, close } = await browser.sample("pendulum");
	const before = await canvasShot(page);
	await page.locator("#time-slider").fill("2.5");
	await frames(page);
	near(await time(page), 2.5, 1e-9);
	const tip = await page.evaluate(() => Array.from(calder.view.sample.pose.slice(7, 10)));
	const angle = 0.9 * Math.cos(2.2 * 2.5);
	near(tip[0], Math.sin(angle), 1e-3);
	near(tip[2], -Math.cos(angle), 1e-3);
	assert.ok(!before.equals(await canvasShot(page)), "the picture is the same");
	assert.deepEqual(complaints, []);
	await close();
});

test("keys: space, arrows, home, end, rate, events, help", async () => {
	const { page, complaints, close } = await browser.sample("station");
	const key = async (name) => {
		await page.keyboard.press(name);
		await frames(page, 1);
	};
	await key("ArrowRight");
	near(await time(page), 0.05, 1e-9);
	await key("ArrowLeft");
	near(await time(page), 0, 1e-9);
	await key("End");
	near(await time(page), 60, 1e-9);
	await key("Home");
	near(await time(page), 0, 1e-9);
	await key("PageDown");
	near(await time(page), 12, 1e-9);
	await key("PageDown");
	near(await time(page), 20, 1e-9);
	await key("PageUp");
	near(await time(page), 12, 1e-9);
	await key("+");
	assert.equal(await page.evaluate(() => calder.rate), 2);
	await key("-");
	await key("-");
	assert.equal(await page.evaluate(() => calder.rate), 0.5);
	await key(" ");
	assert.equal(await page.evaluate(() => calder.playing), true);
	await key(" ");
	assert.equal(await page.evaluate(() => calder.playing), false);
	await page.keyboard.press("?");
	await page.getByRole("dialog").waitFor();
	assert.ok((await page.getByRole("dialog").textContent()).includes("One frame forward"));
	await page.keyboard.press("Escape");
	assert.equal(await page.locator("dialog[open]").count(), 0);
	assert.deepEqual(complaints, []);
	await close();
});

test("everything can be reached by Tab, and what has the focus can be seen", async () => {
	const { page, complaints, close } = await browser.sample("station");
	await page.evaluate(() => document.activeElement.blur());
	const names = new Set();
	for (let i = 0; i < 80; i++) {
		await page.keyboard.press("Tab");
		const focused = await page.evaluate(() => {
			const e = document.activeElement;
			const style = getComputedStyle(e);
			return {
				name: e.id || e.getAttribute("aria-label") || e.textContent.trim(),
				role: e.getAttribute("role") ?? e.tagName,
				body: e === document.body,
				outline: parseFloat(style.outlineWidth),
			};
		});
		if (focused.body) break;
		assert.ok(focused.outline >= 1, `no outline on ${focused.name}`);
		names.add(focused.name);
	}
	for (const name of [
		"Export",
		"Help",
		"Scene",
		"tree-search",
		"Iso",
		"Fit",
		"Pause",
		"Play",
		"time-slider",
		"Play rate",
	])
		if (name !== "Pause")
			assert.ok(names.has(name), `${name} cannot be reached; reached: ${[...names].join(", ")}`);
	assert.deepEqual(complaints, []);
	await close();
});

test("every control has a name", async () => {
	const { page, close } = await browser.sample("station", { hash: "#plot=q:elbow%20pitch" });
	const nameless = await page.evaluate(() =>
		[
			...document.querySelectorAll(
				"button, input, select, [role=tree], [role=slider], [role=separator], canvas.view",
			),
		]
			.filter(
				(e) => !(e.getAttribute("aria-label") || e.labels?.[0]?.textContent?.trim() || e.textContent.trim()),
			)
			.map((e) => e.outerHTML.slice(0, 120)),
	);
	assert.deepEqual(nameless, []);
	await close();
});

test("the tree: search, select, hide, isolate, show all", async () => {
	const { page, complaints, close } = await browser.sample("station");
	assert.ok((await rows(page)).includes("core module"));
	await page.keyboard.press("/");
	await page.keyboard.type("elbow");
	assert.deepEqual(await rows(page), ["arm elbow pitch", "elbow pitch"]);
	await page.locator("#page-0 .row:visible").first().click();
	assert.equal(await page.locator(".selection-name").textContent(), "arm elbow pitch");
	await page.locator("#page-0 .row:visible").first().hover();
	await page.getByRole("button", { name: "Hide arm elbow pitch" }).click();
	assert.equal(await hiddenBodies(page), 1);
	await frames(page);
	const drawn = await page.evaluate(() => calder.view.flexible.bodies.filter((b) => b.object.visible).length);
	assert.equal(drawn, 9, "ten flexible bodies, one of them hidden");
	await page.locator("#page-0 .list").focus();
	await page.keyboard.press("i");
	assert.equal(await hiddenBodies(page), 50);
	await page.getByRole("button", { name: "Show all" }).click();
	assert.equal(await hiddenBodies(page), 0);
	assert.deepEqual(complaints, []);
	await close();
});

test("the tree by keys alone, and its parents as of the time shown", async () => {
	const { page, complaints, close } = await browser.sample("station");
	await page.locator("#page-0 .list").focus();
	await page.keyboard.press("ArrowDown");
	await page.keyboard.press("Enter");
	assert.equal(await page.locator(".selection-name").textContent(), "core module");
	await page.keyboard.press("ArrowLeft");
	assert.deepEqual(await rows(page), ["station", "core module", "free flyer", "free flyer", "Loops", "berth"]);
	await page.evaluate(() => calder.seek(30));
	await frames(page);
	assert.deepEqual(await rows(page), ["station", "core module", "Loops", "berth"], "captured: part of the station");
	await page.evaluate(() => calder.seek(55));
	await frames(page);
	assert.ok((await rows(page)).filter((n) => n === "free flyer").length === 2, "released: a group of its own");
	assert.deepEqual(complaints, []);
	await close();
});

test("a click in the scene selects the body under it", async () => {
	const { page, complaints, close } = await browser.sample("pendulum", { hash: "#cam=front" });
	const at = await page.evaluate(() => {
		const { view, stage } = calder;
		const m = view.sample.matrix;
		// Half way down the upper arm.
		const p = stage.camera.position
			.clone()
			.set(m[2] * -0.5 + m[3], m[6] * -0.5 + m[7], m[10] * -0.5 + m[11])
			.project(stage.camera);
		const box = stage.renderer.domElement.getBoundingClientRect();
		return [box.left + ((p.x + 1) / 2) * box.width, box.top + ((1 - p.y) / 2) * box.height];
	});
	await page.mouse.click(...at);
	assert.equal(await page.locator(".selection-name").textContent(), "upper arm");
	await frames(page);
	assert.equal(await page.locator(".name-label").textContent(), "upper arm");
	await page.keyboard.press("Escape");
	assert.equal(await page.locator(".selection-name").count(), 0);
	assert.deepEqual(complaints, []);
	await close();
});

test("the position shown of a selected node is its own, not its body's", async () => {
	const { page, complaints, close } = await browser.sample("pendulum", { hash: "#t=1&sel=node:upper%20arm/tip" });
	await frames(page);
	assert.equal(await page.locator(".selection-name").textContent(), "upper arm/tip");
	const angle = 0.9 * Math.cos(2.2);
	const text = await page.locator("dt", { hasText: "Position" }).locator("+ dd").textContent();
	text.split(/\s+/).forEach((v, i) => near(Number(v), [Math.sin(angle), 0, -Math.cos(angle)][i], 2e-3));
	assert.deepEqual(complaints, []);
	await close();
});

test("plots: from the selection and the list, axes by unit, the line follows, a click sets the time, a drag zooms", async () => {
	const { page, complaints, close } = await browser.sample("station", { hash: "#sel=joint:wrist%20roll" });
	await page.keyboard.press("p");
	await page.locator(".plot .uplot").waitFor();
	assert.deepEqual(await page.locator(".chip .name").allTextContents(), ["q:wrist roll", "reaction:wrist roll"]);
	assert.equal(await page.locator(".plot .u-axis").count(), 3, "time, rad, N");
	await page.getByRole("tab", { name: "Signals" }).click();
	await page.getByLabel("Search signals").fill("u:shoulder");
	await page.locator("#page-1 .row:visible").nth(1).click();
	assert.equal(await page.locator(".chip").count(), 3, "with times of its own");
	const head = () => page.evaluate(() => document.querySelector(".playhead").getBoundingClientRect().left);
	await page.evaluate(() => calder.seek(15));
	await frames(page);
	const [first, text] = [await head(), await page.locator(".chip .value").first().textContent()];
	await page.evaluate(() => calder.seek(45));
	await frames(page);
	const over = await page.locator(".u-over").boundingBox();
	near((await head()) - first, over.width / 2, 2);
	assert.notEqual(await page.locator(".chip .value").first().textContent(), text);
	await page.mouse.click(over.x + over.width * 0.25, over.y + over.height / 2);
	await frames(page);
	near(await time(page), 15, 0.3);
	await page.mouse.move(over.x + over.width * 0.5, over.y + 20);
	await page.mouse.down();
	await page.mouse.move(over.x + over.width * 0.75, over.y + 30, { steps: 4 });
	await page.mouse.up();
	await frames(page);
	near(await time(page), 15, 0.3);
	await page.evaluate(() => calder.seek(37.5));
	await frames(page);
	near((await head()) - over.x, over.width / 2, 12);
	await page.getByRole("button", { name: "Reset zoom" }).click();
	await frames(page);
	near((await head()) - over.x, over.width * 0.625, 3);
	await page.getByRole("button", { name: "Close plot" }).click();
	assert.equal(await page.locator(".plot").count(), 0);
	assert.deepEqual(complaints, []);
	await close();
});

test("a plot saves CSV with the document's numbers, and PNG", async () => {
	const { page, complaints, close } = await browser.sample("pendulum", { hash: "#plot=q:upper,energy:total" });
	const csv = await download(page, () => page.getByRole("button", { name: "CSV" }).click());
	const lines = csv.bytes.toString().trim().split("\n");
	assert.equal(csv.name, "signals.csv");
	assert.equal(lines[0], "t [s],q:upper [rad],energy:total [J]");
	assert.equal(lines.length, 302);
	const cells = lines[31].split(",").map(Number);
	assert.equal(cells[0], 1);
	assert.equal(cells[1], 0.9 * Math.cos(2.2));
	const png = await download(page, () => page.getByRole("button", { name: "PNG" }).click());
	assert.equal(png.bytes.subarray(1, 4).toString(), "PNG");
	assert.ok(png.bytes.length > 5000);
	const svg = await download(page, () => page.getByRole("button", { name: "SVG" }).click());
	const drawn = await page.evaluate((text) => {
		const root = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
		const paths = [...root.querySelectorAll("path[fill=none]")].map((p) => p.getAttribute("d"));
		return { name: root.nodeName, texts: [...root.querySelectorAll("text")].map((t) => t.textContent), paths };
	}, svg.bytes.toString());
	assert.equal(drawn.name, "svg");
	for (const name of ["q:upper [rad]", "energy:total [J]", "t [s]", "[rad]", "[J]"])
		assert.ok(drawn.texts.includes(name), name);
	assert.deepEqual(
		drawn.paths.map((d) => d.split(/[ML]/).length - 1),
		[301, 301, 301, 301], // those of the second run too
	);
	const middle = drawn.paths[0].split(/[ML]/)[1 + 30].split(" ").map(Number); // 1 s of 10 s
	assert.ok(Math.abs(middle[0] - (64 + 56)) < 0.1, String(middle));
	assert.deepEqual(complaints, []);
	await close();
});

test("the scene saves as PNG at twice the resolution", async () => {
	const { page, complaints, close } = await browser.sample("pendulum", { width: 900, height: 600 });
	const png = await download(page, async () => {
		await page.getByRole("button", { name: "Export" }).click();
		await page.getByRole("menuitem", { name: /Picture of the scene/ }).click();
	});
	assert.equal(png.name, "Double-pendulum.png");
	assert.equal(png.bytes.subarray(1, 4).toString(), "PNG");
	const width = await page.evaluate(() => calder.stage.width);
	assert.equal(png.bytes.readUInt32BE(16), Math.floor(width * 2));
	assert.deepEqual(complaints, []);
	await close();
});

test("flexible bodies are drawn deformed and exaggerated, and colored", async () => {
	const { page, complaints, close } = await browser.sample("station", { hash: "#t=22" });
	const tip = () =>
		page.evaluate(() => {
			const { mesh } = calder.view.flexible.bodies[0];
			return mesh.geometry.getAttribute("position").array.at(-1);
		});
	const eta = await page.evaluate(() => Array.from(calder.view.sample.eta.slice(0, 4)));
	const once = await tip();
	near(once, eta[0] * 0.5 + eta[1] * 0.5 + eta[2] * 0.5 + eta[3], 1e-4);
	await page.locator("[data-test=exaggeration]").fill("1");
	await frames(page);
	near(await tip(), 10 * once, 1e-3);
	const color = () =>
		page.evaluate(() =>
			Array.from(calder.view.flexible.bodies[0].mesh.geometry.getAttribute("color").array.slice(-3)),
		);
	const plain = await color();
	await page.locator("[data-test=coloring]").selectOption("displacement");
	await frames(page);
	const moved = await color();
	assert.notDeepEqual(moved, plain);
	assert.match(await page.locator(".legend").textContent(), /Displacement0[\d.]+ m/);
	await page.locator("[data-test=coloring]").selectOption("strain");
	await frames(page);
	assert.notDeepEqual(await color(), moved);
	assert.match(await page.locator(".legend").textContent(), /Strain energy.*J\/m²/);
	assert.deepEqual(complaints, []);
	await close();
});

test("a mode shape moves the vertices; the list shows its frequency", async () => {
	const { page, complaints, close } = await browser.sample("station");
	const item = page.locator(".mode").nth(1);
	assert.match(await item.textContent(), /bending 2.*0\.68 Hz/);
	await item.click();
	const positions = () =>
		page.evaluate(() => Array.from(calder.view.flexible.bodies[0].mesh.geometry.getAttribute("position").array));
	await page.waitForFunction(
		(before) => {
			const { array } = calder.view.flexible.bodies[0].mesh.geometry.getAttribute("position");
			return array.some((v, i) => Math.abs(v - before[i]) > 0.05);
		},
		await positions(),
	);
	await page.getByRole("button", { name: "Back to the motion" }).click();
	await frames(page);
	assert.equal(await page.evaluate(() => calder.mode), null);
	const [z, expected] = await page.evaluate(() => [
		calder.view.flexible.bodies[0].mesh.geometry.getAttribute("position").array.at(-1),
		calder.view.sample.eta.slice(0, 3).reduce((s, v) => s + v / 2, calder.view.sample.eta[3]),
	]);
	near(z, expected, 1e-4);
	assert.deepEqual(complaints, []);
	await close();
});

test("frames, arrows and trails can be shown", async () => {
	const { page, complaints, close } = await browser.sample("station", { hash: "#t=44&sel=body:free%20flyer" });
	const changes = async (act) => {
		const before = await canvasShot(page);
		await act();
		await frames(page);
		assert.ok(!before.equals(await canvasShot(page)), "nothing changed in the picture");
	};
	for (const name of ["Joints", "Nodes", "Trails", "Arrows", "Grid"])
		await changes(() => page.locator(".show-tools").getByRole("button", { name }).click());
	assert.equal(await page.evaluate(() => calder.view.trails.list.length), 1);
	await page.locator(".show-tools").getByRole("button", { name: "Arrows" }).click();
	const slider = page.getByLabel("Arrow scale");
	await changes(() => slider.fill("0.8"));
	assert.deepEqual(complaints, []);
	await close();
});

test("the second run: in the document, hidden, taken away, from a file", async () => {
	const { page, complaints, close } = await browser.sample("pendulum", { hash: "#t=1&plot=q:upper" });
	const differ = () =>
		page.evaluate(() => {
			const { ghost, sample } = calder.view;
			return ghost && Math.abs(ghost.sample.pose[7] - sample.pose[7]);
		});
	await frames(page);
	assert.ok((await differ()) > 0.01);
	assert.equal(
		await page.evaluate(() =>
			document.querySelector("header p").textContent.includes("compared with started later"),
		),
		true,
	);
	const with_ghost = await canvasShot(page);
	await page.keyboard.press("g");
	await frames(page);
	assert.ok(!with_ghost.equals(await canvasShot(page)));
	await page.getByRole("button", { name: "Compare" }).click();
	await page.getByRole("menuitem", { name: "Remove the second run" }).click();
	assert.equal(await differ(), null);
	await page.getByRole("button", { name: "Compare" }).click();
	const [chooser] = await Promise.all([
		page.waitForEvent("filechooser"),
		page.getByRole("menuitem", { name: /Compare with/ }).click(),
	]);
	await chooser.setFiles(await browser.file("station"));
	await page.waitForFunction(() => calder.view.ghost?.replay.bodies.length === 51);
	await frames(page);
	assert.deepEqual(complaints, []);
	await close();
});

test("an address says what is shown, and what is shown becomes the address", async () => {
	const hash =
		"#t=3.2&sel=body:lower%20arm&cam=5,-6,1,0,0,-0.5&follow=lower%20arm&plot=q:upper;q:lower&rate=2&hide=upper%20arm&theme=dark";
	const { page, complaints, close } = await browser.sample("pendulum", { hash });
	await frames(page);
	const state = await page.evaluate(() => ({
		time: calder.time,
		body: calder.selectedBody,
		following: calder.camera.following,
		rate: calder.rate,
		hidden: Array.from(calder.view.hidden),
		theme: document.documentElement.dataset.theme,
		camera: calder.camera.numbers(),
	}));
	near(state.time, 3.2, 1e-9);
	assert.deepEqual([state.body, state.following, state.rate, state.theme], [1, 1, 2, "dark"]);
	assert.deepEqual(state.hidden, [1, 0, 0]);
	near(state.camera[0], 5, 1e-3);
	assert.equal(await page.locator(".plot").count(), 2);
	await page.evaluate(() => calder.seek(4));
	await page.waitForFunction(() => location.hash.startsWith("#t=4&sel=body:lower%20arm&"));
	const written = await page.evaluate(() => location.hash);
	assert.ok(written.includes("plot=q%3Aupper;q%3Alower") && written.includes("hide=upper%20arm"), written);
	await page.evaluate(() => {
		location.hash = "#t=1.5";
	});
	await page.waitForFunction(() => calder.time === 1.5);
	assert.deepEqual(complaints, []);
	await close();
});

test("camera: presets look along the axes, follow keeps the body in its place", async () => {
	const { page, complaints, close } = await browser.sample("station");
	const view = () =>
		page.evaluate(() => {
			const d = calder.stage.camera.position.clone().sub(calder.camera.controls.target).normalize();
			return d.toArray();
		});
	for (const [key, axis] of [
		["2", [0, -1, 0]],
		["3", [0, 0, 1]],
		["4", [1, 0, 0]],
	]) {
		await page.keyboard.press(key);
		await cameraRests(page);
		const d = await view();
		axis.forEach((v, i) => near(d[i], v, 0.01));
	}
	await page.evaluate(() => {
		calder.select({ kind: "body", body: 49 });
		calder.seek(30);
	});
	await frames(page);
	await page.keyboard.press("o");
	const offset = () =>
		page.evaluate(() =>
			[0, 1, 2].map((k) => calder.stage.camera.position.toArray()[k] - calder.view.sample.pose[49 * 7 + k]),
		);
	const before = await offset();
	await page.evaluate(() => calder.seek(58));
	await frames(page, 3);
	const after_ = await offset();
	before.forEach((v, i) => near(after_[i], v, 0.02));
	assert.deepEqual(complaints, []);
	await close();
});

test("badges say in words whether a number is within its limit", async () => {
	const { page, complaints, close } = await browser.sample("station", { hash: "#t=5" });
	assert.equal(await page.locator(".badge").count(), 3);
	assert.match(
		await page.locator(".badge").first().getAttribute("aria-label"),
		/^Energy [\d.e-]+ J: within the limit 1\.00e-6 J; largest of the run/,
	);
	await page.evaluate(() => {
		calder.replay.badges[0].good = 1e-12;
		calder.emit("replay");
	});
	assert.match(await page.locator(".badge").first().getAttribute("aria-label"), /above the limit/);
	await page.locator(".badge").first().click();
	assert.deepEqual(await page.locator(".chip .name").allTextContents(), ["energy:drift"]);
	assert.deepEqual(complaints, []);
	await close();
});

test("names of events do not run into each other or out of the time line, and the marks are at their times", async () => {
	const at = [0, 4, 4.6, 9.3, 12, 12.1, 12.2, 18.5, 19.8];
	const document = {
		bodies: [{ name: "a", shapes: [{ kind: "sphere", dimensions: [1] }] }],
		frames: { t: [0, 20], pose: [0, 1].map(() => [[0, 0, 0, 1, 0, 0, 0]]) },
		events: at.map((t, i) => ({ t, name: i % 2 ? "berthing" : "undock" })),
	};
	for (const width of [390, 1024, 2560]) {
		const { page, complaints, close } = await openDocument(browser, document, { width });
		const { names, marks, slider } = await page.evaluate(() => {
			const box = (e) => (({ left, right }) => ({ left, right }))(e.getBoundingClientRect());
			const all = [...document.querySelectorAll(".mark")];
			return {
				names: all
					.map((m) => m.firstChild)
					.filter((e) => e.checkVisibility())
					.map(box),
				marks: all.map((m) => (m.dataset.side === "left" ? box(m).right - 1 : box(m).left + 1)),
				slider: box(document.querySelector("#time-slider")),
			};
		});
		assert.ok(names.length >= 3, `${width} px: ${names.length} names`);
		names.forEach(({ left, right }, i) => {
			assert.ok(left >= slider.left - 8 && right <= slider.right + 8, `${width} px: ${left}…${right} is outside`);
			assert.ok(i === 0 || left >= names[i - 1].right, `${width} px: names ${i - 1} and ${i} overlap`);
		});
		const inner = slider.right - slider.left - 14;
		marks.forEach((x, i) => near((x - slider.left - 7) / inner, at[i] / 20, 3 / inner));
		assert.deepEqual(complaints, []);
		await close();
	}
});

test("events: marks on the time line lead to their time, the caption names them", async () => {
	const { page, complaints, close } = await browser.sample("station");
	assert.deepEqual(await page.locator(".mark").allTextContents(), [
		"Approach",
		"Capture",
		"Damped",
		"Berthing",
		"Release",
	]);
	await page.locator(".mark").nth(1).click();
	await frames(page);
	near(await time(page), 20, 1e-9);
	assert.match(await page.locator(".caption").textContent(), /Capture.*momentum is kept/);
	const mark = await page.locator(".mark").nth(1).boundingBox();
	const slider = await page.locator("#time-slider").boundingBox();
	near((mark.x - slider.x) / slider.width, 20 / 60, 0.01);
	assert.deepEqual(complaints, []);
	await close();
});
