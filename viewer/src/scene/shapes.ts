// SPDX-License-Identifier: Apache-2.0
/*
 * shapes.ts — geometries of unit size for instances, and their material. Each vertex carries `edge`, two coordinates
 * that are 0 or 1 on the edges of the shape; the material darkens what is within a pixel of them, so that boxes and
 * cylinders read as such without lines of their own.
 */
import {
	BoxGeometry,
	BufferAttribute,
	BufferGeometry,
	ConeGeometry,
	CylinderGeometry,
	DoubleSide,
	MeshLambertMaterial,
	PlaneGeometry,
	SphereGeometry,
	Vector2,
} from "three";
import type { Mesh } from "../data/replay.js";

/**
 * What all materials know of the screen (stage.ts): the size of a pixel [m], x times the distance plus y; dark rims; whether
 * bodies are cut open (section.ts).
 */
export const screen = { pixel: { value: new Vector2(0, 0) }, rim: { value: 0.4 }, cut: { value: 0 } };

/** Nothing is drawn thinner than this [px]. */
export const MIN_WIDTH = 2.5;

export type UnitKind = "box" | "sphere" | "cylinder" | "cone" | "plane";

function setEdges(geometry: BufferGeometry, edge: (i: number, out: [number, number]) => void): BufferGeometry {
	const count = geometry.getAttribute("position").count;
	const data = new Float32Array(count * 2);
	const pair: [number, number] = [0.5, 0.5];
	for (let i = 0; i < count; i++) {
		edge(i, pair);
		data.set(pair, i * 2);
	}
	geometry.setAttribute("edge", new BufferAttribute(data, 2));
	geometry.deleteAttribute("uv");
	return geometry;
}

const faceEdges = (geometry: BufferGeometry): BufferGeometry => {
	const uv = geometry.getAttribute("uv");
	return setEdges(geometry, (i, out) => {
		out[0] = uv.getX(i);
		out[1] = uv.getY(i);
	});
};

// Around an axis along z: rims are edges, seams are not.
function roundEdges(geometry: BufferGeometry, tip: boolean): BufferGeometry {
	const normal = geometry.getAttribute("normal");
	const position = geometry.getAttribute("position");
	return setEdges(geometry, (i, out) => {
		const cap = Math.abs(normal.getZ(i)) > 0.99;
		const radius = Math.hypot(position.getX(i), position.getY(i));
		out[0] = 0.5;
		if (cap) out[1] = 0.5 + 0.5 * radius;
		else out[1] = tip ? 0.5 * (position.getZ(i) + 0.5) : position.getZ(i) + 0.5;
	});
}

const noEdges = (geometry: BufferGeometry): BufferGeometry =>
	setEdges(geometry, (_, out) => {
		out[0] = out[1] = 0.5;
	});

/** Side 1, radius 1, length 1, axes along z, centered. Of thousands each is small in the picture: fewer triangles do. */
export function unitGeometry(kind: UnitKind, instances: number): BufferGeometry {
	const sides = instances > 3000 ? 24 : instances > 600 ? 36 : 64;
	switch (kind) {
		case "box":
			return faceEdges(new BoxGeometry(1, 1, 1));
		case "sphere":
			return noEdges(new SphereGeometry(1, sides, sides / 2).rotateX(Math.PI / 2));
		case "cylinder":
			return roundEdges(new CylinderGeometry(1, 1, 1, sides).rotateX(Math.PI / 2), false);
		case "cone":
			return roundEdges(new ConeGeometry(1, 1, sides).rotateX(Math.PI / 2), true);
		case "plane":
			return faceEdges(new PlaneGeometry(1, 1));
	}
}

/* ---- meshes -------------------------------------------------------------------------------- */

