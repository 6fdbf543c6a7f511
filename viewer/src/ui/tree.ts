// SPDX-License-Identifier: Apache-2.0
/*
 * tree.ts — the scene tree: groups, bodies under their parents as of the time shown, nodes and joints under their
 * bodies, loops. A search lists what matches, with where it is.
 */
import type { App } from "../app.js";
import { sameSelection, type Selection } from "../selection.js";
import { button, el, setAttribute, setText } from "./dom.js";
import { icon, type IconName } from "./icons.js";
import { VirtualList, type Row } from "./list.js";

interface TreeRow extends Row {
	kind: "group" | "body" | "node" | "joint" | "loop";
	name: string;
	detail: string;
	selection: Selection | null;
	bodies: number[]; // that hiding acts on
}

const ICONS: Record<TreeRow["kind"], IconName> = {
	group: "group",
	body: "cube",
	node: "node",
	joint: "joint",
	loop: "loopIcon",
};

export class Tree {
	readonly element: HTMLElement;
	private readonly app: App;
	private readonly list: VirtualList<TreeRow>;
	private readonly input: HTMLInputElement;
	private readonly count = el("span", { class: "count", role: "status" });
	private readonly closed = new Set<string>();
	private readonly listed = { joint: true, node: false };
	private all: TreeRow[] = [];

	constructor(app: App) {
		this.app = app;
		this.list = new VirtualList("Scene", {
			fill: (element, row) => this.fill(element, row),
			activate: (row) => this.activate(row),
			toggle: (row) => this.toggle(row),
			key: (event, row) => this.key(event, row),
		});
		this.input = el("input", {
			type: "search",
			placeholder: "Search bodies, nodes, joints",
			"aria-label": "Search the scene",
			id: "tree-search",
			oninput: () => this.show(),
		});
		const tools = el(
			"div",
			{ class: "tree-tools" },
			this.count,
			this.filter("joint", "Joints"),
			this.filter("node", "Nodes"),
			button("Show all", null, () => app.showAll(), { class: "button small", title: "Show all bodies (U)" }),
		);
		this.element = el(
			"div",
			{ class: "side-page" },
			el("div", { class: "search" }, icon("search"), this.input),
			tools,
			this.list.element,
		);
		app.on("replay", () => {
			this.closed.clear();
			this.input.value = "";
			this.show();
		});
		app.on("topology", () => this.show());
		app.on("visibility", () => this.refresh());
		app.on("selection", () => this.reveal());
	}

	focusSearch(): void {
		this.input.focus();
		this.input.select();
	}

	private filter(kind: "joint" | "node", label: string): HTMLElement {
		const toggle = button(
			label,
			null,
			() => {
				this.listed[kind] = !this.listed[kind];
				toggle.setAttribute("aria-pressed", String(this.listed[kind]));
				this.show();
			},
			{
				class: "button small",
				"aria-pressed": String(this.listed[kind]),
				title: `List ${label.toLowerCase()} in the tree`,
			},
		);
		return toggle;
	}

	/* ---- rows -------------------------------------------------------------------------- */

	private show(): void {
		const { replay, view } = this.app;
		if (!replay || !view) return;
		const words = this.input.value.trim().toLowerCase();
		this.all = this.build(words !== "");
		const rows = words ? this.matches(words) : this.visible();
		this.list.setRows(rows);
		const bodies = replay.bodies.length - 1;
		setText(this.count, words ? `${rows.length} found` : `${bodies} ${bodies === 1 ? "body" : "bodies"}`);
	}

	private refresh(): void {
		this.list.refresh();
	}

