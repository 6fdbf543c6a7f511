// SPDX-License-Identifier: Apache-2.0
/*
 * viewport.ts — the canvas and what floats over it: camera buttons, what is shown, the axes, the name of the selected
 * body, the color scale, the caption of an event; picking by the mouse and, in a live run, forces by dragging.
 */
import { Vector3 } from "three";
import type { App } from "../app.js";
import { PRESETS, type Preset } from "../scene/camera.js";
import { RAMP } from "../scene/ramp.js";
import type { Hit } from "../scene/view.js";
import { selectionName } from "../selection.js";
import { ForceDrag } from "./drag.js";
import { button, el, setAttribute, setText, withUnit } from "./dom.js";
import { icon, svg } from "./icons.js";
import { MeasureTool } from "./measure_tool.js";
import { ScaleBar } from "./scale_bar.js";
import { SceneLabels } from "./scene_labels.js";

const PRESET_NAMES: Record<Preset, string> = { iso: "Iso", front: "Front", top: "Top", side: "Side" };
const BOTTOM_REM = 3.6; // below the scene: captions, scale

export class Viewport {
	readonly element: HTMLElement;
	readonly toast = el("div", { class: "toast", role: "alert" });
	readonly drag: ForceDrag;
	readonly measure: MeasureTool;
	private readonly app: App;
	private readonly canvas: HTMLCanvasElement;
	private readonly tools = el("div", { class: "tools" });
	private readonly label = el("div", { class: "name-label" });
	private readonly legend: HTMLElement;
	private readonly legendTitle = el("span");
	private readonly legendPeak = el("span");
	private readonly caption = el("div", { class: "caption", role: "status" });
	private readonly captionName = el("strong");
	private readonly captionText = el("span");
	private readonly gizmo = svg("svg", { viewBox: "-40 -40 80 80", class: "gizmo", "aria-hidden": "true" });
	private readonly axes: { line: SVGElement; text: SVGElement }[] = [];
	private readonly followButton: HTMLButtonElement;
	private readonly forceButton: HTMLButtonElement;
	private readonly corner: HTMLElement;
	private cornerHeight = 0;
	private toastTimer = 0;
	private down: { x: number; y: number } | null = null;

	constructor(app: App, canvas: HTMLCanvasElement) {
		this.app = app;
		this.canvas = canvas;
		this.drag = new ForceDrag(app);
		this.measure = new MeasureTool(app);
		this.followButton = button("Follow", icon("target"), () => this.toggleFollow(), {
			title: "Follow the selected body (O)",
			"aria-pressed": "false",
		});
		this.forceButton = button("Push", icon("hand"), () => this.setForceTool(!this.drag.armed), {
			title: "Apply a force by dragging a body (X)",
			"aria-pressed": "false",
		});
		this.legend = this.makeLegend();
		this.makeGizmo();
		this.caption.append(this.captionName, this.captionText);
		this.corner = el("div", { class: "corner" }, this.legend, new ScaleBar(app).element);
		this.toast.hidden = this.caption.hidden = this.label.hidden = true;
		this.tools.append(this.cameraTools(), this.showTools());
		this.element = el(
			"main",
			{ class: "stage", "aria-label": "Scene" },
			canvas,
			new SceneLabels(app).layer.element,
			this.measure.element,
			this.tools,
			this.label,
			el("div", { class: "below" }, this.corner, this.caption),
			this.toast,
		);
		this.element.append(this.gizmo, this.drag.element);
		this.listen();
	}

	private listen(): void {
		const { app } = this;
		app.on("camera", () => this.onCamera());
		app.on("settings", () => this.onSettings());
		app.on("selection", () => this.onCamera());
		app.on("time", () => this.showCaption());
		app.on("live", () => (this.forceButton.hidden = app.live === null));
		new ResizeObserver(() => this.onSize()).observe(this.element);
		new ResizeObserver(() => this.onSize()).observe(this.tools);
		// Its width follows the camera, which must not be placed anew for that.
		new ResizeObserver(() => this.corner.offsetHeight !== this.cornerHeight && this.onSize()).observe(this.corner);
		this.canvas.addEventListener("pointerdown", (event) => this.onDown(event), true);
		this.canvas.addEventListener("pointerup", (event) => this.onUp(event));
		this.canvas.addEventListener("dblclick", () => app.selectedBody >= 0 && app.fit(true));
	}

	/** The scene keeps clear of the toolbars above it and of the captions and the scale below it. */
	private onSize(): void {
		const { tools, element } = this;
		if (this.app.sizeHeld) return;
		const top = tools.hidden ? 0 : tools.offsetTop + tools.offsetHeight;
		const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
		this.cornerHeight = this.corner.offsetHeight;
		const low = Math.max(rem * BOTTOM_REM, this.cornerHeight + rem);
		this.app.stage.insets = { top, bottom: Math.min(low, element.clientHeight / 6) };
		this.app.resize(element.clientWidth, element.clientHeight);
	}

