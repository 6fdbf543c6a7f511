// SPDX-License-Identifier: Apache-2.0
/*
 * embedded.ts — finds the document in a page: in this one, or in the text of another replay file. The other file is
 * searched as text and never parsed as HTML, so nothing in it can run.
 */

const ID = "calder-replay";

/** The JSON text in this page; null: the page is the viewer without data. */
export function embeddedText(page: Document): string | null {
	const text = page.getElementById(ID)?.textContent?.trim() ?? "";
	return text.startsWith("{") ? text : null;
}

/** The document in the text of a file: a replay page or bare JSON. */
export function documentInFile(text: string): unknown {
	const trimmed = text.trimStart();
	if (trimmed.startsWith("{")) return JSON.parse(trimmed);
	const opening = `id="${ID}">`;
	const start = text.lastIndexOf(opening);
	const end = start < 0 ? -1 : text.indexOf("</script>", start);
	if (end < 0) throw new Error("the file holds no Calder replay");
	const body = text.slice(start + opening.length, end).trim();
	if (!body.startsWith("{")) throw new Error("the file is the viewer without data");
	return JSON.parse(body);
}
