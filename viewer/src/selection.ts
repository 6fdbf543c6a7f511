// SPDX-License-Identifier: Apache-2.0
/*
 * selection.ts — what is selected: a body, a node, a joint or a loop; its name in addresses, the body that it is on,
 * its signals.
 */
import type { Joint, Replay, Signal } from "./data/replay.js";

export type Selection =
	| { kind: "body"; body: number }
	| { kind: "node"; body: number; node: number }
	| { kind: "joint"; joint: number }
	| { kind: "loop"; joint: number };

export function sameSelection(a: Selection | null, b: Selection | null): boolean {
	if (!a || !b) return a === b;
	return JSON.stringify(a) === JSON.stringify(b);
}

export function jointOf(replay: Replay, selection: Selection): Joint | null {
	if (selection.kind === "joint") return replay.joints[selection.joint]!;
	if (selection.kind === "loop") return replay.loops[selection.joint]!;
	return null;
}

/** The body that is highlighted and followed for it. */
export function bodyOf(replay: Replay, selection: Selection | null): number {
	if (!selection) return -1;
	return "body" in selection ? selection.body : jointOf(replay, selection)!.to.body;
}

export function selectionName(replay: Replay, selection: Selection): string {
	if (selection.kind === "body") return replay.bodies[selection.body]!.name;
	if (selection.kind === "node") {
		const body = replay.bodies[selection.body]!;
		return `${body.name}/${body.nodes[selection.node]!.name}`;
	}
	return jointOf(replay, selection)!.name;
}

/** From "KIND:NAME" of an address; null: there is no such thing. */
export function findSelection(replay: Replay, text: string): Selection | null {
	const colon = text.indexOf(":");
	const kind = text.slice(0, colon);
	const name = text.slice(colon + 1);
	if (kind === "joint" || kind === "loop") {
		const joint = (kind === "joint" ? replay.joints : replay.loops).findIndex((j) => j.name === name);
		return joint < 0 ? null : { kind, joint };
	}
	if (kind === "body") {
		const body = replay.bodies.findIndex((b) => b.name === name);
		return body < 0 ? null : { kind, body };
	}
	if (kind !== "node") return null;
	for (const body of replay.bodies) {
		const node = body.nodes.findIndex((n) => `${body.name}/${n.name}` === name);
		if (node >= 0) return { kind, body: body.index, node };
	}
	return null;
}

/** Signals about it: of a body also those of its nodes and of the joint that carries it. */
export function signalsOf(replay: Replay, selection: Selection): Signal[] {
	const name = selectionName(replay, selection);
	if (selection.kind !== "body") return replay.signals.filter((s) => s.kind === selection.kind && s.about === name);
	const joints = new Set(replay.joints.filter((j) => j.to.body === selection.body).map((j) => j.name));
	return replay.signals.filter(
		(s) =>
			(s.kind === "body" && s.about === name) ||
			(s.kind === "node" && s.about.startsWith(`${name}/`)) ||
			(s.kind === "joint" && joints.has(s.about)),
	);
}
