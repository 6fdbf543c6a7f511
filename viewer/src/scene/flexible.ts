// SPDX-License-Identifier: Apache-2.0
/*
 * flexible.ts — flexible bodies drawn deformed. A vertex is where its point is plus the sum of mode shapes times modal
 * coordinates, times the exaggeration; colors show how far it has moved or how much strain energy is there. Rods
 * (lines with a thickness) are made of rings around their points, which turn with the rotations of the shapes.
 */
import {
	BufferAttribute,
	BufferGeometry,
	Color,
	DoubleSide,
	Group,
	LineBasicMaterial,
	LineSegments,
	Mesh,
	MeshLambertMaterial,
} from "three";
import type { Body, EtaTrack, Flexible, Replay } from "../data/replay.js";
import type { Sample } from "../data/sample.js";
import { rampColor } from "./ramp.js";
import { MIN_WIDTH, RIM_FRAGMENT, screen } from "./shapes.js";

export type FlexColoring = "plain" | "displacement" | "strain";

const SIDES = 24; // of a rod

/** Vertices, what moves them, and which point of the body each belongs to. */
interface Skin {
	base: Float32Array; // [v 3]
	shapes: Float32Array; // [m v 3]
	source: Uint32Array; // [v]
	triangles: Uint32Array;
}

function surfaceSkin(flexible: Flexible): Skin {
	const { points, shapes, components, modes, triangles } = flexible;
	const count = points.length / 3;
	const moved = components === 3 ? shapes : new Float32Array(modes * count * 3);
	if (components === 6)
		for (let k = 0; k < modes * count; k++) for (let c = 0; c < 3; c++) moved[k * 3 + c] = shapes[k * 6 + c]!;
	return { base: points.slice(), shapes: moved, source: Uint32Array.from({ length: count }, (_, i) => i), triangles };
}

function perpendiculars(d: number[]): [number[], number[]] {
	const [x = 0, y = 0, z = 0] = d;
	const axis = Math.abs(z) < 0.9 ? [0, 0, 1] : [1, 0, 0];
	const u = [y * axis[2]! - z * axis[1]!, z * axis[0]! - x * axis[2]!, x * axis[1]! - y * axis[0]!];
	const length = Math.hypot(...u) || 1;
	const [a = 0, b = 0, c = 0] = u.map((v) => v / length);
	return [
		[a, b, c],
		[y * c - z * b, z * a - x * c, x * b - y * a],
	];
}

function rodSkin(flexible: Flexible, radius: number): Skin {
	const { points, shapes, components, modes, lines } = flexible;
	const segments = lines.length / 2;
	const count = segments * 2 * SIDES;
	const n = points.length / 3;
	const skin: Skin = {
		base: new Float32Array(count * 3),
		shapes: new Float32Array(modes * count * 3),
		source: new Uint32Array(count),
		triangles: new Uint32Array(segments * SIDES * 6),
	};
	for (let s = 0; s < segments; s++) {
		const ends = [lines[s * 2]!, lines[s * 2 + 1]!];
		const [p, q] = ends.map((e) => [points[e * 3]!, points[e * 3 + 1]!, points[e * 3 + 2]!]) as [
			number[],
			number[],
		];
		const d = [q[0]! - p[0]!, q[1]! - p[1]!, q[2]! - p[2]!];
		const length = Math.hypot(...d) || 1;
		const [u, v] = perpendiculars(d.map((x) => x / length));
		for (let k = 0; k < 2 * SIDES; k++) {
			const vertex = s * 2 * SIDES + k;
			const point = ends[k < SIDES ? 0 : 1]!;
			const angle = (2 * Math.PI * (k % SIDES)) / SIDES;
			const r = [0, 1, 2].map((c) => radius * (Math.cos(angle) * u[c]! + Math.sin(angle) * v[c]!));
			skin.source[vertex] = point;
			for (let c = 0; c < 3; c++) skin.base[vertex * 3 + c] = points[point * 3 + c]! + r[c]!;
			for (let m = 0; m < modes; m++) {
				const from = (m * n + point) * components;
				const to = (m * count + vertex) * 3;
				const w = components === 6 ? [shapes[from + 3]!, shapes[from + 4]!, shapes[from + 5]!] : [0, 0, 0];
				skin.shapes[to] = shapes[from]! + w[1]! * r[2]! - w[2]! * r[1]!;
				skin.shapes[to + 1] = shapes[from + 1]! + w[2]! * r[0]! - w[0]! * r[2]!;
				skin.shapes[to + 2] = shapes[from + 2]! + w[0]! * r[1]! - w[1]! * r[0]!;
			}
			if (k >= SIDES) continue;
			const a = vertex,
				b = s * 2 * SIDES + ((k + 1) % SIDES);
			skin.triangles.set([a, b, a + SIDES, b, b + SIDES, a + SIDES], (s * SIDES + k) * 6);
		}
	}
	return skin;
}

