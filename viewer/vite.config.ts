// SPDX-License-Identifier: Apache-2.0
/*
 * vite.config.ts — builds dist/viewer.html: one file with script and style in it, and a policy that allows exactly
 * these by their hashes and no network but the page's own origin. The same sources give the same bytes.
 */
import { createHash } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig, type Plugin } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";

const OUT = join(import.meta.dirname, "dist");
const MARKER = '<script type="application/json" id="calder-replay">@CALDER_REPLAY_JSON@</script>';

const NOTICE = `<!--
Calder viewer. SPDX-License-Identifier: Apache-2.0
Contains three.js (MIT, Copyright 2010-2026 three.js authors) and uPlot (MIT, Copyright (c) 2022 Leon Sorokin):
${readFileSync(join(import.meta.dirname, "licenses.txt"), "utf8").trim()}
-->`;

const hash = (text: string): string => `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;

function contents(html: string, pattern: RegExp): string[] {
	return [...html.matchAll(pattern)].map((match) => match[1]!);
}

function finish(html: string): string {
	const scripts = contents(html, /<script type="module"[^>]*>([\s\S]*?)<\/script>/g);
	const styles = contents(html, /<style[^>]*>([\s\S]*?)<\/style>/g);
	if (scripts.length !== 1 || styles.length === 0)
		throw new Error(`${scripts.length} scripts, ${styles.length} styles in the page`);
	if (html.split(MARKER).length !== 2 || html.split("@CALDER_REPLAY_JSON@").length !== 2)
		throw new Error(`${MARKER} must stand once in the page`);
	if (/(src|href)="(?!data:)[^"]*"/.test(html.replace(scripts[0]!, ""))) throw new Error("the page loads something");
	const policy = [
		"default-src 'none'",
		`script-src ${scripts.map(hash).join(" ")}`,
		`style-src ${styles.map(hash).join(" ")}`,
		"img-src data: blob:",
		"media-src blob:",
		"connect-src 'self'",
		"base-uri 'none'",
		"form-action 'none'",
	].join("; ");
	const charset = '<meta charset="utf-8">';
	const doctype = "<!doctype html>";
	if (!html.startsWith(doctype) || !html.includes(charset)) throw new Error("the page has no place for the policy");
	const body = html
		.slice(doctype.length)
		.replace(charset, () => `${charset}\n<meta http-equiv="Content-Security-Policy" content="${policy}">`);
	return `${doctype}\n${NOTICE}${body}`;
}

const page: Plugin = {
	name: "calder-page",
	apply: "build",
	closeBundle() {
		const built = join(OUT, "index.html");
		writeFileSync(built, finish(readFileSync(built, "utf8")));
		renameSync(built, join(OUT, "viewer.html"));
	},
};

export default defineConfig({
	root: import.meta.dirname,
	build: { outDir: OUT, emptyOutDir: true, target: "es2022", modulePreload: false, reportCompressedSize: false },
	plugins: [viteSingleFile({ removeViteModuleLoader: true }), page],
});
