// SPDX-License-Identifier: Apache-2.0
/*
 * mp4.ts — a film of H.264 as MP4 (ISO/IEC 14496-12, -14, -15): boxes of a size, a name and their content. The tables come before
 * the frames, so that a film plays while it loads. Frames are in the order in which they are shown, all equally long;
 * 90 000 units per second or more, so that their times are exact for usual rates. Dates are zero: the same frames give the
 * same bytes.
 */
import { big, join, type Bytes, type EncodedFilm } from "./container.js";

function box(name: string, ...content: Bytes[]): Uint8Array<ArrayBuffer> {
	const body = join(content);
	return join([big(body.length + 8, 4), name, body]);
}

/** A box with a version and flags. */
const full = (name: string, flags: number, ...content: Bytes[]): Uint8Array<ArrayBuffer> =>
	box(name, big(flags, 4), ...content);

const zeros = (count: number): number[] => new Array<number>(count).fill(0);
const UNITY = [0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000].flatMap((v) => big(v, 4));

/** Units per second, and how many a frame lasts. */
function clockOf(fps: number): { scale: number; frame: number } {
	for (const scale of [90_000, 1_000_000])
		if (Math.abs(scale / fps - Math.round(scale / fps)) < 1e-9) return { scale, frame: Math.round(scale / fps) };
	return { scale: Math.round(fps * 10_000), frame: 10_000 };
}

function sampleEntry({ width, height, description }: EncodedFilm): Uint8Array {
	const dots = big(0x480000, 4); // 72 per inch
	return box(
		"avc1",
		...[zeros(6), big(1, 2), zeros(16), big(width, 2), big(height, 2), dots, dots, zeros(4), big(1, 2)],
		...[zeros(32), big(24, 2), [0xff, 0xff], box("avcC", description)],
	);
}

function tables(film: EncodedFilm, frame: number, first: number): Uint8Array {
	const { frames } = film;
	const count = big(frames.length, 4);
	const keys = frames.flatMap(({ key }, i) => (key ? [i + 1] : []));
	return box(
		"stbl",
		full("stsd", 0, big(1, 4), sampleEntry(film)),
		full("stts", 0, big(1, 4), count, big(frame, 4)),
		full("stss", 0, big(keys.length, 4), ...keys.map((k) => big(k, 4))),
		full("stsc", 0, big(1, 4), big(1, 4), count, big(1, 4)), // one chunk of all frames
		full("stsz", 0, big(0, 4), count, ...frames.map(({ data }) => big(data.length, 4))),
		full("stco", 0, big(1, 4), big(first, 4)),
	);
}

/** All that describes the frames, the first of which is at `first` in the file. */
function movie(film: EncodedFilm, first: number): Uint8Array<ArrayBuffer> {
	const { width, height, fps, frames } = film;
	const { scale, frame } = clockOf(fps);
	const length = big(frames.length * frame, 4);
	const media = box(
		"mdia",
		full("mdhd", 0, zeros(8), big(scale, 4), length, [0x55, 0xc4, 0, 0]), // language: not known
		full("hdlr", 0, zeros(4), "vide", zeros(12), "Calder\0"),
		box(
			"minf",
			full("vmhd", 1, zeros(8)),
			box("dinf", full("dref", 0, big(1, 4), full("url ", 1))),
			tables(film, frame, first),
		),
	);
	const head = full(
		"tkhd",
		3,
		...[zeros(8), big(1, 4), zeros(4), length, zeros(16), UNITY, big(width * 65536, 4), big(height * 65536, 4)],
	);
	const whole = full(
		"mvhd",
		0,
		...[zeros(8), big(scale, 4), length, big(0x10000, 4), big(0x100, 2), zeros(10), UNITY, zeros(24), big(2, 4)],
	);
	return box("moov", whole, box("trak", head, media));
}

export function mp4File(film: EncodedFilm): Blob {
	const size = film.frames.reduce((sum, { data }) => sum + data.length, 0);
	if (size > 2 ** 32 - 2 ** 26) throw new Error("the film is larger than 4 GB; make it shorter or smaller");
	const type = box("ftyp", "isom", big(0x200, 4), "isomiso2avc1mp41");
	const begin = type.length + movie(film, 0).length + 8;
	const data = film.frames.map((f) => f.data as Uint8Array<ArrayBuffer>);
	return new Blob([type, movie(film, begin), join([big(size + 8, 4), "mdat"]), ...data], { type: "video/mp4" });
}
