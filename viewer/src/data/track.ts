// SPDX-License-Identifier: Apache-2.0
/*
 * track.ts — rows of numbers over time. A replay's tracks are as long as its document says; those of a live run grow
 * by one row per tick and forget their older half when they are full.
 */

type Store = Float32Array | Float64Array;

export class Track {
	data: Store;
	readonly width: number;
	count: number;

	constructor(data: Store, width: number, count: number) {
		this.data = data;
		this.width = width;
		this.count = count;
	}

	static empty(width: number, precise: boolean): Track {
		const room = Math.max(1, width) * 256;
		return new Track(precise ? new Float64Array(room) : new Float32Array(room), width, 0);
	}

	/** One more row, from source[offset …]. */
	push(source: ArrayLike<number>, offset: number): void {
		const start = this.count * this.width;
		if (start + this.width > this.data.length) this.grow();
		for (let i = 0; i < this.width; i++) this.data[start + i] = source[offset + i]!;
		this.count++;
	}

	/** Forgets the first rows. */
	drop(rows: number): void {
		this.data.copyWithin(0, rows * this.width, this.count * this.width);
		this.count -= rows;
	}

	private grow(): void {
		const larger =
			this.data instanceof Float64Array
				? new Float64Array(this.data.length * 2)
				: new Float32Array(this.data.length * 2);
		larger.set(this.data);
		this.data = larger;
	}
}