/** Rims as those of rigid bodies; a rod (radius > 0) is widened along its normals where it would be too thin to see. */
function adaptMaterial(material: MeshLambertMaterial, radius: number): void {
	material.customProgramCacheKey = () => `flexible ${radius > 0}`;
	material.onBeforeCompile = (shader) => {
		shader.uniforms.pixel = screen.pixel;
		shader.uniforms.rim = screen.rim;
		shader.uniforms.rodRadius = { value: radius };
		const widened = `#include <begin_vertex>
	float away = -(modelViewMatrix * vec4(position, 1.0)).z;
	float least = ${(MIN_WIDTH / 2).toFixed(2)} * (pixel.x * away + pixel.y);
	transformed += normal * max(0.0, least - rodRadius);`;
		shader.vertexShader = shader.vertexShader
			.replace("#include <common>", "#include <common>\nuniform vec2 pixel;\nuniform float rodRadius;")
			.replace("#include <begin_vertex>", radius > 0 ? widened : "#include <begin_vertex>");
		shader.fragmentShader = shader.fragmentShader
			.replace("#include <common>", "#include <common>\nuniform float rim;")
			.replace("#include <opaque_fragment>", RIM_FRAGMENT);
	};
}

export class FlexibleBody {
	readonly body: Body;
	readonly flexible: Flexible;
	readonly object = new Group();
	readonly mesh: Mesh<BufferGeometry, MeshLambertMaterial>;
	readonly size: number; // of the body [m]
	/** Modal coordinates that replace those of the run while a mode is shown; null: those of the run. */
	override: Float32Array | null = null;
	private readonly skin: Skin;
	private readonly position: BufferAttribute;
	private readonly normal: BufferAttribute;
	private readonly color: BufferAttribute;
	private readonly wires: LineSegments<BufferGeometry, LineBasicMaterial> | null = null;
	private readonly last: Float32Array; // what was drawn, so that a body at rest costs nothing
	private readonly plain = new Color();

	constructor(body: Body, ghost: boolean) {
		const flexible = body.flexible!;
		this.body = body;
		this.flexible = flexible;
		this.size = extent(flexible.points);
		const radius = flexible.triangles.length ? 0 : (flexible.thickness || this.size * 0.012) / 2;
		this.skin = radius ? rodSkin(flexible, radius) : surfaceSkin(flexible);
		this.last = new Float32Array(flexible.modes + 3).fill(NaN);

		const geometry = new BufferGeometry();
		const count = this.skin.base.length / 3;
		this.position = new BufferAttribute(this.skin.base.slice(), 3);
		this.normal = new BufferAttribute(new Float32Array(count * 3), 3);
		this.color = new BufferAttribute(new Float32Array(count * 3).fill(1), 3);
		geometry.setAttribute("position", this.position);
		geometry.setAttribute("normal", this.normal);
		geometry.setAttribute("color", this.color);
		geometry.setIndex(new BufferAttribute(this.skin.triangles, 1));
		const material = new MeshLambertMaterial({
			vertexColors: true,
			side: DoubleSide,
			transparent: ghost,
			opacity: ghost ? 0.28 : 1,
			depthWrite: !ghost,
			polygonOffset: true,
			polygonOffsetFactor: ghost ? 3 : 1,
			polygonOffsetUnits: ghost ? 3 : 1,
		});
		adaptMaterial(material, radius);
		this.mesh = new Mesh(geometry, material);
		this.mesh.castShadow = this.mesh.receiveShadow = !ghost;
		this.object.add(this.mesh);
		this.object.matrixAutoUpdate = false;
		this.mesh.frustumCulled = false;
		if (flexible.triangles.length && flexible.lines.length) this.object.add((this.wires = this.makeWires(ghost)));
	}

	private makeWires(ghost: boolean): LineSegments<BufferGeometry, LineBasicMaterial> {
		const geometry = new BufferGeometry();
		geometry.setAttribute("position", this.position);
		geometry.setIndex(new BufferAttribute(this.flexible.lines, 1));
		const wires = new LineSegments(
			geometry,
			new LineBasicMaterial({ transparent: true, opacity: ghost ? 0.15 : 0.4 }),
		);
		wires.frustumCulled = false;
		return wires;
	}

	setColor(color: Color): void {
		this.plain.copy(color);
		this.wires?.material.color.copy(color).multiplyScalar(0.3);
		this.last.fill(NaN);
	}

	/** 1: not transparent. */
	setOpacity(opacity: number): void {
		const { material } = this.mesh;
		if (material.opacity === opacity) return;
		if (material.transparent !== opacity < 1) material.needsUpdate = true;
		material.transparent = opacity < 1;
		material.depthWrite = opacity >= 1;
		material.opacity = opacity;
		this.mesh.castShadow = opacity >= 1;
	}

