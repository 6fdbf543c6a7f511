// SPDX-License-Identifier: Apache-2.0
/*
 * files.ts — replays from files: by a file picker or dropped on the page, as the run that is shown or as the second
 * one.
 */
import { decodeReplay } from "./data/decode.js";
import { documentInFile } from "./data/embedded.js";
import type { Replay } from "./data/replay.js";

export async function readReplay(file: File): Promise<Replay> {
	try {
		return decodeReplay(documentInFile(await file.text()), false);
	} catch (error) {
		throw new Error(`${file.name}: ${(error as Error).message}`);
	}
}

/** Asks for a file; null: the person thought better of it. */
export function askForFile(): Promise<File | null> {
	return new Promise((resolve) => {
		const input = document.createElement("input");
		input.type = "file";
		input.accept = ".html,.htm,.json";
		input.hidden = true;
		const done = (file: File | null): void => {
			input.remove();
			resolve(file);
		};
		input.addEventListener("change", () => done(input.files?.[0] ?? null));
		input.addEventListener("cancel", () => done(null));
		document.body.append(input);
		input.click();
	});
}

export function onDrop(take: (files: File[]) => void): void {
	document.addEventListener("dragover", (event) => event.preventDefault());
	document.addEventListener("drop", (event) => {
		event.preventDefault();
		const files = [...(event.dataTransfer?.files ?? [])];
		if (files.length) take(files);
	});
}
