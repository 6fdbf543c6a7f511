// SPDX-License-Identifier: Apache-2.0
/*
 * ghosts.ts — other runs over the one that is shown, at the same time, transparent, each in a color of its own.
 */
import { Color } from "three";
import type { Replay } from "../data/replay.js";
import { Sample } from "../data/sample.js";
import { BodySet } from "./bodies.js";
import { FlexibleSet } from "./flexible.js";
import type { Stage } from "./stage.js";

const COLORS = ["#f0a92e", "#38b6c9", "#d65db1", "#7fbf3f", "#8f7be8", "#e0653a"] as const;

export interface Ghost {
	replay: Replay;
	sample: Sample;
	bodies: BodySet;
	flexible: FlexibleSet;
	color: string;
}

export class Ghosts {
	readonly list: Ghost[] = [];
	private readonly stage: Stage;

	constructor(stage: Stage) {
		this.stage = stage;
	}

	/** scale, reach: of the run that is shown (BodyStyle). */
	add(replay: Replay, scale: number, reach: number): void {
		const color = COLORS[this.list.length % COLORS.length]!;
		const bodies = new BodySet(replay, { ghost: true, scale, reach });
		const flexible = new FlexibleSet(replay, true);
		const tint = new Color(color);
		bodies.paint((_, __, out) => out.copy(tint));
		for (const drawn of flexible.bodies) drawn.setColor(tint);
		this.list.push({ replay, sample: new Sample(replay), bodies, flexible, color });
		this.stage.scene.add(bodies.object, flexible.object);
	}

	clear(): void {
		for (const { bodies, flexible } of this.list) {
			this.stage.scene.remove(bodies.object, flexible.object);
			bodies.dispose();
			flexible.dispose();
		}
		this.list.length = 0;
	}

	show(shown: boolean): void {
		for (const { bodies, flexible } of this.list) bodies.object.visible = flexible.object.visible = shown;
	}

	/** hidden: bodies of the run that is shown; it counts for runs with as many bodies. */
	update(time: number, exaggeration: number, hidden: Uint8Array): void {
		for (const { replay, sample, bodies, flexible } of this.list) {
			if (!bodies.object.visible) continue;
			sample.at(time);
			flexible.exaggeration = exaggeration;
			const same = replay.bodies.length === hidden.length ? hidden : NONE;
			bodies.update(sample, same, null);
			flexible.update(sample, same);
		}
	}
}

const NONE = new Uint8Array(1 << 16);