	/** All rows in order, whether their parents are open or not. */
	private build(everything: boolean): TreeRow[] {
		const { replay, view } = this.app;
		const { parent, group } = view!.sample;
		const ground = replay!.bodies.length - 1;
		const children = new Map<number, number[]>();
		const roots = new Map<string, number[]>();
		for (let i = 0; i < ground; i++) {
			const p = parent[i]!;
			if (p === ground || p < 0 || group[p] !== group[i]) push(roots, group[i]!, i);
			else push(children, p, i);
		}
		const rows: TreeRow[] = [];
		const joints = new Map<number, number[]>();
		// A weld without signals says nothing that the tree does not say; a search finds it.
		const measured = new Set(replay!.signals.filter((s) => s.kind === "joint").map((s) => s.about));
		for (const { to, index, type, name } of replay!.joints)
			if (everything || type !== "weld" || measured.has(name)) push(joints, to.body, index);
		for (const [name, top] of roots) {
			const at = rows.length;
			rows.push(this.row("group", `group:${name}`, 0, name || "Bodies", "", null, []));
			for (const body of top) this.addBody(rows, body, 1, children, joints);
			rows[at]!.bodies = rows
				.slice(at + 1)
				.filter((r) => r.kind === "body")
				.map((r) => r.bodies[0]!);
			rows[at]!.detail = String(rows[at]!.bodies.length);
		}
		this.addGround(rows, ground);
		this.addLoops(rows);
		const kept = everything
			? rows
			: rows.filter((r) => (r.kind !== "joint" && r.kind !== "node") || this.listed[r.kind]);
		return this.markParents(kept);
	}

	private row(
		kind: TreeRow["kind"],
		key: string,
		level: number,
		name: string,
		detail: string,
		selection: Selection | null,
		bodies: number[],
	): TreeRow {
		return { kind, key, level, name, detail, selection, bodies, children: false, expanded: false };
	}

	// By a stack of its own: a chain may be longer than the language's.
	private addBody(
		rows: TreeRow[],
		root: number,
		level: number,
		children: Map<number, number[]>,
		joints: Map<number, number[]>,
	): void {
		const { replay } = this.app;
		const stack: [number, number][] = [[root, level]];
		const seen = new Set<number>();
		while (stack.length) {
			const [i, depth] = stack.pop()!;
			if (seen.has(i)) continue;
			seen.add(i);
			const body = replay!.bodies[i]!;
			rows.push(
				this.row(
					"body",
					`body:${i}`,
					depth,
					body.name,
					body.flexible ? "flexible" : "",
					{ kind: "body", body: i },
					[i],
				),
			);
			for (const j of joints.get(i) ?? []) {
				const joint = replay!.joints[j]!;
				rows.push(
					this.row("joint", `joint:${j}`, depth + 1, joint.name, joint.type, { kind: "joint", joint: j }, [
						i,
					]),
				);
			}
			this.addNodes(rows, i, depth + 1);
			for (const child of (children.get(i) ?? []).toReversed()) stack.push([child, depth + 1]);
		}
	}

	private addNodes(rows: TreeRow[], body: number, level: number): void {
		this.app.replay!.bodies[body]!.nodes.forEach((node, k) =>
			rows.push(
				this.row("node", `node:${body}:${k}`, level, node.name, "", { kind: "node", body, node: k }, [body]),
			),
		);
	}

	private addGround(rows: TreeRow[], ground: number): void {
		const { nodes, shapes } = this.app.replay!.bodies[ground]!;
		if (nodes.length + shapes.length === 0) return;
		rows.push(this.row("body", `body:${ground}`, 0, "ground", "", { kind: "body", body: ground }, [ground]));
		this.addNodes(rows, ground, 1);
	}

	private addLoops(rows: TreeRow[]): void {
		const { loops } = this.app.replay!;
		if (loops.length) rows.push(this.row("group", "loops", 0, "Loops", String(loops.length), null, []));
		for (const loop of loops)
			rows.push(
				this.row("loop", `loop:${loop.index}`, 1, loop.name, loop.type, { kind: "loop", joint: loop.index }, [
					loop.to.body,
				]),
			);
	}

	private markParents(rows: TreeRow[]): TreeRow[] {
		rows.forEach((row, i) => {
			row.children = (rows[i + 1]?.level ?? 0) > row.level;
			row.expanded = row.children && !this.closed.has(row.key);
		});
		return rows;
	}

	private visible(): TreeRow[] {
		let limit = Infinity;
		return this.all.filter((row) => {
			if (row.level > limit) return false;
			limit = row.children && !row.expanded ? row.level : Infinity;
			return true;
		});
	}

