// SPDX-License-Identifier: Apache-2.0
/*
 * sample.ts — the run at one time: poses, modal coordinates, presence, topology. Positions and modal coordinates are
 * interpolated linearly, quaternions along the shorter arc (linear and normalized: frames are close together); bodies that
 * turn fast come with their velocities and follow those (turn.ts). Sampling allocates nothing.
 */
import { isPresent, type Body, type BodyNode, type End, type Replay } from "./replay.js";
import type { Track } from "./track.js";
import { between } from "./turn.js";

/** The last index i with t[i] <= time, at least 0. `hint`: where it was last. */
export function lastBefore(t: Track, time: number, hint: number): number {
	const { data, count } = t;
	if (count < 2) return 0;
	let low = 0;
	let high = count - 1;
	if (hint >= 0 && hint < count && data[hint]! <= time) {
		if (hint + 1 >= count || data[hint + 1]! > time) return hint;
		low = hint;
	}
	if (data[high]! <= time) return high;
	while (high - low > 1) {
		const middle = (low + high) >> 1;
		if (data[middle]! <= time) low = middle;
		else high = middle;
	}
	return low;
}

/** A track's value at a time, linear between rows; NaN if it has none. */
export function valueAt(t: Track, values: Track, time: number): number {
	if (values.count === 0) return NaN;
	const i = Math.min(lastBefore(t, time, -1), values.count - 1);
	const a = values.data[i]!;
	if (i + 1 >= values.count || time <= t.data[i]!) return a;
	const span = t.data[i + 1]! - t.data[i]!;
	return span > 0 ? a + ((time - t.data[i]!) / span) * (values.data[i + 1]! - a) : a;
}

export class Sample {
	readonly replay: Replay;
	readonly pose: Float32Array; // [bodies 7], the ground last
	readonly matrix: Float32Array; // [bodies 12]: rows of [R p]
	readonly eta: Float32Array;
	readonly present: Uint8Array; // [bodies]
	readonly parent: Int32Array; // at this time
	readonly group: string[];
	frame = 0;
	fraction = 0;
	time = 0;
	topologyCount = -1; // changes that have happened
	private readonly constant: Uint8Array; // bodies without intervals

	constructor(replay: Replay) {
		const n = replay.bodies.length;
		this.replay = replay;
		this.pose = new Float32Array(n * 7);
		this.matrix = new Float32Array(n * 12);
		this.eta = new Float32Array(replay.etaSize);
		this.present = new Uint8Array(n).fill(1);
		this.parent = new Int32Array(n);
		this.group = new Array<string>(n).fill("");
		this.constant = Uint8Array.from(replay.bodies, (b) => (b.present ? 0 : 1));
		this.pose[(n - 1) * 7 + 3] = 1;
		this.writeMatrix(n - 1);
	}

	at(time: number): void {
		const { frames, bodies } = this.replay;
		this.time = time;
		if (frames.t.count === 0) {
			this.present.fill(0);
			this.present[bodies.length - 1] = 1;
			return;
		}
		this.locate(time);
		this.interpolatePoses();
		this.followVelocities();
		this.interpolateEta();
		this.applyTopology(time);
	}

	/** Frame and fraction, for other tracks over the same frames. */
	private locate(time: number): void {
		const { t } = this.replay.frames;
		const i = lastBefore(t, time, this.frame);
		const span = i + 1 < t.count ? t.data[i + 1]! - t.data[i]! : 0;
		this.frame = i;
		this.fraction = span > 0 ? Math.min(1, Math.max(0, (time - t.data[i]!) / span)) : 0;
	}

