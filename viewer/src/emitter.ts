// SPDX-License-Identifier: Apache-2.0
/*
 * emitter.ts — who wants to know of what. Listeners are called in the order in which they came.
 */

export class Emitter<Name extends string> {
	private readonly listeners = new Map<Name, (() => void)[]>();

	on(name: Name, listener: () => void): void {
		const list = this.listeners.get(name);
		if (list) list.push(listener);
		else this.listeners.set(name, [listener]);
	}

	emit(name: Name): void {
		const list = this.listeners.get(name);
		if (list) for (let i = 0; i < list.length; i++) list[i]!();
	}
}
