// SPDX-License-Identifier: Apache-2.0
/*
 * stage.ts — the renderer, the lights, the background and the grid. Knows nothing of runs. Draws only when asked to: a
 * viewer that is paused uses no power.
 */
import {
	Color,
	DataTexture,
	DirectionalLight,
	HemisphereLight,
	LinearFilter,
	Mesh,
	PerspectiveCamera,
	PlaneGeometry,
	RGBAFormat,
	Scene,
	ShaderMaterial,
	SRGBColorSpace,
	Vector3,
	WebGLRenderer,
} from "three";

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

export class Stage {
	readonly scene = new Scene();
	readonly camera = new PerspectiveCamera(38, 1, 0.01, 1000);
	readonly renderer: WebGLRenderer;
	readonly grid: Mesh<PlaneGeometry, ShaderMaterial>;
	width = 1;
	height = 1;
	private readonly sky = new HemisphereLight();
	private readonly key = new DirectionalLight("#ffffff", 1.7);
	private readonly fill = new DirectionalLight("#cfe0ff", 0.6);
	private background: DataTexture | null = null;

	constructor(canvas: HTMLCanvasElement) {
		this.renderer = new WebGLRenderer({ canvas, antialias: true, powerPreference: "high-performance" });
		this.renderer.debug.checkShaderErrors = false; // asking for them waits for the compiler
		this.renderer.setPixelRatio(Math.min(2, window.devicePixelRatio || 1));
		this.key.position.set(-0.5, 0.9, 0.7);
		this.fill.position.set(0.9, -0.2, 0.3);
		this.camera.add(this.key, this.fill, this.key.target, this.fill.target);
		this.key.target.position.set(0, 0, -1);
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
		this.scene.add(this.camera, this.sky, this.grid);
	}

	setUp(up: "x" | "y" | "z"): void {
		this.camera.up.set(up === "x" ? 1 : 0, up === "y" ? 1 : 0, up === "z" ? 1 : 0);
		this.sky.position.copy(this.camera.up);
		this.grid.rotation.set(up === "y" ? -Math.PI / 2 : 0, up === "x" ? Math.PI / 2 : 0, 0);
		this.grid.material.uniforms.up!.value = up === "x" ? 0 : up === "y" ? 1 : 2;
	}

	/** The grid through `middle`, with cells of 1, 2 or 5 times a power of ten. */
	setGrid(middle: { x: number; y: number; z: number }, size: number): void {
		const raw = size / 10;
		const power = 10 ** Math.floor(Math.log10(raw));
		const cell = power * (raw / power >= 5 ? 5 : raw / power >= 2 ? 2 : 1);
		this.grid.position.set(middle.x, middle.y, middle.z);
		this.grid.scale.setScalar(size * 12);
		const u = this.grid.material.uniforms;
		u.cell!.value = cell;
		u.reach!.value = size * 5;
		u.middle!.value.set(middle.x, middle.y, middle.z);
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
		this.sky.intensity = colors.light ? 1.9 : 1.5;
	}

	resize(width: number, height: number): void {
		this.width = Math.max(1, width);
		this.height = Math.max(1, height);
		this.renderer.setSize(this.width, this.height, false);
		this.camera.aspect = this.width / this.height;
		this.camera.updateProjectionMatrix();
	}

	/** near and far follow the distance, so that a bolt and a station both have depth to spare. */
	render(distance: number, size: number): void {
		const near = Math.max(distance * 0.002, (distance - size * 3) * 0.5);
		const far = distance + size * 40;
		if (Math.abs(near / this.camera.near - 1) > 0.02 || Math.abs(far / this.camera.far - 1) > 0.02) {
			this.camera.near = near;
			this.camera.far = far;
			this.camera.updateProjectionMatrix();
		}
		this.renderer.render(this.scene, this.camera);
	}
}
