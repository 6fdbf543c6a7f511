// SPDX-License-Identifier: Apache-2.0
/*
 * stage.ts — the renderer, the lights and their shadows, the background and the grid. Knows nothing of runs. Draws only
 * when asked to: a viewer that is paused uses no power.
 *
 * The key light comes from over the left shoulder of somebody in front of the scene: it is fixed in the world, so that
 * shadows stay where they are while the camera moves. Its shadow map covers a ball around what is looked at. What floats
 * over the canvas (toolbars, captions) is kept free by an offset of the projection: the point that the camera is aimed at
 * appears in the middle of what is left.
 */
import {
	Color,
	DataTexture,
	DirectionalLight,
	HemisphereLight,
	LinearFilter,
	Mesh,
	PCFShadowMap,
	PlaneGeometry,
	RGBAFormat,
	Scene,
	ShaderMaterial,
	ShadowMaterial,
	SRGBColorSpace,
	Vector3,
	WebGLRenderer,
} from "three";
import { screen } from "./shapes.js";
import { StageCamera } from "./stage_camera.js";

const GRID_VERTEX = `
varying vec3 vWorld;
void main() {
	vec4 world = modelMatrix * vec4(position, 1.0);
	vWorld = world.xyz;
	gl_Position = projectionMatrix * viewMatrix * world;
}`;

const GRID_FRAGMENT = `
uniform vec3 color;
uniform float cell;
uniform float reach;
uniform vec3 middle;
uniform int up;
varying vec3 vWorld;
float lines(vec2 p, float step) {
	vec2 q = p / step;
	vec2 width = max(fwidth(q), vec2(1e-6));
	vec2 d = abs(fract(q - 0.5) - 0.5) / width;
	return (1.0 - min(min(d.x, d.y), 1.0)) * (1.0 - smoothstep(0.2, 0.6, max(width.x, width.y)));
}
void main() {
	vec2 p = up == 2 ? vWorld.xy : up == 1 ? vWorld.xz : vWorld.yz;
	float fade = 1.0 - smoothstep(0.25 * reach, reach, distance(vWorld, middle));
	float a = max(0.35 * lines(p, cell), 0.8 * lines(p, cell * 5.0)) * fade;
	if (a < 0.004) discard;
	gl_FragColor = vec4(color, a);
	#include <colorspace_fragment>
}`;

export interface StageColors {
	top: string;
	bottom: string;
	grid: string;
	light: boolean; // the theme
}

/** What floats over the canvas covers so much of its edges [px]. */
export interface Insets {
	top: number;
	bottom: number;
}

const SHADOW_TEXELS = 2048;
// Towards the key light, for z up.
const KEY_DIRECTION: readonly [number, number, number] = [-0.45, -0.55, 1];

export class Stage {
	readonly scene = new Scene();
	readonly camera = new StageCamera(38, 1, 0.01, 1000);
	readonly renderer: WebGLRenderer;
	readonly grid: Mesh<PlaneGeometry, ShaderMaterial>;
	/** Receives the shadows on the ground, where there is a grid. */
	readonly floor: Mesh<PlaneGeometry, ShadowMaterial>;
	width = 1;
	height = 1;
	insets: Insets = { top: 0, bottom: 0 };
	readonly target = new Vector3(); // what the camera is aimed at
	private readonly sky = new HemisphereLight();
	private readonly key = new DirectionalLight("#ffffff", 1.7);
	private readonly fill = new DirectionalLight("#cfe0ff", 0.6);
	private readonly toLight = new Vector3(...KEY_DIRECTION).normalize();
	private readonly usualLight = new Vector3().copy(this.toLight);
	private readonly up = new Vector3(0, 0, 1);
	private readonly middle = new Vector3(); // of the grid
	private shadowRadius = 1;
	private background: DataTexture | null = null;

	constructor(canvas: HTMLCanvasElement) {
		this.renderer = new WebGLRenderer({ canvas, antialias: true, powerPreference: "high-performance" });
		this.renderer.debug.checkShaderErrors = false; // asking for them waits for the compiler
		this.renderer.setPixelRatio(Math.min(2, window.devicePixelRatio || 1));
		this.renderer.localClippingEnabled = true; // section.ts
		this.renderer.shadowMap.enabled = true;
		this.renderer.shadowMap.type = PCFShadowMap;
		this.key.castShadow = true;
		this.key.shadow.mapSize.setScalar(SHADOW_TEXELS);
		this.key.shadow.radius = 3;
		this.key.shadow.intensity = 0.62;
		// Light from beside the camera, so that no side that is looked at is black.
		this.fill.position.set(0.5, 0.7, 1);
		this.camera.add(this.fill, this.fill.target);
		this.fill.target.position.set(0, 0, -1);
		this.grid = new Mesh(
			new PlaneGeometry(1, 1),
			new ShaderMaterial({
				vertexShader: GRID_VERTEX,
				fragmentShader: GRID_FRAGMENT,
				transparent: true,
				depthWrite: false,
				side: 2,
				uniforms: {
					color: { value: new Color() },
					cell: { value: 1 },
					reach: { value: 10 },
					middle: { value: new Vector3() },
					up: { value: 2 },
				},
			}),
		);
		this.grid.renderOrder = -1;
		this.floor = new Mesh(new PlaneGeometry(1, 1), new ShadowMaterial({ opacity: 0.5, depthWrite: false }));
		this.floor.renderOrder = -1;
		this.floor.receiveShadow = true;
		this.scene.add(this.camera, this.sky, this.key, this.key.target, this.grid, this.floor);
	}

