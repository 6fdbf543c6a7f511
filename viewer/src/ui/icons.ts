// SPDX-License-Identifier: Apache-2.0
/*
 * icons.ts — line drawings of 24 × 24, as path data.
 */

const PATHS = {
	play: "M7 4.5v15l12.5-7.5z",
	pause: "M7.5 5v14M16.5 5v14",
	start: "M6 5v14M19 5.5v13L9.5 12z",
	end: "M18 5v14M5 5.5v13l9.5-6.5z",
	back: "M15 6l-6 6 6 6",
	forward: "M9 6l6 6-6 6",
	loop: "M17 3l3 3-3 3M4 11V9a3 3 0 0 1 3-3h13M7 21l-3-3 3-3M20 13v2a3 3 0 0 1-3 3H4",
	eye: "M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12zM12 9.2a2.8 2.8 0 1 1 0 5.6 2.8 2.8 0 0 1 0-5.6z",
	eyeOff: "M3 3l18 18M6.5 6.9C4 8.7 2.5 12 2.5 12S6 18.5 12 18.5c1.7 0 3.2-.5 4.5-1.2M9.5 5.8A9 9 0 0 1 12 5.5c6 0 9.5 6.5 9.5 6.5a17 17 0 0 1-2.3 3",
	target: "M12 3v4M12 17v4M3 12h4M17 12h4M12 8.5a3.5 3.5 0 1 1 0 7 3.5 3.5 0 0 1 0-7z",
	search: "M10.5 4a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13zM15.5 15.5L20.5 20.5",
	chevron: "M9 6l6 6-6 6",
	close: "M6 6l12 12M18 6L6 18",
	plus: "M12 5v14M5 12h14",
	sun: "M12 8a4 4 0 1 1 0 8 4 4 0 0 1 0-8zM12 2v2.5M12 19.5V22M2 12h2.5M19.5 12H22M5 5l1.7 1.7M17.3 17.3L19 19M5 19l1.7-1.7M17.3 6.7L19 5",
	moon: "M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5z",
	help: "M12 3a9 9 0 1 1 0 18 9 9 0 0 1 0-18zM9.5 9.5a2.5 2.5 0 1 1 3.6 2.2c-.7.4-1.1.9-1.1 1.8M12 16.8v.2",
	text: "M3 19l5-13 5 13M4.8 14.5h6.4M14.5 19l3.2-8 3.3 8M15.6 16.5h4.3",
	download: "M12 4v11M7 11l5 5 5-5M4.5 20h15",
	link: "M10 14a4 4 0 0 0 6 .4l3-3a4 4 0 0 0-5.7-5.7l-1.5 1.5M14 10a4 4 0 0 0-6-.4l-3 3a4 4 0 0 0 5.7 5.7l1.5-1.5",
	ghost: "M5 20V11a7 7 0 0 1 14 0v9l-2.3-1.8L14.3 20 12 18.2 9.7 20l-2.4-1.8zM9.5 10.5v.5M14.5 10.5v.5",
	cube: "M12 3l8 4.5v9L12 21l-8-4.5v-9zM4 7.5l8 4.5 8-4.5M12 12v9",
	node: "M5 19V6M5 19h13M5 19l9-7M3 8l2-2.5L7 8M16 17l2.5 2L16 21",
	joint: "M12 8a4 4 0 1 1 0 8 4 4 0 0 1 0-8zM12 2.5V8M12 16v5.5",
	loopIcon: "M7 8.5a3.5 3.5 0 1 0 0 7c4 0 6-7 10-7a3.5 3.5 0 1 1 0 7c-4 0-6-7-10-7z",
	group: "M3.5 6h6l2 2.5h9V19h-17z",
	wave: "M2.5 12c2.4-7 4.7-7 7.1 0s4.8 7 7.2 0c1.2-3.4 2.9-5 4.7-5",
	arrow: "M4 20L19 5M9.5 5H19v9.5",
	trail: "M4 19c6 0 3-7 8-7s3-6 8-6M20 6v.2",
	grid: "M4 4h16v16H4zM4 9.3h16M4 14.7h16M9.3 4v16M14.7 4v16",
	fit: "M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5",
	camera: "M4 7.5h3l1.5-2.5h7L17 7.5h3a1 1 0 0 1 1 1V18a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1V8.5a1 1 0 0 1 1-1zM12 9.5a3.5 3.5 0 1 1 0 7 3.5 3.5 0 0 1 0-7z",
	video: "M3 6.5h12v11H3zM15 10.5l6-3v9l-6-3z",
	chart: "M4 4v16h16M7 15l4-5 3 3 5-7",
	hand: "M8 12V6.5a1.5 1.5 0 0 1 3 0V11M11 6V4.5a1.5 1.5 0 0 1 3 0V11M14 6.5a1.5 1.5 0 0 1 3 0V12M17 9a1.5 1.5 0 0 1 3 0v5a7 7 0 0 1-7 7c-3 0-4.5-1.5-6-4l-3-4.5a1.5 1.5 0 0 1 2.5-1.7L8 13",
	file: "M6 3h8l4 4v14H6zM14 3v4h4",
	panel: "M4 5h16v14H4zM9.5 5v14",
	ruler: "M3 16.5L16.5 3 21 7.5 7.5 21zM7 12.5l2 2M10 9.5l2.5 2.5M13 6.5l2 2",
	angle: "M4 19.5L15 4M4 19.5h16M9 12.7a8.5 8.5 0 0 1 3.6 6.8",
	box: "M5 8h11v11H5zM8 5h11v11",
	tag: "M4 12V4h8l8 8-8 8zM8 8v.2",
	sliders: "M4 7h9M17 7h3M15 4.5v5M4 17h3M11 17h9M9 14.5v5",
	reset: "M4 12a8 8 0 1 0 2.5-5.8L4 8.5M4 4v4.5h4.5",
	check: "M5 12.5l4.5 4.5L19 7.5",
	warn: "M12 4l9 16H3zM12 10v4.5M12 17.2v.2",
} as const;

export type IconName = keyof typeof PATHS;

const SVG = "http://www.w3.org/2000/svg";

export function svg(tag: string, attributes: Record<string, string | number>): SVGElement {
	const node = document.createElementNS(SVG, tag);
	for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
	return node;
}

export function icon(name: IconName): SVGElement {
	const root = svg("svg", { viewBox: "0 0 24 24", class: "icon", "aria-hidden": "true", focusable: "false" });
	root.append(svg("path", { d: PATHS[name], ...(name === "play" ? { fill: "currentColor" } : {}) }));
	return root;
}

/** The mark: a mobile, three pieces in balance. */
export function logo(): SVGElement {
	const root = svg("svg", { viewBox: "0 0 32 32", class: "logo", "aria-hidden": "true", focusable: "false" });
	root.append(
		svg("path", {
			d: "M16 3v6M5 12C10 7.5 22 7.5 27 12M5 12v5M27 12v2M21 18c3-2.5 9-2.5 9-2.5M21 18v3",
			class: "logo-wire",
		}),
		svg("circle", { cx: 5, cy: 21, r: 4.5, class: "logo-a" }),
		svg("path", { d: "M17 27c0-3.5 2-6 4-6s4 2.5 4 4.5-8 4.5-8 1.5z", class: "logo-b" }),
		svg("circle", { cx: 29, cy: 18, r: 2.2, class: "logo-c" }),
	);
	return root;
}