	private interpolatePoses(): void {
		const { data, width } = this.replay.frames.pose;
		const { pose, fraction: f, present, constant } = this;
		const a = this.frame * width;
		const b = f > 0 ? a + width : a;
		const n = this.replay.bodies.length - 1;
		for (let i = 0; i < n; i++) {
			const o = i * 7;
			const p = a + o;
			const q = b + o;
			for (let k = 0; k < 3; k++) pose[o + k] = data[p + k]! + f * (data[q + k]! - data[p + k]!);
			let dot = 0;
			for (let k = 3; k < 7; k++) dot += data[p + k]! * data[q + k]!;
			const g = dot < 0 ? -f : f;
			let norm = 0;
			for (let k = 3; k < 7; k++) {
				const v = (1 - f) * data[p + k]! + g * data[q + k]!;
				pose[o + k] = v;
				norm += v * v;
			}
			const inverse = 1 / Math.sqrt(norm);
			for (let k = 3; k < 7; k++) pose[o + k]! *= inverse;
			const finite = Number.isFinite(inverse) && Number.isFinite(pose[o]! + pose[o + 1]! + pose[o + 2]!);
			present[i] = finite && (constant[i] || isPresent(this.replay.bodies[i]!.present, this.time)) ? 1 : 0;
			this.writeMatrix(i);
		}
	}

	/** Bodies whose velocities are known, where they have turned by more than some degrees. */
	private followVelocities(): void {
		const { t, pose, velocity } = this.replay.frames;
		const { frame, fraction } = this;
		if (fraction <= 0) return;
		const dt = t.data[frame + 1]! - t.data[frame]!;
		const a = frame * pose.width;
		for (let i = 0; i < velocity.length; i++) {
			const { body, offset, values } = velocity[i]!;
			if (!this.present[body]) continue;
			const v = frame * values.width + offset;
			const w = v + values.width;
			const { data } = values;
			let spin = 0;
			for (let k = 3; k < 6; k++) spin += Math.abs(data[v + k]!) + Math.abs(data[w + k]!);
			if (!(spin * dt > 0.1)) continue;
			const p = a + body * 7;
			between(pose.data, p, p + pose.width, data, v, w, dt, fraction, this.pose, body * 7);
			this.writeMatrix(body);
		}
	}

	private interpolateEta(): void {
		const { eta } = this.replay.frames;
		for (let k = 0; k < eta.length; k++) {
			const { values, modes, offset } = eta[k]!;
			const a = this.frame * modes;
			const b = this.fraction > 0 ? a + modes : a;
			for (let i = 0; i < modes; i++) {
				const v = values.data[a + i]!;
				this.eta[offset + i] = v + this.fraction * (values.data[b + i]! - v);
			}
		}
	}

	private writeMatrix(i: number): void {
		poseToMatrix(this.pose, i * 7, this.matrix, i * 12);
	}

	/** Parents and groups as of `time`; a whole pass only when the number of changes before it differs. */
	private applyTopology(time: number): void {
		const { frames, bodies } = this.replay;
		let count = 0;
		while (count < frames.topology.length && frames.topology[count]!.t <= time) count++;
		if (count === this.topologyCount) return;
		this.topologyCount = count;
		bodies.forEach((body, i) => {
			this.parent[i] = body.parent;
			this.group[i] = body.group;
		});
		for (const change of frames.topology.slice(0, count)) {
			if (change.parent !== undefined) this.parent[change.body] = change.parent;
			if (change.group !== undefined) this.group[change.body] = change.group;
		}
	}

	/** Placement of a node or a joint's end in the world, with the body's deformation times `factor`; out: [12]. */
	place(body: Body, where: BodyNode | End, factor: number, out: Float32Array): void {
		local.set(where.at, 0);
		local.set(where.orientation, 3);
		const node = "node" in where && where.node >= 0 ? body.nodes[where.node]! : where;
		const shapes = "shapes" in node ? node.shapes : null;
		if (shapes && body.flexible) this.deflect(shapes, body.flexible.etaOffset, body.flexible.modes, factor);
		poseToMatrix(local, 0, localMatrix, 0);
		multiply(this.matrix, body.index * 12, localMatrix, 0, out, 0);
	}

