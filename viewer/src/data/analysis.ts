// SPDX-License-Identifier: Apache-2.0
/*
 * analysis.ts — statistics of a signal over a window of time, its spectrum, the difference of two signals, and one over
 * another. Between samples a signal is a straight line: means are integrals over time, whatever the sampling.
 */
import type { Signal } from "./replay.js";
import { valueAt } from "./sample.js";
import { Track } from "./track.js";

export interface Statistics {
	mean: number;
	rms: number;
	deviation: number; // standard deviation
	min: number;
	max: number;
}

/** Over [from, to]; gaps are left out. All NaN: there is nothing in the window. */
export function statistics({ t, values }: Signal, from: number, to: number): Statistics {
	const count = Math.min(t.count, values.count);
	let [time, sum, squares, min, max] = [0, 0, 0, Infinity, -Infinity];
	for (let i = 0; i + 1 < count; i++) {
		const [t0, t1] = [t.data[i]!, t.data[i + 1]!];
		const [v0, v1] = [values.data[i]!, values.data[i + 1]!];
		const [low, high] = [Math.max(t0, from), Math.min(t1, to)];
		if (!(high >= low) || !Number.isFinite(v0 + v1)) continue;
		const at = (s: number): number => (t1 > t0 ? v0 + ((s - t0) / (t1 - t0)) * (v1 - v0) : v0);
		const [a, b, dt] = [at(low), t1 > t0 ? at(high) : v1, high - low];
		time += dt;
		sum += (dt * (a + b)) / 2;
		squares += (dt * (a * a + a * b + b * b)) / 3;
		min = Math.min(min, a, b);
		max = Math.max(max, a, b);
	}
	if (!(time > 0)) return { mean: NaN, rms: NaN, deviation: NaN, min: NaN, max: NaN };
	const [mean, square] = [sum / time, squares / time];
	return { mean, rms: Math.sqrt(square), deviation: Math.sqrt(Math.max(0, square - mean * mean)), min, max };
}

/** In place: the discrete Fourier transform of 2^k complex numbers, by halves. */
export function transform(re: Float64Array, im: Float64Array): void {
	const n = re.length;
	for (let i = 1, j = 0; i < n; i++) {
		let bit = n >> 1;
		for (; j & bit; bit >>= 1) j ^= bit;
		j ^= bit;
		if (i < j) [re[i], re[j], im[i], im[j]] = [re[j]!, re[i]!, im[j]!, im[i]!];
	}
	for (let size = 2; size <= n; size *= 2) {
		const angle = (-2 * Math.PI) / size;
		for (let k = 0; k < size / 2; k++) {
			const [c, s] = [Math.cos(angle * k), Math.sin(angle * k)];
			for (let a = k; a < n; a += size) {
				const b = a + size / 2;
				const x = c * re[b]! - s * im[b]!,
					y = c * im[b]! + s * re[b]!;
				((re[b] = re[a]! - x), (im[b] = im[a]! - y));
				((re[a]! += x), (im[a]! += y));
			}
		}
	}
}

export interface Spectrum {
	frequency: Float64Array; // [Hz], from 0
	amplitude: Float64Array; // [unit of the signal]: of the sine that is there
}

const MOST = 1 << 15;

/**
 * The amplitudes in a window of time: the signal without its mean, at 2^k equal intervals that are about as many as its samples,
 * through a Hann window, scaled such that a sine has its own amplitude. null: there are fewer than eight samples.
 */
export function spectrum(signal: Signal, from: number, to: number): Spectrum | null {
	const { t, values } = signal;
	let inside = 0;
	for (let i = 0; i < Math.min(t.count, values.count); i++) if (t.data[i]! >= from && t.data[i]! <= to) inside++;
	if (inside < 8 || !(to > from)) return null;
	const n = Math.min(MOST, 2 ** Math.round(Math.log2(inside)));
	const re = new Float64Array(n);
	for (let i = 0; i < n; i++) re[i] = valueAt(t, values, from + ((to - from) * i) / n) || 0;
	const mean = re.reduce((a, b) => a + b, 0) / n;
	for (let i = 0; i < n; i++) re[i] = (re[i]! - mean) * (0.5 - 0.5 * Math.cos((2 * Math.PI * i) / n));
	const im = new Float64Array(n);
	transform(re, im);
	const half = n / 2;
	return {
		frequency: Float64Array.from({ length: half }, (_, k) => k / (to - from)),
		// Two sides, and half of the signal is left by the window.
		amplitude: Float64Array.from({ length: half }, (_, k) => ((k ? 4 : 2) * Math.hypot(re[k]!, im[k]!)) / n),
	};
}

/** The first minus the second at the times of the first; none where the second has ended. */
export function difference(a: Signal, b: Signal): Signal {
	const count = Math.min(a.t.count, a.values.count);
	const [first, last] = [b.t.data[0] ?? NaN, b.t.data[Math.min(b.t.count, b.values.count) - 1] ?? NaN];
	const out = Float64Array.from({ length: count }, (_, i) => {
		const time = a.t.data[i]!;
		return time >= first && time <= last ? a.values.data[i]! - valueAt(b.t, b.values, time) : NaN;
	});
	return { ...a, index: -1, name: `Δ ${a.name}`, values: new Track(out, 1, count) };
}

/** One signal over another, in the order of time. */
export interface Curve {
	t: Float64Array;
	x: Float64Array;
	y: Float64Array;
}

/** y over x at the times of y within [from, to]. */
export function along(x: Signal, y: Signal, from: number, to: number): Curve {
	const count = Math.min(y.t.count, y.values.count);
	const inside = Array.from({ length: count }, (_, i) => i).filter((i) => y.t.data[i]! >= from && y.t.data[i]! <= to);
	return {
		t: Float64Array.from(inside, (i) => y.t.data[i]!),
		x: Float64Array.from(inside, (i) => valueAt(x.t, x.values, y.t.data[i]!)),
		y: Float64Array.from(inside, (i) => y.values.data[i]!),
	};
}