/** For each vertex the first one at the same place: STL files repeat theirs per triangle. */
export function weld(vertices: Float32Array): Uint32Array {
	const count = vertices.length / 3;
	const bits = new Uint32Array(vertices.buffer, vertices.byteOffset, vertices.length);
	const size = 1 << Math.ceil(Math.log2(Math.max(4, count * 2)));
	const table = new Int32Array(size).fill(-1);
	const same = new Uint32Array(count);
	for (let i = 0; i < count; i++) {
		const a = bits[i * 3]!,
			b = bits[i * 3 + 1]!,
			c = bits[i * 3 + 2]!;
		let slot = (Math.imul(a, 73856093) ^ Math.imul(b, 19349663) ^ Math.imul(c, 83492791)) & (size - 1);
		for (;;) {
			const other = table[slot]!;
			if (other < 0) {
				table[slot] = same[i] = i;
				break;
			}
			if (bits[other * 3] === a && bits[other * 3 + 1] === b && bits[other * 3 + 2] === c) {
				same[i] = other;
				break;
			}
			slot = (slot + 1) & (size - 1);
		}
	}
	return same;
}

function faceNormals(vertices: Float32Array, triangles: Uint32Array): Float32Array {
	const normals = new Float32Array(triangles.length);
	for (let f = 0; f < triangles.length; f += 3) {
		const a = triangles[f]! * 3,
			b = triangles[f + 1]! * 3,
			c = triangles[f + 2]! * 3;
		const ux = vertices[b]! - vertices[a]!,
			uy = vertices[b + 1]! - vertices[a + 1]!,
			uz = vertices[b + 2]! - vertices[a + 2]!;
		const vx = vertices[c]! - vertices[a]!,
			vy = vertices[c + 1]! - vertices[a + 1]!,
			vz = vertices[c + 2]! - vertices[a + 2]!;
		normals[f] = uy * vz - uz * vy;
		normals[f + 1] = uz * vx - ux * vz;
		normals[f + 2] = ux * vy - uy * vx;
	}
	return normals;
}

/** Normals per corner: the mean over the triangles around it that lean less than 30 degrees from its own. */
export function creasedNormals(vertices: Float32Array, triangles: Uint32Array): Float32Array {
	const same = weld(vertices);
	const faces = faceNormals(vertices, triangles);
	const start = new Uint32Array(vertices.length / 3 + 1);
	for (const v of triangles) start[same[v]! + 1]!++;
	for (let i = 1; i < start.length; i++) start[i]! += start[i - 1]!;
	const around = new Uint32Array(triangles.length);
	const fill = start.slice();
	for (let k = 0; k < triangles.length; k++) around[fill[same[triangles[k]!]!]!++] = k - (k % 3);

	const out = new Float32Array(triangles.length * 3);
	const limit = Math.cos(Math.PI / 6);
	for (let k = 0; k < triangles.length; k++) {
		const f = k - (k % 3);
		const fx = faces[f]!,
			fy = faces[f + 1]!,
			fz = faces[f + 2]!;
		const length = Math.hypot(fx, fy, fz);
		let x = 0,
			y = 0,
			z = 0;
		const vertex = same[triangles[k]!]!;
		for (let j = start[vertex]!; j < start[vertex + 1]!; j++) {
			const g = around[j]!;
			const gx = faces[g]!,
				gy = faces[g + 1]!,
				gz = faces[g + 2]!;
			if (fx * gx + fy * gy + fz * gz < limit * length * Math.hypot(gx, gy, gz)) continue;
			((x += gx), (y += gy), (z += gz));
		}
		const norm = 1 / (Math.hypot(x, y, z) || 1);
		((out[k * 3] = x * norm), (out[k * 3 + 1] = y * norm), (out[k * 3 + 2] = z * norm));
	}
	return out;
}

export function meshGeometry(mesh: Mesh): BufferGeometry {
	const { vertices, triangles } = mesh;
	const position = new Float32Array(triangles.length * 3);
	for (let k = 0; k < triangles.length; k++) {
		const v = triangles[k]! * 3;
		for (let c = 0; c < 3; c++) position[k * 3 + c] = vertices[v + c]!;
	}
	const geometry = new BufferGeometry();
	geometry.setAttribute("position", new BufferAttribute(position, 3));
	geometry.setAttribute("normal", new BufferAttribute(creasedNormals(vertices, triangles), 3));
	return noEdges(geometry);
}

