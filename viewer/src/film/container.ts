// SPDX-License-Identifier: Apache-2.0
/*
 * container.ts — what the files of films have in common: frames as an encoder gave them, and bytes in big-endian order.
 */
export interface EncodedFrame {
	data: Uint8Array;
	key: boolean; // it can be shown without those before it
}

export interface EncodedFilm {
	codec: string; // as WebCodecs names it
	width: number; // [px]
	height: number;
	fps: number; // frame i is shown at i/fps
	frames: readonly EncodedFrame[];
	/** The decoder's configuration (H.264: the avcC record); empty: it needs none. */
	description: Uint8Array;
}

export type Bytes = Uint8Array | readonly number[] | string;

/** n as `length` bytes. */
export function big(n: number, length: number): number[] {
	const out: number[] = [];
	for (let i = length - 1; i >= 0; i--) out.push(Math.floor(n / 256 ** i) % 256);
	return out;
}

export function join(parts: readonly Bytes[]): Uint8Array<ArrayBuffer> {
	const lists = parts.map((p) => (typeof p === "string" ? new TextEncoder().encode(p) : p));
	const out = new Uint8Array(lists.reduce((sum, p) => sum + p.length, 0));
	let at = 0;
	for (const list of lists) {
		out.set(list, at);
		at += list.length;
	}
	return out;
}
