// SPDX-License-Identifier: Apache-2.0
/*
 * webm.ts — a film as WebM (Matroska, RFC 9559): elements of an identifier, a size and their content. A cluster begins with
 * every key frame, and the table of clusters comes before them, so that players can jump. Times are in milliseconds: a
 * frame is at most half of one off. There is no date in the file: the same frames give the same bytes.
 */
import { big, join, type Bytes, type EncodedFilm } from "./container.js";

/** A size in the fewest bytes: as many leading zero bits as bytes follow the first. */
function sizeBytes(size: number): number[] {
	let length = 1;
	while (size >= 2 ** (7 * length) - 1) length++;
	const out = big(size, length);
	out[0]! |= 1 << (8 - length);
	return out;
}

function element(id: number, ...content: Bytes[]): Uint8Array<ArrayBuffer> {
	const body = join(content);
	const length = id > 0xffffff ? 4 : id > 0xffff ? 3 : id > 0xff ? 2 : 1;
	return join([big(id, length), sizeBytes(body.length), body]);
}

const integer = (id: number, value: number, length = 0): Uint8Array => {
	let needed = length || 1;
	while (!length && value >= 256 ** needed) needed++;
	return element(id, big(value, needed));
};

function float(id: number, value: number): Uint8Array {
	const bytes = new Uint8Array(8);
	new DataView(bytes.buffer).setFloat64(0, value);
	return element(id, bytes);
}

const CLUSTER_MS = 30_000; // times within a cluster have 16 bits with a sign

interface Cluster {
	ms: number;
	bytes: Uint8Array<ArrayBuffer>;
}

function clusters({ frames, fps }: EncodedFilm): Cluster[] {
	const out: Cluster[] = [];
	let parts: Bytes[] = [],
		start = 0;
	const close = (): void => {
		if (parts.length) out.push({ ms: start, bytes: element(0x1f43b675, integer(0xe7, start), ...parts) });
		parts = [];
	};
	frames.forEach(({ data, key }, i) => {
		const ms = Math.round((1000 * i) / fps);
		if (key || ms - start > CLUSTER_MS) {
			close();
			start = ms;
		}
		parts.push(element(0xa3, [0x81], big(ms - start, 2), [key ? 0x80 : 0], data));
	});
	close();
	return out;
}

/** The table of clusters at `first` from the start of the segment's content. */
function cues(list: readonly Cluster[], first: number): Uint8Array {
	let at = first;
	const points = list.map(({ ms, bytes }) => {
		const point = element(0xbb, integer(0xb3, ms, 4), element(0xb7, integer(0xf7, 1), integer(0xf1, at, 6)));
		at += bytes.length;
		return point;
	});
	return element(0x1c53bb6b, ...points);
}

export function webmFile(film: EncodedFilm): Blob {
	const { codec, width, height, fps, frames } = film;
	const header = element(
		0x1a45dfa3,
		...[integer(0x4286, 1), integer(0x42f7, 1), integer(0x42f2, 4), integer(0x42f3, 8)],
		...[element(0x4282, "webm"), integer(0x4287, 4), integer(0x4285, 2)],
	);
	const info = element(
		0x1549a966,
		...[integer(0x2ad7b1, 1_000_000), float(0x4489, (1000 * frames.length) / fps)],
		...[element(0x4d80, "Calder"), element(0x5741, "Calder")],
	);
	const picture = element(0xe0, integer(0xb0, width), integer(0xba, height));
	const track = element(
		0xae,
		...[integer(0xd7, 1), integer(0x73c5, 1), integer(0x9c, 0), integer(0x83, 1)],
		...[
			element(0x86, codec.startsWith("vp8") ? "V_VP8" : "V_VP9"),
			integer(0x23e383, Math.round(1e9 / fps)),
			picture,
		],
	);
	const tracks = element(0x1654ae6b, track);
	const list = clusters(film);
	const before = info.length + tracks.length;
	const table = cues(list, before + cues(list, 0).length); // its size does not depend on the places
	const content = [info, tracks, table, ...list.map((c) => c.bytes)] as Uint8Array<ArrayBuffer>[];
	const size = content.reduce((sum, part) => sum + part.length, 0);
	return new Blob([header, join([big(0x18538067, 4), [0x01], big(size, 7)]), ...content], { type: "video/webm" });
}
