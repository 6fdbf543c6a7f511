// SPDX-License-Identifier: Apache-2.0
/*
 * vite.playground.config.ts — builds ../build/playground/playground.html: the viewer, the examples and the library in one file.
 * CALDER_WASM names the module, ../build/wasm/wasm/calder.wasm by default; it stands in the page as gzip in base64.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { defineConfig, type Plugin } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";
import { finish } from "./build_page.ts";

const BUILD = join(import.meta.dirname, "../build");
const OUT = join(BUILD, "playground");
const MODULE = process.env.CALDER_WASM ?? join(BUILD, "wasm/wasm/calder.wasm");
const MARKER = "@CALDER_WASM@";

/** The notices of what is compiled into the module besides Calder. */
const notices = (): string =>
	["libyaml/License", "expat/expat/COPYING"]
		.map((name) => `\n\n${name.split("/")[0]}:\n${readFileSync(join(BUILD, "wasm-sources", name), "utf8").trim()}`)
		.join("");

const page: Plugin = {
	name: "calder-playground",
	apply: "build",
	closeBundle() {
		const built = join(OUT, "playground.html");
		const finished = finish(readFileSync(built, "utf8"), {
			title: "Calder playground",
			marker: `<script type="text/plain" id="calder-wasm">${MARKER}</script>`,
			text: MARKER,
			scripts: ["'wasm-unsafe-eval'"],
			policy: ["worker-src blob:"],
			contains: notices().replaceAll("--", "- -"),
		});
		const module = gzipSync(readFileSync(MODULE), { level: 9 }).toString("base64");
		writeFileSync(
			built,
			finished.replace(MARKER, () => module),
		);
	},
};

export default defineConfig({
	root: import.meta.dirname,
	build: {
		outDir: OUT,
		emptyOutDir: true,
		target: "es2022",
		modulePreload: false,
		reportCompressedSize: false,
		rollupOptions: { input: join(import.meta.dirname, "playground.html") },
	},
	worker: { format: "iife" },
	plugins: [viteSingleFile({ removeViteModuleLoader: true }), page],
});
