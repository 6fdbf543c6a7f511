// SPDX-License-Identifier: Apache-2.0
/*
 * values.ts — values of a JSON document with a check: texts, numbers, indices, and arrays packed in base64. A
 * complaint names the place.
 */
import type { ArrayType } from "./document.js";
import { MOST_NUMBERS, readFloats, readSteps } from "./packing.js";

export type Dict = Record<string, unknown>;

const BYTES: Record<ArrayType, number> = { f32: 4, f64: 8, i32: 4, u32: 4, i16: 2, u16: 2, u8: 1 };

export function fail(place: string, what: string): never {
	throw new Error(`${place}: ${what}`);
}

/* ---- plain values -------------------------------------------------------------------------- */

export function dict(value: unknown, place: string): Dict {
	if (typeof value !== "object" || value === null || Array.isArray(value)) fail(place, "is not an object");
	return value as Dict;
}

export function list(value: unknown, place: string): unknown[] {
	if (value === undefined || value === null) return [];
	if (!Array.isArray(value)) fail(place, "is not a list");
	return value as unknown[];
}

export function text(value: unknown, place: string, fallback?: string): string {
	if (value === undefined || value === null) return fallback === undefined ? fail(place, "is missing") : fallback;
	if (typeof value !== "string") fail(place, "is not a text");
	return value as string;
}

export function number(value: unknown, place: string, fallback?: number): number {
	if (value === undefined || value === null) return fallback === undefined ? fail(place, "is missing") : fallback;
	if (typeof value !== "number") fail(place, "is not a number");
	return value as number;
}

export function index(value: unknown, count: number, place: string): number {
	const n = number(value, place);
	if (!Number.isInteger(n) || n < 0 || n >= count) fail(place, `${n} is not an index below ${count}`);
	return n;
}

export function choice<T extends string>(value: unknown, choices: readonly T[], place: string, fallback?: T): T {
	const word = text(value, place, fallback) as T;
	if (!choices.includes(word)) fail(place, `"${word}" is none of ${choices.join(", ")}`);
	return word;
}

