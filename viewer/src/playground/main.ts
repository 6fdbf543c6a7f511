// SPDX-License-Identifier: Apache-2.0
/*
 * main.ts — the playground: the viewer with an editor, and a simulation in the page instead of a server. A model comes from the
 * link, from a file that is dropped or opened, or from the examples.
 */
import "./playground.css";
import { parseHash } from "../link.js";
import { addTab, app, connect, openPage, report, showStart, viewport } from "../page.js";
import { button, el } from "../ui/dom.js";
import { icon } from "../ui/icons.js";
import { Editor } from "./editor.js";
import { exampleFiles, EXAMPLES } from "./examples.js";
import { packModel, unpackModel } from "./share.js";
import { type Loaded, type Model, ModelError, Simulation } from "./simulation.js";

const FIRST = "double_pendulum.yaml";
const CHECK_MS = 400; // after the last key

const simulation = new Simulation();
const editor = new Editor(checkSoon, () => void run());
const choice = el("select", { "aria-label": "Example", onchange: () => choose(choice.value) });
let name = FIRST;
let files: Record<string, Uint8Array> = exampleFiles();
let timer = 0;
let round = 0; // of checks: an answer to an older one is none

const model = (): Model => ({ name, text: editor.text, files });

function showProblem(error: unknown): void {
	if (!(error instanceof ModelError)) return report(error);
	const here = error.file === null || error.file === name;
	editor.show({ message: error.message, line: here ? error.line : null, column: here ? error.column : null });
	editor.say("This text does not run yet.");
}

function showNotes({ notes }: Loaded, doing: string): void {
	editor.show(null);
	const parts = notes.slice(0, 4).map(({ place, text }) => (place ? `${place}: ${text}` : text));
	if (notes.length > 4) parts.push(`and ${notes.length - 4} more`);
	editor.say([doing, ...parts].join("\n"));
}

/** Runs the text from its start. */
async function run(): Promise<void> {
	window.clearTimeout(timer);
	round++;
	try {
		const loaded = await simulation.load(model());
		showNotes(loaded, `${name} runs.`);
		connect(() => simulation.open());
	} catch (error) {
		showProblem(error);
		if (!app.replay) showStart("This model does not run", (error as Error).message, false);
	}
}

async function check(): Promise<void> {
	const mine = ++round;
	try {
		const loaded = await simulation.check(model());
		if (mine === round) showNotes(loaded, "This text is right. Run it with Ctrl+Enter.");
	} catch (error) {
		if (mine === round) showProblem(error);
	}
}

function checkSoon(): void {
	window.clearTimeout(timer);
	timer = window.setTimeout(() => void check(), CHECK_MS);
}

function open(from: string, text: string): Promise<void> {
	name = from;
	editor.text = text;
	if (!EXAMPLES.has(from) && ![...choice.options].some((option) => option.value === ""))
		choice.prepend(el("option", { value: "" }, "your own"));
	choice.value = EXAMPLES.get(from) === text ? from : "";
	return run();
}

function choose(example: string): void {
	const text = EXAMPLES.get(example);
	if (text !== undefined) void open(example, text);
}

/* ---- files --------------------------------------------------------------------------------- */

const MODELS = /\.(ya?ml|json|urdf|xml|mjcf|sdf)$/i;

/** The first model of them runs; the others are files that it may name. */
async function take(given: File[]): Promise<void> {
	const main = given.find((file) => MODELS.test(file.name));
	if (!main)
		return report(
			new Error("Drop a model: .yaml, .json, .urdf, .xml (MJCF) or .sdf, with the meshes that it names"),
		);
	try {
		for (const file of given) if (file !== main) files[file.name] = new Uint8Array(await file.arrayBuffer());
		await open(main.name, await main.text());
	} catch (error) {
		report(error);
	}
}

function askForModel(): void {
	const input = el("input", { type: "file", multiple: true, hidden: true });
	input.addEventListener("change", () => {
		const given = [...(input.files ?? [])];
		input.remove();
		if (given.length) void take(given);
	});
	input.addEventListener("cancel", () => input.remove());
	document.body.append(input);
	input.click();
}

async function convert(): Promise<void> {
	try {
		const text = await simulation.convert();
		await open(name.replace(/\.[a-z]+$/i, ".yaml").replace(/^.*\//, ""), text);
	} catch (error) {
		report(error);
	}
}

/* ---- the page ------------------------------------------------------------------------------ */

function panel(): HTMLElement {
	for (const example of EXAMPLES.keys()) choice.append(el("option", { value: example }, example));
	const tools = el(
		"div",
		{ class: "editor-tools" },
		choice,
		button("Open…", icon("file"), askForModel, { class: "button small outlined" }),
		button("As model file", null, () => void convert(), {
			class: "button small outlined",
			title: "Write the model that runs as a model file of Calder",
		}),
		button("Run", icon("play"), () => void run(), {
			class: "button small primary",
			title: "Run the text (Ctrl+Enter)",
		}),
	);
	return el("div", { class: "editor-panel" }, tools, editor.element);
}

async function begin(): Promise<void> {
	showStart("Calder playground", "Reading the library…", false);
	const shared = parseHash(location.hash).get("model");
	if (shared) {
		try {
			const given = await unpackModel(shared);
			return await open(given.name, given.text);
		} catch {
			viewport.message("The link holds no model that can be read");
		}
	}
	choose(FIRST);
}

addTab("Model", panel());
document.documentElement.dataset.playground = "true";
openPage({
	begin: () => void begin().catch(report),
	drop: (given) => void take(given),
	link: async () => `&model=${await packModel(name, editor.text)}`,
});
