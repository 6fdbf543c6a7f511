// SPDX-License-Identifier: Apache-2.0
/*
 * trails.ts — the paths of bodies and nodes. All segments of all trails are instances of one quad, drawn in one call;
 * each carries its times, and the shader cuts it at the time shown and fades it with age. Playing therefore costs
 * nothing here: only the time changes.
 */
import {
	BufferAttribute,
	Color,
	InstancedBufferAttribute,
	InstancedBufferGeometry,
	Mesh,
	ShaderMaterial,
	Vector2,
} from "three";
import type { BodyNode, Replay } from "../data/replay.js";
import { Sample } from "../data/sample.js";

export interface TrailOf {
	body: number;
	node: number; // -1: the body's origin
	color: string;
}

const MAX_SEGMENTS = 4000; // of one trail

const VERTEX = `
attribute vec3 head;
attribute vec3 tail;
attribute vec2 times;
attribute vec3 tint;
uniform float now;
uniform float span;
uniform float width;
uniform vec2 size;
varying vec4 vColor;
void main() {
	float cut = times.y > times.x ? clamp((now - times.x) / (times.y - times.x), 0.0, 1.0) : step(times.x, now);
	vec3 last = mix(tail, head, cut);
	vec4 a = projectionMatrix * viewMatrix * vec4(tail, 1.0);
	vec4 b = projectionMatrix * viewMatrix * vec4(last, 1.0);
	bool ahead = a.w > 0.0 && b.w > 0.0;
	float age = (now - mix(times.x, times.y, position.x)) / span;
	vec2 d = (b.xy / b.w - a.xy / a.w) * size;
	float l = length(d);
	vec2 side = l > 1e-6 ? vec2(-d.y, d.x) / l : vec2(0.0);
	vec4 p = mix(a, b, position.x);
	p.xy += side * position.y * width / size * p.w;
	vColor = vec4(tint, clamp(1.0 - age, 0.0, 1.0));
	bool drawn = ahead && cut > 0.0 && age < 1.0;
	gl_Position = drawn ? p : vec4(2.0, 2.0, 2.0, 1.0);
}`;

const FRAGMENT = `
varying vec4 vColor;
void main() {
	gl_FragColor = vec4(vColor.rgb, 0.15 + 0.85 * vColor.a);
	#include <colorspace_fragment>
}`;

export class Trails {
	readonly object: Mesh<InstancedBufferGeometry, ShaderMaterial>;
	list: TrailOf[] = [];
	private readonly replay: Replay;
	private readonly scratch: Sample;

	constructor(replay: Replay) {
		this.replay = replay;
		this.scratch = new Sample(replay);
		const material = new ShaderMaterial({
			vertexShader: VERTEX,
			fragmentShader: FRAGMENT,
			transparent: true,
			depthWrite: false,
			uniforms: {
				now: { value: 0 },
				span: { value: Infinity },
				width: { value: 2.5 },
				size: { value: new Vector2(1, 1) },
			},
		});
		this.object = new Mesh(new InstancedBufferGeometry(), material);
		this.object.frustumCulled = false;
		this.object.visible = false;
	}

	/** Which trails there are. Builds their geometry. */
	set(list: TrailOf[]): void {
		this.list = list;
		this.rebuild();
	}

	/** Also to be called when frames were added. */
	rebuild(): void {
		const { t } = this.replay.frames;
		const stride = Math.max(1, Math.ceil(t.count / MAX_SEGMENTS));
		const points = Math.floor(Math.max(0, t.count - 1) / stride) + 1;
		const segments = Math.max(0, points - 1);
		const total = segments * this.list.length;
		this.object.visible = total > 0;
		if (total === 0) return;
		const head = new Float32Array(total * 3),
			tail = new Float32Array(total * 3);
		const times = new Float32Array(total * 2),
			tint = new Float32Array(total * 3);
		this.list.forEach((trail, k) => {
			const path = this.path(trail, points, stride);
			const color = new Color(trail.color);
			for (let s = 0; s < segments; s++) {
				const i = k * segments + s;
				tail.set(path.subarray(s * 3, s * 3 + 3), i * 3);
				head.set(path.subarray(s * 3 + 3, s * 3 + 6), i * 3);
				times[i * 2] = t.data[s * stride]!;
				times[i * 2 + 1] = t.data[(s + 1) * stride]!;
				color.toArray(tint, i * 3);
			}
		});
		this.replaceGeometry({ head, tail, times, tint }, total);
	}

	private replaceGeometry(arrays: Record<"head" | "tail" | "times" | "tint", Float32Array>, count: number): void {
		this.object.geometry.dispose();
		const geometry = new InstancedBufferGeometry();
		geometry.setAttribute(
			"position",
			new BufferAttribute(new Float32Array([0, -1, 0, 1, -1, 0, 1, 1, 0, 0, 1, 0]), 3),
		);
		geometry.setIndex([0, 1, 2, 0, 2, 3]);
		for (const name of ["head", "tail", "tint"] as const)
			geometry.setAttribute(name, new InstancedBufferAttribute(arrays[name], 3));
		geometry.setAttribute("times", new InstancedBufferAttribute(arrays.times, 2));
		geometry.instanceCount = count;
		this.object.geometry = geometry;
	}

	private path(trail: TrailOf, points: number, stride: number): Float32Array {
		const { pose, t } = this.replay.frames;
		const path = new Float32Array(points * 3);
		const node: BodyNode | undefined = this.replay.bodies[trail.body]!.nodes[trail.node];
		const at = new Float32Array(12);
		for (let p = 0; p < points; p++) {
			const frame = p * stride;
			if (node) {
				this.scratch.at(t.data[frame]!);
				this.scratch.place(this.replay.bodies[trail.body]!, node, 1, at);
				((path[p * 3] = at[3]!), (path[p * 3 + 1] = at[7]!), (path[p * 3 + 2] = at[11]!));
			} else if (trail.body * 7 < pose.width) {
				for (let c = 0; c < 3; c++) path[p * 3 + c] = pose.data[frame * pose.width + trail.body * 7 + c]!;
			}
		}
		return path;
	}

	/** span: how long a trail stays [s]; Infinity: it never fades. */
	update(time: number, span: number, width: number, height: number, ratio: number): void {
		const u = this.object.material.uniforms;
		u.now!.value = time;
		u.span!.value = Number.isFinite(span) ? span : 1e30;
		u.width!.value = 2.5 * ratio;
		(u.size!.value as Vector2).set(width * ratio, height * ratio);
	}

	dispose(): void {
		this.object.geometry.dispose();
		this.object.material.dispose();
	}
}