export function color(value: unknown, place: string): string | null {
	if (value === undefined || value === null) return null;
	const word = text(value, place);
	if (!/^#[0-9a-fA-F]{6}$/.test(word)) fail(place, `"${word}" is not a color like #3366cc`);
	return word;
}

/* ---- arrays -------------------------------------------------------------------------------- */

interface Bytes extends Uint8ArrayConstructor {
	fromBase64?(text: string): Uint8Array;
}

function base64Bytes(data: string): Uint8Array {
	const native = (Uint8Array as Bytes).fromBase64;
	if (native) return native.call(Uint8Array, data);
	const chars = atob(data);
	const bytes = new Uint8Array(chars.length);
	for (let i = 0; i < chars.length; i++) bytes[i] = chars.charCodeAt(i);
	return bytes;
}

interface Numbers {
	data: ArrayLike<number>;
	shape: number[];
}

function plainArray(value: unknown[], place: string): Numbers {
	const shape: number[] = [];
	for (let level: unknown = value; Array.isArray(level); level = level[0]) shape.push(level.length);
	const flat = value.flat(shape.length - 1) as unknown[];
	const data = new Float64Array(flat.length);
	for (let i = 0; i < flat.length; i++) {
		const item = flat[i];
		if (item !== null && typeof item !== "number") fail(place, "holds something that is not a number");
		data[i] = item === null ? NaN : (item as number);
	}
	if (data.length !== shape.reduce((a, b) => a * b, 1)) fail(place, "has rows of different lengths");
	return { data, shape };
}

// Typed arrays read in the machine's order; every browser's machine today is little-endian.
function typed(type: ArrayType, bytes: Uint8Array): ArrayLike<number> {
	const aligned = bytes.byteOffset % 8 === 0 ? bytes : bytes.slice();
	const { buffer, byteOffset } = aligned;
	const count = aligned.length / BYTES[type];
	switch (type) {
		case "f32":
			return new Float32Array(buffer, byteOffset, count);
		case "f64":
			return new Float64Array(buffer, byteOffset, count);
		case "i32":
			return new Int32Array(buffer, byteOffset, count);
		case "u32":
			return new Uint32Array(buffer, byteOffset, count);
		case "i16":
			return new Int16Array(buffer, byteOffset, count);
		case "u16":
			return new Uint16Array(buffer, byteOffset, count);
		case "u8":
			return aligned;
	}
}

function factors(value: unknown, columns: number, fallback: number, place: string): number[] {
	if (value === undefined) return new Array<number>(columns).fill(fallback);
	if (typeof value === "number") return new Array<number>(columns).fill(value);
	const all = list(value, place).map((v, i) => number(v, `${place}[${i}]`));
	if (all.length !== columns) fail(place, `has ${all.length} numbers instead of ${columns}`);
	return all;
}

/** Numbers as they are in the bytes, one after the other. */
function plainNumbers(type: ArrayType, bytes: Uint8Array, count: number, place: string): ArrayLike<number> {
	const wanted = count * BYTES[type];
	if (bytes.length !== wanted) fail(place, `holds ${bytes.length} bytes; its shape asks for ${wanted}`);
	return typed(type, bytes);
}

/** Numbers coded by differences. */
function codedNumbers(
	value: Dict,
	type: ArrayType,
	bytes: Uint8Array,
	shape: number[],
	place: string,
): ArrayLike<number> {
	const count = shape.reduce((a, b) => a * b, 1);
	const dropped = number(value.dropped, `${place}.dropped`, 0);
	if (value.coding !== "differences") fail(`${place}.coding`, `"${String(value.coding)}" is not known`);
	if (type !== "i32" && type !== "f32") fail(`${place}.type`, "is neither i32 nor f32, the types that are coded");
	if (!Number.isInteger(dropped) || dropped < 0 || dropped > 22) fail(`${place}.dropped`, "is not within 0 to 22");
	if (!(count <= MOST_NUMBERS)) fail(place, `has ${count} numbers; more than ${MOST_NUMBERS} are not read`);
	const rows = count > 0 ? shape[0]! : 0;
	const columns = count > 0 ? count / rows : 0;
	try {
		return type === "i32" ? readSteps(bytes, rows, columns) : readFloats(bytes, rows, columns, dropped);
	} catch (error) {
		fail(place, (error as Error).message);
	}
}

function packedArray(value: Dict, place: string): Numbers {
	const type = choice(value.type, Object.keys(BYTES) as ArrayType[], `${place}.type`);
	const shape = list(value.shape, `${place}.shape`).map((v, i) => number(v, `${place}.shape[${i}]`));
	if (!shape.every((n) => Number.isInteger(n) && n >= 0)) fail(`${place}.shape`, "is not made of whole numbers");
	let bytes: Uint8Array;
	try {
		bytes = base64Bytes(text(value.data, `${place}.data`));
	} catch {
		fail(`${place}.data`, "is not base64");
	}
	const raw =
		value.coding === undefined
			? plainNumbers(
					type,
					bytes,
					shape.reduce((a, b) => a * b, 1),
					place,
				)
			: codedNumbers(value, type, bytes, shape, place);
	if (value.scale === undefined && value.offset === undefined) return { data: raw, shape };
	const columns = shape[shape.length - 1] ?? 1;
	const scale = factors(value.scale, columns, 1, `${place}.scale`);
	const offset = factors(value.offset, columns, 0, `${place}.offset`);
	const data = new Float64Array(raw.length);
	for (let i = 0; i < raw.length; i++) data[i] = offset[i % columns]! + scale[i % columns]! * raw[i]!;
	return { data, shape };
}

export function numbers(value: unknown, place: string): Numbers {
	if (value === undefined || value === null) fail(place, "is missing");
	return Array.isArray(value) ? plainArray(value as unknown[], place) : packedArray(dict(value, place), place);
}

/** An array of the shape given, where -1 stands for any length. A list of length 0 fits every shape with a -1. */
export function shaped(value: unknown, shape: number[], place: string): Numbers {
	const array = numbers(value, place);
	if (array.data.length === 0 && shape.includes(-1)) return { data: [], shape: shape.map((n) => Math.max(0, n)) };
	const fits = array.shape.length === shape.length && shape.every((n, i) => n < 0 || n === array.shape[i]);
	if (!fits) {
		const wanted = shape.map((n) => (n < 0 ? "any" : n)).join(", ");
		fail(place, `has the shape [${array.shape.join(", ")}] instead of [${wanted}]`);
	}
	return array;
}

export const floats = (array: ArrayLike<number>): Float32Array =>
	array instanceof Float32Array ? array : Float32Array.from(array);
export const doubles = (array: ArrayLike<number>): Float64Array =>
	array instanceof Float64Array ? array : Float64Array.from(array);

export function indices(value: unknown, width: number, count: number, place: string): Uint32Array {
	if (value === undefined || value === null) return new Uint32Array(0);
	const all = Uint32Array.from(shaped(value, [-1, width], place).data);
	for (const i of all) if (i >= count) fail(place, `names ${i}, but there are ${count} of them`);
	return all;
}