	/** Modal coordinates that are drawn. */
	private coordinates(sample: Sample): Float32Array {
		const { etaOffset, modes } = this.flexible;
		return this.override ?? sample.eta.subarray(etaOffset, etaOffset + modes);
	}

	update(sample: Sample, exaggeration: number, coloring: FlexColoring, peak: number, visible: boolean): void {
		this.object.visible = visible;
		if (!visible) return;
		const m = sample.matrix;
		const o = this.body.index * 12;
		this.object.matrix.set(
			m[o]!,
			m[o + 1]!,
			m[o + 2]!,
			m[o + 3]!,
			m[o + 4]!,
			m[o + 5]!,
			m[o + 6]!,
			m[o + 7]!,
			m[o + 8]!,
			m[o + 9]!,
			m[o + 10]!,
			m[o + 11]!,
			0,
			0,
			0,
			1,
		);
		this.object.matrixWorldNeedsUpdate = true;
		const eta = this.coordinates(sample);
		const factor = this.override ? 1 : exaggeration;
		if (!this.changed(eta, factor, coloring, peak)) return;
		this.deform(eta, factor);
		this.computeNormals();
		this.colorize(eta, coloring, peak);
	}

	private changed(eta: Float32Array, factor: number, coloring: FlexColoring, peak: number): boolean {
		const { last } = this;
		const code = coloring === "plain" ? 0 : coloring === "displacement" ? 1 : 2;
		let changed = last[0] !== Math.fround(factor) || last[1] !== code || last[2] !== Math.fround(peak);
		last[0] = factor;
		last[1] = code;
		last[2] = peak;
		for (let i = 0; i < eta.length; i++) {
			if (last[i + 3] !== eta[i]) changed = true;
			last[i + 3] = eta[i]!;
		}
		return changed;
	}

	private deform(eta: Float32Array, factor: number): void {
		const out = this.position.array as Float32Array;
		const { base, shapes } = this.skin;
		const size = base.length;
		out.set(base);
		for (let m = 0; m < eta.length; m++) {
			const value = eta[m]! * factor;
			if (value === 0 || !Number.isFinite(value)) continue;
			const from = m * size;
			for (let i = 0; i < size; i++) out[i]! += value * shapes[from + i]!;
		}
		this.position.needsUpdate = true;
	}

	private computeNormals(): void {
		const p = this.position.array as Float32Array;
		const n = this.normal.array as Float32Array;
		const { triangles } = this.skin;
		n.fill(0);
		for (let f = 0; f < triangles.length; f += 3) {
			const a = triangles[f]! * 3,
				b = triangles[f + 1]! * 3,
				c = triangles[f + 2]! * 3;
			const ux = p[b]! - p[a]!,
				uy = p[b + 1]! - p[a + 1]!,
				uz = p[b + 2]! - p[a + 2]!;
			const vx = p[c]! - p[a]!,
				vy = p[c + 1]! - p[a + 1]!,
				vz = p[c + 2]! - p[a + 2]!;
			const x = uy * vz - uz * vy,
				y = uz * vx - ux * vz,
				z = ux * vy - uy * vx;
			((n[a]! += x), (n[a + 1]! += y), (n[a + 2]! += z));
			((n[b]! += x), (n[b + 1]! += y), (n[b + 2]! += z));
			((n[c]! += x), (n[c + 1]! += y), (n[c + 2]! += z));
		}
		for (let i = 0; i < n.length; i += 3) {
			const scale = 1 / (Math.sqrt(n[i]! * n[i]! + n[i + 1]! * n[i + 1]! + n[i + 2]! * n[i + 2]!) || 1);
			((n[i]! *= scale), (n[i + 1]! *= scale), (n[i + 2]! *= scale));
		}
		this.normal.needsUpdate = true;
	}

	private colorize(eta: Float32Array, coloring: FlexColoring, peak: number): void {
		const out = this.color.array as Float32Array;
		const { source } = this.skin;
		const whole = coloring === "strain" && !this.flexible.strain ? this.wholeEnergy(eta) : NaN;
		for (let v = 0; v < source.length; v++) {
			if (coloring === "plain" || !(peak > 0)) this.plain.toArray(out, v * 3);
			else {
				const value =
					coloring === "displacement"
						? this.displacement(eta, source[v]!)
						: this.strainAt(eta, source[v]!, whole);
				rampColor(value / peak, out, v * 3);
			}
		}
		this.color.needsUpdate = true;
	}

	/** How far a point is from its place [m], not exaggerated. */
	private displacement(eta: Float32Array, point: number): number {
		const { shapes, components, points } = this.flexible;
		const n = points.length / 3;
		let x = 0,
			y = 0,
			z = 0;
		for (let m = 0; m < eta.length; m++) {
			const from = (m * n + point) * components;
			x += eta[m]! * shapes[from]!;
			y += eta[m]! * shapes[from + 1]!;
			z += eta[m]! * shapes[from + 2]!;
		}
		return Math.sqrt(x * x + y * y + z * z);
	}

