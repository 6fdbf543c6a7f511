// SPDX-License-Identifier: Apache-2.0
/*
 * check.mjs — the golden cases and the models of examples/ in WebAssembly under Node, compared with what the same program
 * (wasm/check.c) prints on this machine: every digit and every hash. `./dev wasm` runs it.
 *
 *   node wasm/test/check.mjs NATIVE_PROGRAM WASM_PROGRAM...
 *
 * One line for each thing that differs; at the end "N passed, N failed, 0 skipped", where a golden case counts once for its verdict
 * and its digits, and a model once for all that is printed of it.
 */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { runProgram, Wasi } from "../src/wasi.js";

const root = join(import.meta.dirname, "../..");
const golden = "test/data/golden";

function* filesIn(folder) {
	for (const name of readdirSync(join(root, folder)).sort()) {
		const path = `${folder}/${name}`;
		if (statSync(join(root, path)).isDirectory()) yield* filesIn(path);
		else yield path;
	}
}

const files = new Map();
for (const folder of ["examples", golden])
	for (const path of filesIn(folder)) files.set(path, readFileSync(join(root, path)));

const cases = [...filesIn(golden)].filter((path) => path.endsWith(".json"));
const models = readdirSync(join(root, "examples"))
	.filter((name) => name.endsWith(".yaml"))
	.map((name) => `examples/${name}`)
	.concat([...filesIn("examples/zoo")].filter((path) => /\.(urdf|xml|sdf)$/.test(path)))
	.sort();
const runs = [
	["golden", ...cases],
	["run", ...models],
	["texts"],
];

/** The lines that belong together: those that begin with a space go with the one before. */
function blocks(text) {
	const list = [];
	for (const line of text.split("\n")) {
		if (line.startsWith(" ") && list.length) list[list.length - 1] += `\n${line}`;
		else if (line && !/^\d+ passed,/.test(line)) list.push(line);
	}
	return list;
}

function native(program, args) {
	const { stdout, status, error } = spawnSync(program, args, { cwd: root, encoding: "utf8", maxBuffer: 1 << 28 });
	if (error) throw error;
	return { text: stdout, code: status };
}

async function foreign(module, args) {
	let text = "";
	const decoder = new TextDecoder();
	const wasi = new Wasi({
		args: ["wasm_check", ...args],
		files,
		write: (descriptor, bytes) => {
			if (descriptor === 1) text += decoder.decode(bytes, { stream: true });
			else process.stderr.write(bytes);
		},
	});
	return { code: await runProgram(module, wasi), text };
}

let passed = 0;
let failed = 0;

function compare(what, expected, got) {
	const wanted = blocks(expected.text), made = blocks(got.text);
	for (let i = 0; i < Math.max(wanted.length, made.length); i++) {
		const bad = / FAIL /.test(wanted[i] ?? "") || / (FAIL|skip) /.test(made[i] ?? "");
		if (wanted[i] === made[i] && !bad) {
			passed++;
			continue;
		}
		failed++;
		console.log(`${what}\n  this machine: ${wanted[i] ?? "nothing"}\n  WebAssembly:  ${made[i] ?? "nothing"}`);
	}
	if (expected.code !== got.code || expected.code !== 0) {
		failed++;
		console.log(`${what}: exit code ${expected.code} here, ${got.code} in WebAssembly`);
	}
}

const [program, ...programs] = process.argv.slice(2);
const expected = runs.map((args) => native(program, args));
for (const path of programs) {
	const bytes = readFileSync(path);
	const module = await WebAssembly.compile(bytes);
	const start = performance.now();
	for (const [i, args] of runs.entries()) compare(`${relative(root, path)} ${args[0]}`, expected[i], await foreign(module, args));
	console.log(`${relative(root, path)}: ${bytes.length} bytes, ${((performance.now() - start) / 1000).toFixed(1)} s`);
}
console.log(`${passed} passed, ${failed} failed, 0 skipped`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
