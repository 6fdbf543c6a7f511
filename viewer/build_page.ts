// SPDX-License-Identifier: Apache-2.0
/*
 * build_page.ts — what the pages share that vite builds: one file with script and style in it, and a policy that allows
 * exactly these by their hashes and no network but the page's own origin. The same sources give the same bytes.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const licenses = readFileSync(join(import.meta.dirname, "licenses.txt"), "utf8").trim();

export const hash = (text: string): string => `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;

export function contents(html: string, pattern: RegExp): string[] {
	return [...html.matchAll(pattern)].map((match) => match[1]!);
}

export interface PageOptions {
	title: string; // "Calder viewer"
	marker: string; // an element that must stand once in the page
	text: string; // in it, and nowhere else
	scripts?: string[]; // what scripts may do besides, as sources of the policy
	policy?: string[]; // more of it
	contains?: string; // what else is in the page, with its license
}

export function finish(
	html: string,
	{ title, marker, text, scripts = [], policy = [], contains = "" }: PageOptions,
): string {
	const inside = contents(html, /<script type="module"[^>]*>([\s\S]*?)<\/script>/g);
	const styles = contents(html, /<style[^>]*>([\s\S]*?)<\/style>/g);
	if (inside.length !== 1 || styles.length === 0)
		throw new Error(`${inside.length} scripts, ${styles.length} styles in the page`);
	if (html.split(marker).length !== 2 || html.split(text).length !== 2)
		throw new Error(`${marker} must stand once in the page`);
	if (/(src|href)="(?!data:)[^"]*"/.test(html.replace(inside[0]!, ""))) throw new Error("the page loads something");
	const rules = [
		"default-src 'none'",
		`script-src ${[...inside.map(hash), ...scripts].join(" ")}`,
		`style-src ${styles.map(hash).join(" ")}`,
		"img-src data: blob:",
		"media-src blob:",
		"connect-src 'self'",
		"base-uri 'none'",
		"form-action 'none'",
		...policy,
	].join("; ");
	const charset = '<meta charset="utf-8">';
	const doctype = "<!doctype html>";
	if (!html.startsWith(doctype) || !html.includes(charset)) throw new Error("the page has no place for the policy");
	const body = html
		.slice(doctype.length)
		.replace(charset, () => `${charset}\n<meta http-equiv="Content-Security-Policy" content="${rules}">`);
	const notice = `<!--
${title}. SPDX-License-Identifier: Apache-2.0
Contains three.js (MIT, Copyright 2010-2026 three.js authors) and uPlot (MIT, Copyright (c) 2022 Leon Sorokin):
${licenses}${contains}
-->`;
	return `${doctype}\n${notice}${body}`;
}
