// SPDX-License-Identifier: Apache-2.0
/*
 * make.mjs — writes a sample replay: node sample/make.mjs station station.html (or .json). Samples: pendulum, station,
 * many, hostile.
 */
import { writeFileSync } from "node:fs";
import { page } from "./pack.mjs";

const [name, out] = process.argv.slice(2);
if (!["pendulum", "station", "many", "hostile"].includes(name) || !out) {
	console.error("usage: node sample/make.mjs pendulum|station|many|hostile OUT.html|OUT.json");
	process.exit(2);
}
const { make } = await import(`./${name}.mjs`);
writeFileSync(out, out.endsWith(".json") ? JSON.stringify(make()) : page(make()));
