// SPDX-License-Identifier: Apache-2.0
/*
 * theme.ts — light and dark: what the system prefers until the person chooses. The choice and the size of the text are
 * kept in the browser's storage where it allows that.
 */
import type { StageColors } from "../scene/stage.js";

export type Theme = "light" | "dark";

const KEY = "calder-viewer";

interface Stored {
	theme?: Theme;
	large?: boolean;
}

function load(): Stored {
	try {
		return JSON.parse(localStorage.getItem(KEY) ?? "{}") as Stored;
	} catch {
		return {};
	}
}

export class ThemeControl {
	theme: Theme;
	large: boolean;
	private readonly changed: () => void;
	private chosen: Theme | undefined;

	constructor(changed: () => void) {
		this.changed = changed;
		const stored = load();
		const system = window.matchMedia("(prefers-color-scheme: dark)");
		this.chosen = stored.theme === "light" || stored.theme === "dark" ? stored.theme : undefined;
		this.theme = this.chosen ?? (system.matches ? "dark" : "light");
		this.large = stored.large === true;
		system.addEventListener("change", () => {
			if (!this.chosen) this.apply(system.matches ? "dark" : "light");
		});
		this.write();
	}

	choose(theme: Theme): void {
		this.chosen = theme;
		this.apply(theme);
		this.store();
	}

	toggle(): void {
		this.choose(this.theme === "dark" ? "light" : "dark");
	}

	toggleLarge(): void {
		this.large = !this.large;
		this.write();
		this.store();
		this.changed();
	}

	private apply(theme: Theme): void {
		this.theme = theme;
		this.write();
		this.changed();
	}

	private write(): void {
		document.documentElement.dataset.theme = this.theme;
		document.documentElement.dataset.size = this.large ? "large" : "normal";
	}

	private store(): void {
		const stored: Stored = { large: this.large };
		if (this.chosen) stored.theme = this.chosen;
		try {
			localStorage.setItem(KEY, JSON.stringify(stored));
		} catch {
			// Not allowed here: the choice lasts as long as the page.
		}
	}

	stageColors(): StageColors {
		return {
			top: cssColor("--stage-top"),
			bottom: cssColor("--stage-bottom"),
			grid: cssColor("--stage-grid"),
			light: this.theme === "light",
		};
	}
}

export function cssColor(name: string): string {
	return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
