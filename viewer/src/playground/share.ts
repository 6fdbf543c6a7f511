// SPDX-License-Identifier: Apache-2.0
/*
 * share.ts — a model in the fragment of an address, `model=`: its name, a line end and its text, deflated, in base64 of addresses.
 * Fragments are not sent to servers.
 */

async function through(bytes: Uint8Array, stream: GenericTransformStream): Promise<Uint8Array> {
	const out = new Blob([bytes as BlobPart]).stream().pipeThrough(stream as TransformStream);
	return new Uint8Array(await new Response(out).arrayBuffer());
}

export async function packModel(name: string, text: string): Promise<string> {
	const bytes = new TextEncoder().encode(`${name}\n${text}`);
	const packed = await through(bytes, new CompressionStream("deflate-raw"));
	let letters = "";
	for (const byte of packed) letters += String.fromCharCode(byte);
	return btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

export async function unpackModel(packed: string): Promise<{ name: string; text: string }> {
	const letters = atob(packed.replaceAll("-", "+").replaceAll("_", "/"));
	const bytes = Uint8Array.from(letters, (c) => c.charCodeAt(0));
	const all = new TextDecoder().decode(await through(bytes, new DecompressionStream("deflate-raw")));
	const end = all.indexOf("\n");
	if (end < 0) throw new Error("the link holds no model");
	return { name: all.slice(0, end), text: all.slice(end + 1) };
}