	setUp(up: "x" | "y" | "z"): void {
		this.up.set(up === "x" ? 1 : 0, up === "y" ? 1 : 0, up === "z" ? 1 : 0);
		this.camera.up.copy(this.up);
		this.sky.position.copy(this.up);
		const [x, y, z] = KEY_DIRECTION;
		if (up === "z") this.toLight.set(x, y, z);
		else if (up === "y") this.toLight.set(x, z, -y);
		else this.toLight.set(z, x, y);
		this.toLight.normalize();
		this.usualLight.copy(this.toLight);
		for (const plane of [this.grid, this.floor])
			plane.rotation.set(up === "y" ? -Math.PI / 2 : 0, up === "x" ? Math.PI / 2 : 0, 0);
		this.grid.material.uniforms.up!.value = up === "x" ? 0 : up === "y" ? 1 : 2;
	}

	/** Towards the key light; null: over the left shoulder of somebody in front of the scene. */
	setLight(direction: readonly [number, number, number] | null): void {
		if (direction) this.toLight.set(...direction).normalize();
		else this.toLight.copy(this.usualLight);
	}

	showGrid(shown: boolean): void {
		this.grid.visible = this.floor.visible = shown;
	}

	/** The grid through `middle`, with cells of 1, 2 or 5 times a power of ten. */
	setGrid(middle: { x: number; y: number; z: number }, size: number): void {
		const raw = size / 10;
		const power = 10 ** Math.floor(Math.log10(raw));
		const cell = power * (raw / power >= 5 ? 5 : raw / power >= 2 ? 2 : 1);
		this.middle.set(middle.x, middle.y, middle.z);
		this.grid.scale.setScalar(size * 12);
		this.floor.scale.setScalar(size * 12);
		this.shadowRadius = size * 0.75;
		const u = this.grid.material.uniforms;
		u.cell!.value = cell;
		u.reach!.value = size * 5;
	}

	/** How far apart the thin lines of the grid are [m]. */
	get cell(): number {
		return this.grid.material.uniforms.cell!.value as number;
	}

	/** The grid has no end: it is drawn below what the camera is aimed at, and so are the shadows. */
	private center(distance: number): void {
		const { target } = this;
		const along = this.middle.dot(this.up) - target.dot(this.up);
		center.copy(this.up).multiplyScalar(along).add(target);
		this.grid.position.copy(center);
		(this.grid.material.uniforms.middle!.value as Vector3).copy(center);
		// A little lower than the lines, which it must not hide.
		this.floor.position
			.copy(this.up)
			.multiplyScalar(-this.shadowRadius * 1e-3)
			.add(center);
		const { shadow, position, target: aim } = this.key;
		const whole = this.shadowRadius;
		aim.position.copy(target);
		position
			.copy(this.toLight)
			.multiplyScalar(4 * whole)
			.add(target);
		// From near, the map covers less: in steps, so that edges of shadows do not crawl while the camera moves.
		const r = Math.min(whole, 2 ** (Math.ceil(2 * Math.log2(1.1 * distance)) / 2));
		const box = shadow.camera;
		if (box.right === r && box.far === 8 * whole) return;
		box.left = box.bottom = -r;
		box.right = box.top = r;
		box.near = 0.1 * whole;
		box.far = 8 * whole;
		shadow.normalBias = (3 * r) / SHADOW_TEXELS;
		box.updateProjectionMatrix();
	}

	setColors(colors: StageColors): void {
		const rows = [colors.bottom, colors.top].map((text) => {
			const n = parseInt(text.slice(1), 16);
			return [n >> 16, (n >> 8) & 255, n & 255, 255];
		});
		this.background?.dispose();
		this.background = new DataTexture(new Uint8Array(rows.flat()), 1, 2, RGBAFormat);
		this.background.colorSpace = SRGBColorSpace;
		this.background.magFilter = this.background.minFilter = LinearFilter;
		this.background.needsUpdate = true;
		this.scene.background = this.background;
		(this.grid.material.uniforms.color!.value as Color).set(colors.grid);
		this.sky.color.set(colors.light ? "#ffffff" : "#dfe8ff");
		this.sky.groundColor.set(colors.light ? "#b9c0cc" : "#39414f");
		this.sky.intensity = colors.light ? 1.55 : 1.3;
		this.key.intensity = colors.light ? 1.75 : 1.7;
		this.fill.intensity = colors.light ? 0.9 : 0.8;
		this.floor.material.opacity = colors.light ? 0.4 : 0.6;
		screen.rim.value = colors.light ? 0.55 : 0.25;
	}

	resize(width: number, height: number): void {
		this.width = Math.max(1, width);
		this.height = Math.max(1, height);
		this.renderer.setSize(this.width, this.height, false);
		this.camera.aspect = this.width / this.height;
		this.setInsets(this.insets);
	}

	setInsets(insets: Insets): void {
		this.insets = insets;
		const shift = (insets.top - insets.bottom) / 2;
		this.camera.setViewOffset(this.width, this.height, 0, -shift, this.width, this.height);
	}

	/** The part of the height that nothing covers. */
	get freeHeight(): number {
		return Math.max(0.3, 1 - (this.insets.top + this.insets.bottom) / this.height);
	}

	/** near and far follow the distance, so that a bolt and a station both have depth to spare. */
	render(distance: number, size: number): void {
		this.center(distance);
		this.camera.setPixel(screen.pixel.value, distance, this.height);
		const near = Math.max(distance * 0.002, (distance - size * 3) * 0.5);
		const far = distance + size * 40;
		const changed = (a: number, b: number): boolean => Math.abs(a / b - 1) > 0.02;
		if (changed(near, this.camera.near) || changed(far, this.camera.far) || this.camera.reach !== distance) {
			this.camera.near = near;
			this.camera.far = far;
			this.camera.reach = distance;
			this.camera.updateProjectionMatrix();
		}
		this.renderer.render(this.scene, this.camera);
	}
}

const center = new Vector3();