	private deflect(shapes: Float32Array, offset: number, modes: number, factor: number): void {
		turn.fill(0);
		for (let m = 0; m < modes; m++) {
			const value = this.eta[offset + m]! * factor;
			for (let k = 0; k < 3; k++) {
				local[k]! += value * shapes[m * 6 + k]!;
				turn[k]! += value * shapes[m * 6 + 3 + k]!;
			}
		}
		// Small rotation first in body axes, then the node's own orientation.
		const [x, y, z] = [turn[0]! / 2, turn[1]! / 2, turn[2]! / 2];
		const scale = 1 / Math.sqrt(1 + x * x + y * y + z * z);
		const [a, b, c, d] = [local[3]!, local[4]!, local[5]!, local[6]!];
		local[3] = scale * (a - x * b - y * c - z * d);
		local[4] = scale * (b + x * a + y * d - z * c);
		local[5] = scale * (c + y * a + z * b - x * d);
		local[6] = scale * (d + z * a + x * c - y * b);
	}
}

const local = new Float32Array(7);
const localMatrix = new Float32Array(12);
const turn = new Float32Array(3);

/** x y z, w x y z to the rows of [R p]. */
export function poseToMatrix(pose: Float32Array, from: number, out: Float32Array, to: number): void {
	const w = pose[from + 3]!,
		x = pose[from + 4]!,
		y = pose[from + 5]!,
		z = pose[from + 6]!;
	out[to] = 1 - 2 * (y * y + z * z);
	out[to + 1] = 2 * (x * y - w * z);
	out[to + 2] = 2 * (x * z + w * y);
	out[to + 3] = pose[from]!;
	out[to + 4] = 2 * (x * y + w * z);
	out[to + 5] = 1 - 2 * (x * x + z * z);
	out[to + 6] = 2 * (y * z - w * x);
	out[to + 7] = pose[from + 1]!;
	out[to + 8] = 2 * (x * z - w * y);
	out[to + 9] = 2 * (y * z + w * x);
	out[to + 10] = 1 - 2 * (x * x + y * y);
	out[to + 11] = pose[from + 2]!;
}

/** out = a b, rows of [R p] each. */
export function multiply(
	a: Float32Array,
	ai: number,
	b: Float32Array,
	bi: number,
	out: Float32Array,
	oi: number,
): void {
	for (let r = 0; r < 12; r += 4) {
		const x = a[ai + r]!,
			y = a[ai + r + 1]!,
			z = a[ai + r + 2]!;
		out[oi + r] = x * b[bi]! + y * b[bi + 4]! + z * b[bi + 8]!;
		out[oi + r + 1] = x * b[bi + 1]! + y * b[bi + 5]! + z * b[bi + 9]!;
		out[oi + r + 2] = x * b[bi + 2]! + y * b[bi + 6]! + z * b[bi + 10]!;
		out[oi + r + 3] = x * b[bi + 3]! + y * b[bi + 7]! + z * b[bi + 11]! + a[ai + r + 3]!;
	}
}

/** The same to a column-major 4 x 4 matrix, as WebGL wants it. */
export function multiplyToGl(
	a: Float32Array,
	ai: number,
	b: Float32Array,
	bi: number,
	out: Float32Array,
	oi: number,
): void {
	for (let r = 0; r < 3; r++) {
		const x = a[ai + r * 4]!,
			y = a[ai + r * 4 + 1]!,
			z = a[ai + r * 4 + 2]!;
		out[oi + r] = x * b[bi]! + y * b[bi + 4]! + z * b[bi + 8]!;
		out[oi + 4 + r] = x * b[bi + 1]! + y * b[bi + 5]! + z * b[bi + 9]!;
		out[oi + 8 + r] = x * b[bi + 2]! + y * b[bi + 6]! + z * b[bi + 10]!;
		out[oi + 12 + r] = x * b[bi + 3]! + y * b[bi + 7]! + z * b[bi + 11]! + a[ai + r * 4 + 3]!;
	}
	out[oi + 15] = 1;
}
