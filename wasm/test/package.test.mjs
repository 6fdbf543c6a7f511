// SPDX-License-Identifier: Apache-2.0
/*
 * package.test.mjs — the package as others use it: from build/npm, which tools/npm_package made of the module. CALDER_NPM: that folder.
 * That the numbers are right is shown by check.mjs; here, that the interface gives them.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { pathToFileURL } from "node:url";

const root = join(import.meta.dirname, "../..");
const folder = process.env.CALDER_NPM ?? join(root, "build/npm");
const example = (name) => readFileSync(join(root, "examples", name), "utf8");
const { createCalder, CalderError, hasSimd } = await import(pathToFileURL(join(folder, "src/index.js")).href);

let calder;
before(async () => {
	calder = await createCalder(readFileSync(join(folder, "dist/calder.wasm")));
});

const arm = `calder: 1
gravity: [0, 0, -9.81]
bodies:
  rod: {mass: 2 kg, rod: {from: [0, 0, 0], to: [0, 0, -1]}}
joints:
  hinge: {type: revolute, from: ground, to: rod, axis: y}
state:
  hinge: {q: 60 deg}
run: {duration: 1 s}
`;

test("a run has columns, samples, a state, and ends at its time", async () => {
	const run = await calder.load(example("pendulum.yaml"), { name: "pendulum.yaml" });
	assert.equal(run.title, "Pendulum");
	assert.equal(run.time, 0);
	run.addSignals("q", "energy");
	assert.equal(run.columns[0].name, "t");
	assert.equal(run.columns[0].unit, "s");
	assert.ok(run.columns.some((c) => c.name.startsWith("energy")));
	const columns = run.record({ until: 0.5, interval: 0.1 });
	assert.equal(run.time, 0.5);
	assert.deepEqual([...columns[0].values], [0, 0.1, 0.2, 0.30000000000000004, 0.4, 0.5]);
	assert.equal(columns[1].values[5], run.state[0]);
	assert.equal(run.sample().length, run.columns.length);
	assert.deepEqual(run.doubts, []);
	run.delete();
});

test("a saved run continues bit-identically, in another memory too", async () => {
	const first = await calder.load(example("double_pendulum.yaml"));
	const second = await calder.load(example("double_pendulum.yaml"));
	first.advance(0.3);
	const saved = first.save();
	first.advance(1);
	second.restore(saved);
	assert.equal(second.time, 0.3);
	second.advance(1);
	assert.deepEqual(second.state, first.state);
	first.restore(saved);
	first.advance(1);
	assert.deepEqual(second.state, first.state);
	assert.throws(() => second.restore(saved.subarray(0, 20)), CalderError);
});

test("mistakes carry their place, and so do those of robot files", async () => {
	const failure = async (text, options) => calder.load(text, options).then(assert.fail, (error) => error);
	const yaml = await failure("calder: 1\nbodies:\n  link: {mas: 1}\n", { name: "arm.yaml" });
	assert.ok(yaml instanceof CalderError);
	assert.equal(yaml.message, 'arm.yaml:3:10: error: body "link": unknown key "mas"; did you mean "mass"?');
	assert.deepEqual([yaml.file, yaml.line, yaml.column], ["arm.yaml", 3, 10]);
	assert.ok(yaml.status < 0);
	const urdf = await failure("<robot name='r'>\n<link name='a'></robot>", { name: "r.urdf" });
	assert.deepEqual([urdf.file, urdf.line], ["r.urdf", 2]);
	const run = await calder.load(arm);
	assert.throws(() => run.addSignals("qq"), /qq/);
	assert.throws(() => run.setParameter("joint:nothing.damping", 1), /no parameter/);
});

test("parameters change the run, and are refused out of their range", async () => {
	const run = await calder.load(arm, { interactive: true });
	const value = (name) => run.parameters.find((p) => p.name === name).value;
	assert.equal(value("group:main.gravity.z"), -9.81);
	run.setParameter("group:main.gravity.z", 0);
	assert.equal(value("group:main.gravity.z"), 0);
	assert.throws(() => run.setParameter("body:rod.mass", -1), CalderError);
	assert.equal(value("body:rod.mass"), 2);
	const [q] = run.state;
	run.advance(0.5);
	assert.deepEqual([...run.state], [q, 0]); // nothing pulls at it
	const plain = await calder.load(arm);
	assert.throws(() => plain.setParameter("group:main.gravity.z", 0), CalderError);
});

test("robot files take meshes from memory, and say what is missing", async () => {
	const urdf = readFileSync(join(root, "examples/zoo/arm.urdf"), "utf8");
	const run = await calder.load(urdf, { name: "arm.urdf", partial: true });
	assert.ok(run.notes.length > 0);
	assert.match(run.notes[0].place, /^arm\.urdf:\d+:\d+$/);
	const again = await calder.load(run.modelText, { name: "arm.yaml" });
	assert.deepEqual(again.state, run.state);
	const sdf = readFileSync(join(root, "examples/zoo/spacecraft.sdf"), "utf8");
	const dish = readFileSync(join(root, "examples/zoo/dish.obj"));
	const craft = await calder.load(sdf, { name: "zoo/spacecraft.sdf", partial: true, files: { "zoo/dish.obj": dish } });
	assert.ok(craft.document.meshes.length > 0);
	const without = await calder.load(sdf, { name: "zoo/spacecraft.sdf", partial: true }).then(
		(made) => JSON.stringify(made.notes),
		(error) => error.message,
	);
	assert.match(without, /dish\.obj/);
});

test("a viewer gets documents and ticks, and its forces act", async () => {
	const run = await calder.load(arm, { interactive: true });
	run.addSignals("q");
	const { bodies, signals } = run.document;
	assert.equal(bodies[0].name, "rod");
	assert.equal(signals.length, 1);
	const tick = new DataView(run.tick().buffer);
	assert.equal(tick.getFloat64(8, true), 0);
	run.command(JSON.stringify({ command: "force", body: 0, point: [0, 0, -1], force: [0, 1000, 0] }));
	run.command(JSON.stringify({ command: "force", body: 0, point: [0, 0, -1], force: [1000, 0, 0] }));
	const before = run.state[1];
	run.advance(0.01);
	assert.ok(Math.abs(run.state[1] - before) > 1);
	run.command(JSON.stringify({ command: "release" }));
	const messages = run.command(JSON.stringify({ command: "reset" }));
	assert.equal(run.time, 0);
	assert.ok(messages.some((m) => m.moments));
	assert.deepEqual(run.events(), []);
});

test("the module with registers of 128 bits gives the same bits", async () => {
	const wide = await createCalder(readFileSync(join(folder, "dist/calder-simd.wasm")));
	const [a, b] = await Promise.all([calder, wide].map((library) => library.load(example("double_pendulum.yaml"))));
	a.advance(0.2);
	b.advance(0.2);
	assert.deepEqual(b.state, a.state);
});

test("hostile texts are refused and leave a library that works", async () => {
	const deep = `calder: 1\nbodies: ${"[".repeat(100000)}`;
	await assert.rejects(calder.load(deep), /nested too deeply/);
	await assert.rejects(calder.load(`<robot name="r">${"<link>".repeat(5000)}`), CalderError);
	await assert.rejects(calder.load("\0\0\0"), CalderError);
	await assert.rejects(calder.load('calder: 1\nbodies:\n  a: {subsystem: "/etc/passwd"}\n'), CalderError);
	assert.match(await calder.version(), /^\d+\.\d+\.\d+$/);
	assert.equal(hasSimd(), true);
	(await calder.load(arm)).advance(0.1);
});

test("the example of the README runs, by the name of the package", () => {
	const readme = readFileSync(join(folder, "README.md"), "utf8");
	const code = /```js\n([\s\S]*?)```/.exec(readme)[1];
	const { stdout, stderr, status } = spawnSync(process.execPath, ["--input-type=module", "-e", code], {
		cwd: folder,
		encoding: "utf8",
	});
	assert.equal(status, 0, stderr);
	assert.match(stdout, /^t s Float64Array\(5\)/m);
	assert.match(stdout, /^q:hinge rad/m);
});