	private strainAt(eta: Float32Array, point: number, whole: number): number {
		const { strain, measures, points } = this.flexible;
		if (!strain) return whole;
		const n = points.length / 3;
		let sum = 0;
		for (let k = 0; k < measures; k++) {
			let value = 0;
			for (let m = 0; m < eta.length; m++) value += eta[m]! * strain[(m * n + point) * measures + k]!;
			sum += value * value;
		}
		return sum;
	}

	private wholeEnergy(eta: Float32Array): number {
		const { stiffness, modes } = this.flexible;
		if (!stiffness) return 0;
		let sum = 0;
		for (let i = 0; i < modes; i++)
			for (let k = 0; k < modes; k++) sum += 0.5 * eta[i]! * stiffness[i * modes + k]! * eta[k]!;
		return sum;
	}

	/** The largest value over the points, for the coordinates given. */
	peakAt(eta: Float32Array, coloring: FlexColoring): number {
		const n = this.flexible.points.length / 3;
		const whole = coloring === "strain" && !this.flexible.strain ? this.wholeEnergy(eta) : NaN;
		let peak = 0;
		for (let i = 0; i < n; i++)
			peak = Math.max(
				peak,
				(coloring === "displacement" ? this.displacement(eta, i) : this.strainAt(eta, i, whole)) || 0,
			);
		return peak;
	}

	dispose(): void {
		this.mesh.geometry.dispose();
		this.mesh.material.dispose();
		this.wires?.geometry.dispose();
		this.wires?.material.dispose();
	}
}

function extent(points: Float32Array): number {
	const low = [Infinity, Infinity, Infinity],
		high = [-Infinity, -Infinity, -Infinity];
	for (let i = 0; i < points.length; i++) {
		low[i % 3] = Math.min(low[i % 3]!, points[i]!);
		high[i % 3] = Math.max(high[i % 3]!, points[i]!);
	}
	return Math.hypot(...high.map((h, k) => h - low[k]!)) || 1;
}

/** All flexible bodies of a run. */
export class FlexibleSet {
	readonly object = new Group();
	readonly bodies: FlexibleBody[] = [];
	exaggeration = 1;
	coloring: FlexColoring = "plain";
	peak = 0;
	private readonly replay: Replay;

	constructor(replay: Replay, ghost: boolean) {
		this.replay = replay;
		for (const body of replay.bodies) {
			if (!body.flexible) continue;
			const drawn = new FlexibleBody(body, ghost);
			this.bodies.push(drawn);
			this.object.add(drawn.object);
		}
	}

	get(body: number): FlexibleBody | undefined {
		return this.bodies.find((b) => b.body.index === body);
	}

	setColoring(coloring: FlexColoring): void {
		this.coloring = coloring;
		this.findPeak();
	}

	/** The scale's end: the largest value over the run, from about 48 of its frames; of a mode that is shown, its own. */
	findPeak(): void {
		this.peak = 0;
		if (this.coloring === "plain") return;
		const shown = this.bodies.filter((b) => b.override);
		for (const drawn of shown) this.peak = Math.max(this.peak, drawn.peakAt(drawn.override!, this.coloring));
		if (shown.length === 0)
			for (const track of this.replay.frames.eta) this.peak = Math.max(this.peak, this.peakOf(track));
	}

	private peakOf({ body, modes, values }: EtaTrack): number {
		const drawn = this.get(body);
		const stride = Math.max(1, Math.floor(values.count / 48));
		let peak = 0;
		for (let f = 0; drawn && f < values.count; f += stride) {
			const eta = (values.data as Float32Array).subarray(f * modes, (f + 1) * modes);
			peak = Math.max(peak, drawn.peakAt(eta, this.coloring));
		}
		return peak;
	}

	get unit(): string {
		if (this.coloring === "displacement") return "m";
		return this.bodies.find((b) => b.flexible.strain)?.flexible.strainUnit || "J";
	}

	/** While a mode is shown, the colors are its own and the other bodies are plain. */
	update(sample: Sample, hidden: Uint8Array): void {
		let shown = false;
		for (let i = 0; i < this.bodies.length; i++) if (this.bodies[i]!.override) shown = true;
		for (let i = 0; i < this.bodies.length; i++) {
			const drawn = this.bodies[i]!;
			const visible = sample.present[drawn.body.index] === 1 && !hidden[drawn.body.index];
			const coloring = shown && !drawn.override ? "plain" : this.coloring;
			drawn.update(sample, this.exaggeration, coloring, this.peak, visible);
		}
	}

	dispose(): void {
		for (const drawn of this.bodies) drawn.dispose();
	}
}