	message(text: string): void {
		setText(this.toast, text);
		this.toast.hidden = false;
		window.clearTimeout(this.toastTimer);
		this.toastTimer = window.setTimeout(() => (this.toast.hidden = true), 5000);
	}

	/* ---- tools -------------------------------------------------------------------------- */

	private cameraTools(): HTMLElement {
		const presets = PRESETS.map((p, i) =>
			button(PRESET_NAMES[p], null, () => this.app.preset(p), { title: `${PRESET_NAMES[p]} view (${i + 1})` }),
		);
		return el(
			"div",
			{ class: "floating view-tools", role: "toolbar", "aria-label": "Camera" },
			...presets,
			this.cameraChoice(),
			this.orthographicButton(),
			button("Fit", icon("fit"), () => this.app.fit(), { title: "Fit everything (F)" }),
			this.followButton,
		);
	}

	private orthographicButton(): HTMLElement {
		const { app } = this;
		const made = button("Ortho", icon("box"), () => app.setOrthographic(!app.stage.camera.orthographic), {
			title: "Without perspective (5)",
			"aria-pressed": "false",
		});
		app.on("settings", () => setAttribute(made, "aria-pressed", String(app.stage.camera.orthographic)));
		return made;
	}

	/** The cameras of the document; "Story": those of its steps, as time passes. */
	private cameraChoice(): HTMLElement {
		const { app } = this;
		const select = el("select", { class: "small", "aria-label": "Cameras of the model" });
		const STORY = " story"; // no name begins with a space
		select.addEventListener("change", () => {
			const found = app.replay?.view.cameras.find((c) => c.name === select.value);
			if (select.value === STORY) app.story.resume();
			else if (found) {
				app.camera.automatic = false;
				app.useCamera(found, false);
			}
		});
		app.on("replay", () => {
			const { cameras = [], steps = [] } = app.replay?.view ?? {};
			select.hidden = cameras.length === 0;
			select.replaceChildren(
				el("option", { value: "" }, "Camera…"),
				...(steps.length ? [el("option", { value: STORY }, "Story")] : []),
				...cameras.map((c) => el("option", { value: c.name }, c.name)),
			);
			select.value = steps.some((s) => s.camera) ? STORY : (app.replay?.view.camera?.name ?? "");
		});
		app.on("camera", () => {
			if (select.value === STORY && !app.camera.automatic) select.value = "";
		});
		select.hidden = true;
		return select;
	}

	private showTools(): HTMLElement {
		const { app } = this;
		const toggle = (
			label: string,
			name: Parameters<typeof icon>[0],
			title: string,
			run: () => void,
			state: () => boolean,
			applies: () => boolean = () => true,
		): HTMLElement => {
			const made = button(label, icon(name), run, { title, "aria-pressed": "false" });
			app.on("replay", () => (made.hidden = !applies()));
			app.on("settings", () => setAttribute(made, "aria-pressed", String(state())));
			return made;
		};
		this.forceButton.hidden = true;
		const measure = button("Measure", icon("ruler"), () => this.setMeasuring(!this.measure.armed), {
			title: "Measure distances and angles (V)",
			"aria-pressed": "false",
		});
		this.measure.onChange(() => {
			setAttribute(measure, "aria-pressed", String(this.measure.armed));
			this.canvas.dataset.tool = this.measure.armed ? "measure" : this.drag.armed ? "force" : "";
		});
		return el(
			"div",
			{ class: "floating show-tools", role: "toolbar", "aria-label": "Show" },
			this.forceButton,
			measure,
			toggle(
				"Joints",
				"joint",
				"Joint frames and axes (J)",
				() => app.set("jointFrames", !app.settings.jointFrames),
				() => app.settings.jointFrames,
				() => app.replay!.joints.length + app.replay!.loops.length > 0,
			),
			toggle(
				"Nodes",
				"node",
				"Node frames (N)",
				() => app.set("nodeFrames", !app.settings.nodeFrames),
				() => app.settings.nodeFrames,
				() => app.replay!.bodies.some((b) => b.nodes.length > 0),
			),
			toggle(
				"Trails",
				"trail",
				"Trails (T)",
				() => this.toggleTrails(),
				() => app.settings.trails !== "none",
			),
			toggle(
				"Arrows",
				"arrow",
				"Forces, moments, reactions, contact (R)",
				() => app.set("arrows", !app.settings.arrows),
				() => app.settings.arrows,
				() => app.replay!.arrows.length > 0,
			),
			toggle(
				"Grid",
				"grid",
				"Grid (K)",
				() => app.set("grid", !app.settings.grid),
				() => app.settings.grid,
			),
		);
	}

	/** Of the selected body if there is one, else of all. */
	toggleTrails(): void {
		const { settings, selection } = this.app;
		this.app.set("trails", settings.trails !== "none" ? "none" : selection ? "selected" : "all");
	}

	toggleFollow(): void {
		const { camera, selectedBody } = this.app;
		if (camera.following >= 0) this.app.follow(-1);
		else if (selectedBody >= 0) this.app.follow(selectedBody);
		else this.message("Select a body to follow");
	}

