// SPDX-License-Identifier: Apache-2.0
/*
 * ramp.ts — the color scale of deformations: dark blue over green to yellow, even in lightness and readable without
 * color vision (nine points of viridis, linear between them).
 */
import { Color } from "three";

export const RAMP = [
	"#440154",
	"#472d7b",
	"#3b528b",
	"#2c728e",
	"#21918c",
	"#28ae80",
	"#5ec962",
	"#addc30",
	"#fde725",
] as const;

const table = new Float32Array(RAMP.length * 3);
RAMP.forEach((text, i) => new Color(text).toArray(table, i * 3));

/** The color at x in 0 … 1 (clamped), linear light. */
export function rampColor(x: number, out: Float32Array, at: number): void {
	const s = Math.min(1, Math.max(0, x || 0)) * (RAMP.length - 1);
	const i = Math.min(RAMP.length - 2, Math.floor(s));
	for (let c = 0; c < 3; c++) {
		const a = table[i * 3 + c]!;
		out[at + c] = a + (s - i) * (table[i * 3 + 3 + c]! - a);
	}
}
