// SPDX-License-Identifier: Apache-2.0
/*
 * measure_panel.ts — the panel of the measuring tool with the list of what was measured; the section plane and the
 * transparency of bodies.
 */
import type { App } from "../app.js";
import { measureSignal, POINTS, type MeasureKind } from "../measure.js";
import type { SectionAxis } from "../scene/section.js";
import { check, choose, section, slider } from "./controls.js";
import { button, el, formatNumber, setText } from "./dom.js";
import { icon } from "./icons.js";
import type { MeasureTool } from "./measure_tool.js";
import type { PlotDock } from "./plots.js";

export function measurePanel(app: App, tool: MeasureTool, plots: PlotDock): HTMLElement {
	const list = el("ul", { class: "plain-list", "aria-label": "Measurements" });
	const hint = el("p", { class: "hint", role: "status" });
	const values: HTMLElement[] = [];
	const start = (kind: MeasureKind, label: string): HTMLButtonElement =>
		button(
			label,
			icon(kind === "angle" ? "angle" : "ruler"),
			() => tool.arm(!(tool.armed && tool.kind === kind), kind),
			{
				class: "button small outlined",
				"aria-pressed": "false",
			},
		);
	const buttons = { distance: start("distance", "Distance"), angle: start("angle", "Angle") };
	const fill = (): void => {
		for (const kind of ["distance", "angle"] as const)
			buttons[kind].setAttribute("aria-pressed", String(tool.armed && tool.kind === kind));
		const left = POINTS[tool.kind] - tool.pending.length;
		setText(hint, tool.armed ? `Click ${left} ${left === 1 ? "point" : "points"} on bodies.` : "");
		hint.hidden = !tool.armed;
		values.length = 0;
		list.replaceChildren(
			...tool.list.map((measure) => {
				const value = el("span", { class: "detail" });
				values.push(value);
				const plain = { iconOnly: true, class: "icon-button small" };
				return el(
					"li",
					{ class: "measure" },
					icon(measure.kind === "angle" ? "angle" : "ruler"),
					el("span", { class: "grow" }, measure.name),
					value,
					button(
						`Plot ${measure.name}`,
						icon("chart"),
						() => plots.show([measureSignal(app.view!, measure)]),
						plain,
					),
					button(`Remove ${measure.name}`, icon("close"), () => tool.remove(measure), plain),
				);
			}),
		);
		onTime();
	};
	const onTime = (): void => tool.list.forEach((measure, i) => values[i] && setText(values[i]!, tool.text(measure)));
	tool.onChange(fill);
	app.on("time", onTime);
	fill();
	return section(
		"Measure",
		el(
			"div",
			{ class: "section-body" },
			el("div", { class: "row-buttons" }, buttons.distance, buttons.angle),
			hint,
			list,
		),
		true,
	);
}

/** Where the section plane can be: over all that the run shows now. */
function sectionRange(app: App): { low: number; high: number } {
	const { axis } = app.view!.section;
	const bounds = app.view!.bounds();
	if (axis === "none") return { low: 0, high: 1 };
	const along = bounds.corners.map((c) => c[axis]);
	return { low: Math.min(...along), high: Math.max(...along) };
}

export function sectionPanel(app: App): HTMLElement {
	const axis = choose<SectionAxis>(
		"Cut along",
		[
			["none", "Nothing"],
			["x", "x"],
			["y", "y"],
			["z", "z"],
		],
		(value) => {
			app.view!.section.axis = value;
			place(0.5);
		},
	);
	let range = { low: 0, high: 1 };
	const at = slider({
		label: "At",
		min: 0,
		max: 1,
		value: 0.5,
		show: (v) => `${formatNumber(Number((range.low + v * (range.high - range.low)).toPrecision(3)))} m`,
		input: (v) => move(v),
	});
	const move = (part: number): void => {
		app.view!.section.at = range.low + part * (range.high - range.low);
		app.applySettings();
	};
	const place = (part: number): void => {
		range = sectionRange(app);
		const { section: plane } = app.view!;
		// The side towards the camera is cut away.
		if (plane.axis !== "none") plane.flipped = app.stage.camera.position[plane.axis] < (range.low + range.high) / 2;
		move(part);
		at.set(part);
	};
	const turn = (): void => {
		const plane = app.view!.section;
		plane.flipped = !plane.flipped;
		app.applySettings();
	};
	const flip = button("Other side", icon("reset"), turn, { class: "button small outlined" });
	const clear = slider({
		label: "Opacity",
		min: 0.05,
		max: 0.95,
		value: 0.3,
		show: (v) => `${Math.round(100 * v)} %`,
		input: (v) => {
			app.view!.glass.opacity = v;
			app.applySettings();
		},
	});
	const all = (on: boolean): void => {
		const { view, selectedBody } = app;
		if (!view) return;
		view.setGlass(view.replay.bodies.keys(), on);
		if (on && selectedBody >= 0) view.setGlass([selectedBody], false);
		app.applySettings();
	};
	const some = (): boolean => app.view?.glass.bodies.includes(1) ?? false;
	const transparent = check("Transparent bodies", some, all, app);
	app.on("settings", () => {
		const cut = app.view?.section.axis ?? "none";
		axis.select.value = cut;
		at.element.hidden = flip.hidden = cut === "none";
		clear.element.hidden = !some();
	});
	app.on("replay", () => clear.set(0.3));
	return section(
		"Look inside",
		el("div", { class: "section-body" }, axis.element, at.element, flip, transparent, clear.element),
		false,
	);
}
