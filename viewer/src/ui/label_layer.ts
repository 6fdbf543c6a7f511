// SPDX-License-Identifier: Apache-2.0
/*
 * label_layer.ts — texts at points of the scene. A text that would cover another one is left out: those that come first
 * stay. Elements are kept and written anew, so that a frame makes none.
 */
import { Vector3 } from "three";
import type { Stage } from "../scene/stage.js";
import { el, setAttribute, setText } from "./dom.js";

const MOST = 160;

export class LabelLayer {
	readonly element = el("div", { class: "label-layer", "aria-hidden": "true" });
	private readonly stage: Stage;
	private readonly pool: HTMLElement[] = [];
	private readonly taken = new Float64Array(4 * MOST); // left, right, top, bottom [px]
	private used = 0;
	private em = 12;

	constructor(stage: Stage) {
		this.stage = stage;
	}

	begin(): void {
		this.used = 0;
		this.em = 0.86 * parseFloat(getComputedStyle(document.documentElement).fontSize);
	}

	/** A text beside a point; shift: how far to the right and down [px]. */
	add(at: Vector3, text: string, kind: string, right = 6, down = -6): void {
		if (this.used >= MOST || text === "") return;
		const { camera, width, height } = this.stage;
		projected.copy(at).project(camera);
		if (!(Math.abs(projected.x) < 1 && Math.abs(projected.y) < 1 && projected.z < 1)) return;
		const x = ((projected.x + 1) / 2) * width + right;
		const y = ((1 - projected.y) / 2) * height + down;
		if (!this.reserve(x, y, text.length)) return;
		const node = this.pool[this.used] ?? this.make();
		setText(node, text);
		setAttribute(node, "data-kind", kind);
		node.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px) translateY(-50%)`;
		node.hidden = false;
		this.used++;
	}

	end(): void {
		for (let i = this.used; i < this.pool.length; i++) this.pool[i]!.hidden = true;
	}

	private make(): HTMLElement {
		const node = el("span", { class: "scene-label" });
		this.pool.push(node);
		this.element.append(node);
		return node;
	}

	/** Measured by the number of letters: to ask the browser would make it lay out the page. */
	private reserve(x: number, y: number, letters: number): boolean {
		const { taken, used, em } = this;
		const right = x + letters * em * 0.62 + 4;
		const [top, bottom] = [y - em * 0.75, y + em * 0.75];
		for (let i = 0; i < used; i++) {
			const o = i * 4;
			if (x < taken[o + 1]! && right > taken[o]! && top < taken[o + 3]! && bottom > taken[o + 2]!) return false;
		}
		taken.set([x, right, top, bottom], used * 4);
		return true;
	}
}

const projected = new Vector3();
