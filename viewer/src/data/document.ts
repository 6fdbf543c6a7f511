// SPDX-License-Identifier: Apache-2.0
/*
 * document.ts — words of the JSON document of a replay that a run keeps (docs/replay.md). What a document really holds
 * is checked in decode.ts.
 */

export type ArrayType = "f32" | "f64" | "i32" | "u32" | "i16" | "u16" | "u8";
export type ShapeKind = "box" | "sphere" | "cylinder" | "capsule" | "cone" | "plane" | "mesh" | "line";
export type AboutKind = "joint" | "node" | "body" | "group" | "loop" | "device" | "system";
export type ArrowKind = "force" | "moment" | "reaction" | "contact";
export type EventKind = "attach" | "detach" | "lock" | "other";

export interface TopologyChange {
	t: number;
	body: number;
	parent?: number;
	group?: string;
}