	setMeasuring(armed: boolean): void {
		if (armed) this.setForceTool(false);
		this.measure.arm(armed);
	}

	setForceTool(armed: boolean): void {
		if (!this.app.live) return;
		if (armed) this.measure.arm(false);
		this.drag.armed = armed;
		setAttribute(this.forceButton, "aria-pressed", String(armed));
		this.canvas.dataset.tool = armed ? "force" : "";
	}

	/* ---- pointer ------------------------------------------------------------------------ */

	private pick(event: PointerEvent): Hit | null {
		const box = this.canvas.getBoundingClientRect();
		const x = ((event.clientX - box.left) / box.width) * 2 - 1;
		const y = 1 - ((event.clientY - box.top) / box.height) * 2;
		return this.app.view?.pick(x, y) ?? null;
	}

	private onDown(event: PointerEvent): void {
		this.down = { x: event.clientX, y: event.clientY };
		if (!this.app.live || event.button !== 0 || (!this.drag.armed && !event.altKey)) return;
		const hit = this.pick(event);
		if (!hit) return;
		event.stopImmediatePropagation();
		this.down = null;
		this.drag.start(this.canvas, event, hit);
	}

	private onUp(event: PointerEvent): void {
		const { down } = this;
		this.down = null;
		if (!down || event.button !== 0 || Math.hypot(event.clientX - down.x, event.clientY - down.y) > 4) return;
		const hit = this.pick(event);
		const box = this.canvas.getBoundingClientRect();
		if (this.measure.armed) return this.measure.click(event.clientX - box.left, event.clientY - box.top, hit);
		this.app.select(hit ? { kind: "body", body: hit.body } : null);
	}

	/* ---- overlays ----------------------------------------------------------------------- */

	private makeLegend(): HTMLElement {
		const bar = el("div", { class: "bar" });
		bar.style.background = `linear-gradient(to right, ${RAMP.join(", ")})`;
		const legend = el(
			"div",
			{ class: "floating legend" },
			this.legendTitle,
			bar,
			el("div", { class: "ends" }, el("span", {}, "0"), this.legendPeak),
		);
		legend.hidden = true;
		return legend;
	}

	private onSettings(): void {
		const flexible = this.app.view?.flexible;
		this.legend.hidden = !flexible || flexible.coloring === "plain" || flexible.bodies.length === 0;
		if (!flexible || this.legend.hidden) return;
		setText(this.legendTitle, flexible.coloring === "displacement" ? "Displacement" : "Strain energy");
		setText(this.legendPeak, this.app.mode ? "mode's largest" : withUnit(flexible.peak, flexible.unit));
	}

	private makeGizmo(): void {
		for (const [name, color] of [
			["x", "#e5484d"],
			["y", "#30a46c"],
			["z", "#3e83f8"],
		] as const) {
			const line = svg("line", { x1: 0, y1: 0, stroke: color });
			const text = svg("text", {});
			text.textContent = name;
			this.gizmo.append(line, text);
			this.axes.push({ line, text });
		}
	}

	private onCamera(): void {
		const { camera } = this.app.stage;
		const e = camera.matrixWorldInverse.elements;
		this.axes.forEach(({ line, text }, i) => {
			const x = e[i * 4]!,
				y = -e[i * 4 + 1]!;
			line.setAttribute("x2", (x * 24).toFixed(1));
			line.setAttribute("y2", (y * 24).toFixed(1));
			text.setAttribute("x", (x * 33).toFixed(1));
			text.setAttribute("y", (y * 33).toFixed(1));
		});
		setAttribute(this.followButton, "aria-pressed", String(this.app.camera.following >= 0));
		this.placeLabel();
		this.drag.onDraw();
	}

	private placeLabel(): void {
		const { view, selection, settings } = this.app;
		const body = this.app.selectedBody;
		const shown =
			view && selection && settings.labels && body >= 0 && view.sample.present[body] && !view.hidden[body];
		this.label.hidden = !shown;
		if (!shown) return;
		view.positionOf(selection, at).project(this.app.stage.camera);
		if (at.z > 1) this.label.hidden = true;
		setText(this.label, selectionName(view.replay, selection));
		const x = ((at.x + 1) / 2) * this.app.stage.width + 14;
		const y = ((1 - at.y) / 2) * this.app.stage.height - 34;
		this.label.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`;
	}

	/** The card until the run is played, else what the story says. */
	private showCaption(): void {
		const { time, rate, replay, story } = this.app;
		const card = story.settings?.card;
		const unplayed = !this.app.playing && (time === this.app.start || time === story.settings?.start);
		const caption = card && unplayed ? { name: replay!.title, text: card } : story.caption(rate);
		if (caption) this.say(caption.name, caption.text);
		else this.caption.hidden = true;
	}

	private say(name: string, text: string): void {
		this.caption.hidden = false;
		setText(this.captionName, name);
		setText(this.captionText, text);
	}
}

const at = new Vector3();
