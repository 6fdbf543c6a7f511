// SPDX-License-Identifier: Apache-2.0
/*
 * packing.ts — arrays coded by second differences (docs/replay.md, "Differences"): bytes to whole numbers, column by column.
 *
 * A document from anywhere may ask for more memory than its bytes are worth, as rows on a line take none: there is a limit.
 */

/** Numbers of one array; beyond, the document is refused. */
export const MOST_NUMBERS = 2 ** 25;
const NO_NUMBER = -(2 ** 31);

/** A reader of numbers of seven bits a byte, the lowest first. */
class Bytes {
	private readonly bytes: Uint8Array;
	private at = 0;

	constructor(bytes: Uint8Array) {
		this.bytes = bytes;
	}

	get ended(): boolean {
		return this.at === this.bytes.length;
	}

	/** At most 2^53: a number that is longer is not one of ours. */
	next(): number {
		let value = 0;
		let factor = 1;
		for (let byte = 128; byte > 127; factor *= 128) {
			if (this.at === this.bytes.length) throw new Error("its data ends too early");
			byte = this.bytes[this.at++]!;
			value += (byte & 127) * factor;
			if (value > Number.MAX_SAFE_INTEGER) throw new Error("its data has a number that is too large");
		}
		return value;
	}
}

/** Calls `put` with every number of `columns` columns of `rows` rows, and its place in an array of rows. */
function readDifferences(data: Uint8Array, rows: number, columns: number, put: (i: number, n: number) => void): void {
	const bytes = new Bytes(data);
	for (let column = 0; column < columns; column++) {
		let last = 0;
		let slope = 0;
		let zeros = 0;
		for (let row = 0; row < rows; row++) {
			let left = 0;
			if (zeros > 0) zeros--;
			else {
				const code = bytes.next();
				if (code === 0) zeros = bytes.next();
				else left = code % 2 === 0 ? code / 2 : -(code + 1) / 2;
			}
			const number = last + slope + left;
			if (number < NO_NUMBER || number >= 2 ** 31) throw new Error("its data leaves the range of its type");
			slope = row > 0 ? number - last : 0;
			last = number;
			put(row * columns + column, number);
		}
		if (zeros > 0) throw new Error("its data has more rows than its shape");
	}
	if (!bytes.ended) throw new Error("its data has more than its shape");
}

/** Whole numbers; NaN where there is none. */
export function readSteps(data: Uint8Array, rows: number, columns: number): Float64Array {
	const out = new Float64Array(rows * columns);
	readDifferences(data, rows, columns, (i, n) => {
		out[i] = n === NO_NUMBER ? NaN : n;
	});
	return out;
}

/** 32-bit floats without their last `dropped` bits. */
export function readFloats(data: Uint8Array, rows: number, columns: number, dropped: number): Float32Array {
	const out = new Float32Array(rows * columns);
	const bits = new Uint32Array(out.buffer);
	const factor = 2 ** dropped;
	readDifferences(data, rows, columns, (i, n) => {
		const size = Math.abs(n) * factor;
		if (size >= 2 ** 31) throw new Error("its data leaves the range of its type");
		bits[i] = n < 0 ? 2 ** 31 + size : size;
	});
	return out;
}
