// SPDX-License-Identifier: Apache-2.0
/*
 * embed.ts — what is left of the interface where the page is part of another one (`#embed`): a play button and the title.
 * style.css hides the rest.
 */
import type { App } from "../app.js";
import { button, el, setAttribute, setText } from "./dom.js";
import { icon } from "./icons.js";

export function embedBar(app: App): HTMLElement {
	const title = el("p", { role: "heading", "aria-level": "1" });
	const play = button("Play", icon("play"), () => app.togglePlaying(), {
		iconOnly: true,
		class: "icon-button embed-play",
	});
	app.on("replay", () => setText(title, app.replay?.title ?? ""));
	app.on("play", () => {
		play.replaceChildren(icon(app.playing ? "pause" : "play"));
		setAttribute(play, "aria-label", app.playing ? "Pause" : "Play");
		setAttribute(play, "title", app.playing ? "Pause" : "Play");
	});
	return el("div", { class: "embed-bar" }, play, title);
}