/* ---- material ------------------------------------------------------------------------------ */

const EDGE_FRAGMENT = `#include <color_fragment>
	vec2 edgeWidth = max(fwidth(vEdge), vec2(1e-5));
	vec2 edgeNear = smoothstep(vec2(0.3), vec2(1.5), (0.5 - abs(vEdge - 0.5)) / edgeWidth);
	float edgeFade = 1.0 - smoothstep(0.04, 0.3, max(edgeWidth.x, edgeWidth.y));
	diffuseColor.rgb *= 1.0 - 0.5 * edgeFade * (1.0 - min(edgeNear.x, edgeNear.y));`;

/*
 * An instance whose side or diameter would be less than MIN_WIDTH on the screen is widened to it. What a unit shape
 * measures from its center to its surface is `reach`: 0.5 of a box, 1 across a cylinder and 0.5 along it.
 */
const widen = (reach: string): string => `#include <begin_vertex>
	vEdge = edge;
	#ifdef USE_INSTANCING
	vec3 sides = vec3(length(instanceMatrix[0].xyz), length(instanceMatrix[1].xyz), length(instanceMatrix[2].xyz));
	float away = -(viewMatrix * vec4(instanceMatrix[3].xyz, 1.0)).z;
	vec3 least = ${(MIN_WIDTH / 2).toFixed(2)} * (pixel.x * away + pixel.y) / ${reach};
	if (sides.x > 0.0) transformed *= max(vec3(1.0), least / max(sides, vec3(1e-20)));
	#endif`;

/** Surfaces that turn away from the eye are darker: a white part is seen before a white background. */
export const RIM_FRAGMENT = `float facing = abs(dot(normal, normalize(vViewPosition)));
	outgoingLight *= 1.0 - rim * pow(1.0 - facing, 2.5);
	#include <opaque_fragment>`;

/** The back of a closed shape that is cut open stands for the cut surface. */
const CUT_FRAGMENT = `if (cut > 0.5 && !gl_FrontFacing) outgoingLight = diffuseColor.rgb * 0.85;
	else {
	float facing = abs(dot(normal, normalize(vViewPosition)));
	outgoingLight *= 1.0 - rim * pow(1.0 - facing, 2.5);
	}
	#include <opaque_fragment>`;

const REACH: Record<UnitKind, string | null> = {
	box: "vec3(0.5)",
	sphere: "vec3(1.0)",
	cylinder: "vec3(1.0, 1.0, 0.5)",
	cone: "vec3(1.0, 1.0, 0.5)",
	plane: null,
};

/** kind: of the unit shape that is drawn with it; null: a mesh, which keeps its size. */
export function bodyMaterial(opacity: number, kind: UnitKind | null): MeshLambertMaterial {
	const material = new MeshLambertMaterial({ transparent: opacity < 1, opacity });
	if (kind === null || kind === "plane") material.side = DoubleSide;
	const reach = kind && REACH[kind];
	material.depthWrite = opacity >= 1;
	material.customProgramCacheKey = () => `body ${kind}`;
	material.onBeforeCompile = (shader) => {
		shader.uniforms.pixel = screen.pixel;
		shader.uniforms.rim = screen.rim;
		shader.uniforms.cut = screen.cut;
		const begin = reach ? widen(reach) : "#include <begin_vertex>\nvEdge = edge;";
		shader.vertexShader = shader.vertexShader
			.replace(
				"#include <common>",
				"#include <common>\nattribute vec2 edge;\nvarying vec2 vEdge;\nuniform vec2 pixel;",
			)
			.replace("#include <begin_vertex>", begin);
		shader.fragmentShader = shader.fragmentShader
			.replace(
				"#include <common>",
				"#include <common>\nvarying vec2 vEdge;\nuniform float rim;\nuniform float cut;",
			)
			.replace("#include <color_fragment>", EDGE_FRAGMENT)
			.replace("#include <opaque_fragment>", kind === "plane" ? RIM_FRAGMENT : CUT_FRAGMENT);
	};
	return material;
}
