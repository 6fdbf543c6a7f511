// SPDX-License-Identifier: Apache-2.0
/*
 * export.ts — files out of the viewer: the scene as PNG, signals as CSV (films: studio.ts, film/).
 */
import type { App } from "./app.js";
import type { Signal } from "./data/replay.js";

export function saveBlob(blob: Blob, name: string): void {
	const url = URL.createObjectURL(blob);
	const link = document.createElement("a");
	link.href = url;
	link.download = name;
	link.click();
	window.setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

export function saveText(text: string, type: string, name: string): void {
	saveBlob(new Blob([text], { type }), name);
}

/** A file name from a title: letters and digits of any language, the rest as hyphens. */
export function fileName(title: string, ending: string): string {
	const stem = title
		.normalize("NFC")
		.replace(/[^\p{L}\p{N}]+/gu, "-")
		.replace(/^-+|-+$/g, "")
		.slice(0, 60);
	return `${stem || "calder"}.${ending}`;
}

/* ---- CSV ----------------------------------------------------------------------------------- */

const quote = (text: string): string => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

const heading = ({ name, unit }: Signal): string => quote(unit ? `${name} [${unit}]` : name);

/** As `calder run` writes it. Signals with times of their own have empty cells at the others' times. */
export function csvText(signals: readonly Signal[]): string {
	const times = new Set<number>();
	for (const { t, values } of signals) for (let i = 0; i < values.count; i++) times.add(t.data[i]!);
	const order = [...times].sort((a, b) => a - b);
	const next = signals.map(() => 0);
	const lines = [["t [s]", ...signals.map(heading)].join(",")];
	for (const time of order) {
		const cells = signals.map(({ t, values }, k) => {
			let i = next[k]!;
			if (i >= values.count || t.data[i] !== time) return "";
			const value = values.data[i]!;
			while (i < values.count && t.data[i] === time) i++;
			next[k] = i;
			return Number.isNaN(value) ? "" : String(value);
		});
		lines.push([String(time), ...cells].join(","));
	}
	return lines.join("\n") + "\n";
}

/* ---- pictures ------------------------------------------------------------------------------ */

/** The scene as it is now, at twice the resolution of the screen. */
export async function scenePng(app: App): Promise<Blob> {
	const { renderer, width, height } = app.stage;
	const ratio = renderer.getPixelRatio();
	renderer.setPixelRatio(Math.max(2, ratio));
	renderer.setSize(width, height, false);
	app.stage.render(app.camera.distance, app.view?.size ?? 1);
	const picture = new Promise<Blob | null>((done) => renderer.domElement.toBlob(done, "image/png"));
	renderer.setPixelRatio(ratio);
	renderer.setSize(width, height, false);
	app.draw();
	const blob = await picture;
	if (!blob) throw new Error("the browser could not make a picture");
	return blob;
}
