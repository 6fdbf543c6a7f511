// SPDX-License-Identifier: Apache-2.0
/*
 * sheets.ts — on a narrow screen the side panels are sheets over the scene, one at a time; elsewhere they are beside it and
 * their buttons are not shown (style.css).
 */
import { button, setAttribute } from "./dom.js";
import { icon, type IconName } from "./icons.js";

interface Sheet {
	panel: HTMLElement;
	button: HTMLButtonElement;
}

export class Sheets {
	private readonly sheets: Sheet[] = [];

	/** The button that opens and closes a panel. */
	add(panel: HTMLElement, id: string, label: string, name: IconName): HTMLButtonElement {
		panel.id = id;
		const made = button(label, icon(name), () => this.toggle(panel), {
			iconOnly: true,
			class: "icon-button sheet-button",
			"aria-expanded": "false",
			"aria-controls": id,
		});
		this.sheets.push({ panel, button: made });
		return made;
	}

	private toggle(panel: HTMLElement): void {
		const open = panel.dataset.open !== "true";
		this.close();
		if (open) this.set(panel, true);
	}

	/** True if one was open. */
	close(): boolean {
		const open = this.sheets.filter(({ panel }) => panel.dataset.open === "true");
		for (const { panel } of open) this.set(panel, false);
		return open.length > 0;
	}

	private set(panel: HTMLElement, open: boolean): void {
		panel.dataset.open = String(open);
		setAttribute(this.sheets.find((s) => s.panel === panel)!.button, "aria-expanded", String(open));
	}
}
