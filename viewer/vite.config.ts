// SPDX-License-Identifier: Apache-2.0
/*
 * vite.config.ts — builds dist/viewer.html.
 */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig, type Plugin } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";
import { finish } from "./build_page.ts";

const OUT = join(import.meta.dirname, "dist");

const page: Plugin = {
	name: "calder-page",
	apply: "build",
	closeBundle() {
		const built = join(OUT, "index.html");
		const finished = finish(readFileSync(built, "utf8"), {
			title: "Calder viewer",
			marker: '<script type="application/json" id="calder-replay">@CALDER_REPLAY_JSON@</script>',
			text: "@CALDER_REPLAY_JSON@",
		});
		writeFileSync(built, finished);
		renameSync(built, join(OUT, "viewer.html"));
	},
};

export default defineConfig({
	root: import.meta.dirname,
	build: { outDir: OUT, emptyOutDir: true, target: "es2022", modulePreload: false, reportCompressedSize: false },
	plugins: [viteSingleFile({ removeViteModuleLoader: true }), page],
});
