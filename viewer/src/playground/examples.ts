// SPDX-License-Identifier: Apache-2.0
/*
 * examples.ts — the models that the playground offers: files of examples/, as they are.
 */
const texts = import.meta.glob<string>(
	[
		"../../../examples/{andrews,attitude_control,bouncing_ball,bricard,chain128,docking,double_pendulum,driven_four_bar,dzhanibekov}.yaml",
		"../../../examples/{flexible_arm,flyball_governor,four_bar,free_flying_arm,heavy_top,pendulum,rolling_ball,separation}.yaml",
		"../../../examples/{slider_crank,spinning_panels,stewart,walking_arm}.yaml",
		"../../../examples/zoo/{arm,hand}.urdf",
		"../../../examples/zoo/{humanoid,leg,quadruped}.xml",
		"../../../examples/zoo/{leg,spacecraft}.sdf",
	],
	{ query: "?raw", import: "default", eager: true },
);

/** Files that models name, by their paths there. */
const named = import.meta.glob<string>("../../../examples/zoo/*.obj", {
	query: "?raw",
	import: "default",
	eager: true,
});

const short = (path: string): string => path.replace("../../../examples/", "");

/** Name of the file and its text. */
export const EXAMPLES: ReadonlyMap<string, string> = new Map(
	Object.entries(texts).map(([path, text]) => [short(path), text]),
);

export function exampleFiles(): Record<string, Uint8Array> {
	const encoder = new TextEncoder();
	return Object.fromEntries(Object.entries(named).map(([path, text]) => [short(path), encoder.encode(text)]));
}