	private matches(words: string): TreeRow[] {
		const { bodies } = this.app.replay!;
		return this.all
			.filter((row) => row.name.toLowerCase().includes(words) || row.detail.toLowerCase() === words)
			.map((row) => {
				const on = row.kind === "node" || row.kind === "joint" ? bodies[row.bodies[0]!]!.name : row.detail;
				return { ...row, level: 0, children: false, detail: on };
			});
	}

	/* ---- what a row shows and does ------------------------------------------------------- */

	private fill(element: HTMLElement, row: TreeRow): void {
		const hidden = row.bodies.length > 0 && row.bodies.every((b) => this.app.view!.hidden[b]);
		setAttribute(element, "data-kind", row.kind);
		setAttribute(element, "data-hidden", String(hidden));
		setAttribute(
			element,
			"aria-selected",
			String(row.selection !== null && sameSelection(row.selection, this.app.selection)),
		);
		const twisty = el(
			"span",
			{
				class: "twisty",
				"aria-hidden": "true",
				onclick: (event) => {
					event.stopPropagation();
					this.toggle(row);
				},
			},
			row.children ? icon("chevron") : null,
		);
		const tools = row.kind === "body" || (row.kind === "group" && row.bodies.length) ? this.tools(row, hidden) : [];
		element.replaceChildren(
			twisty,
			this.mark(row),
			el("span", { class: "name", title: row.name }, row.name),
			el("span", { class: "detail" }, row.detail),
			...tools,
		);
	}

	private mark(row: TreeRow): Node {
		if (row.kind !== "body" || row.key === `body:${this.app.replay!.bodies.length - 1}`) {
			const drawn = icon(ICONS[row.kind]);
			drawn.classList.add("kind");
			return drawn;
		}
		const swatch = el("span", { class: "swatch" });
		const body = this.app.replay!.bodies[row.bodies[0]!]!;
		swatch.style.backgroundColor =
			body.flexible?.color ?? body.shapes[0]?.color ?? this.app.view!.bodyColor(body.index);
		return swatch;
	}

	private tools(row: TreeRow, hidden: boolean): Node[] {
		const act =
			(run: () => void) =>
			(event: MouseEvent): void => {
				event.stopPropagation();
				run();
			};
		const plain = { iconOnly: true, tabindex: "-1" };
		return [
			button(
				`Isolate ${row.name}`,
				icon("target"),
				act(() => this.app.isolate(row.bodies)),
				{ ...plain, class: "icon-button small isolate" },
			),
			button(
				`${hidden ? "Show" : "Hide"} ${row.name}`,
				icon(hidden ? "eyeOff" : "eye"),
				act(() => this.app.setHidden(row.bodies, !hidden)),
				{ ...plain, class: "icon-button small hide", "aria-pressed": String(hidden) },
			),
		];
	}

	private activate(row: TreeRow): void {
		if (row.selection) this.app.select(row.selection);
		else this.toggle(row);
	}

	private toggle(row: TreeRow): void {
		if (row.expanded) this.closed.add(row.key);
		else this.closed.delete(row.key);
		this.show();
	}

	private key(event: KeyboardEvent, row: TreeRow): boolean {
		const hidden = row.bodies.every((b) => this.app.view!.hidden[b]);
		switch (event.key.toLowerCase()) {
			case "h":
				this.app.setHidden(row.bodies, !hidden);
				return true;
			case "i":
				this.app.isolate(row.bodies);
				return true;
			default:
				return false;
		}
	}

	private reveal(): void {
		const { selection } = this.app;
		const row = this.all.find((r) => r.selection && sameSelection(r.selection, selection));
		if (row && !this.input.value) this.openAncestors(row);
		this.refresh();
		if (row) this.list.reveal(row.key);
	}

	private openAncestors(row: TreeRow): void {
		let level = row.level;
		let changed = false;
		for (let i = this.all.indexOf(row) - 1; i >= 0 && level > 0; i--) {
			const other = this.all[i]!;
			if (other.level >= level) continue;
			level = other.level;
			if (other.expanded) continue;
			this.closed.delete(other.key);
			changed = true;
		}
		if (changed) this.show();
	}
}

function push<K>(map: Map<K, number[]>, key: K, value: number): void {
	const list = map.get(key);
	if (list) list.push(value);
	else map.set(key, [value]);
}
