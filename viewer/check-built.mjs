// SPDX-License-Identifier: Apache-2.0
/*
 * check-built.mjs — builds the viewer anew and fails if dist/viewer.html, which is committed, is not what came out: it
 * is stale, or the build depends on the machine. The committed file is left as it was.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";

const path = new URL("dist/viewer.html", import.meta.url);
const committed = readFileSync(path);
const { status } = spawnSync("npm", ["run", "--silent", "build"], {
	cwd: new URL(".", import.meta.url),
	stdio: "inherit",
});
if (status !== 0) process.exit(status ?? 1);
const built = readFileSync(path);
writeFileSync(path, committed);
if (!built.equals(committed)) {
	console.error(
		`dist/viewer.html is stale: ${committed.length} bytes are committed, the sources give ${built.length}. Run: npm run build`,
	);
	process.exit(1);
}
console.log(`dist/viewer.html is what the sources give (${built.length} bytes)`);
