// SPDX-License-Identifier: Apache-2.0
/*
 * wasi.js — as much of the WebAssembly System Interface (preview 1) as the module asks for: files that are in memory and are only
 * read, standard output and error, clocks, random numbers. Everything else is "not supported". It runs in pages, in workers
 * and in Node; nothing of the machine is reached.
 */

const SUCCESS = 0, BADF = 8, INVAL = 28, ISDIR = 31, NOENT = 44, NOSYS = 52, NOTDIR = 54, ROFS = 69, SPIPE = 70;
const DIRECTORY = 3, REGULAR = 4, CHARACTER = 2; // types of files
const CREATE = 1, WANT_DIRECTORY = 2, TRUNCATE = 8; // what path_open is asked for
const ROOT = 3; // the only folder that is open at the start

/** Thrown by proc_exit. */
export class Exit extends Error {
	/** @param {number} code */
	constructor(code) {
		super(`exit code ${code}`);
		this.code = code;
	}
}

/**
 * The parts of a path that count.
 * @param {string} path
 */
export function normalize(path) {
	/** @type {string[]} */
	const parts = [];
	for (const part of path.split("/")) {
		if (part === "..") parts.pop();
		else if (part !== "" && part !== ".") parts.push(part);
	}
	return parts.join("/");
}

export class Wasi {
	/**
	 * @param {{
	 *   args?: string[],
	 *   files?: Map<string, Uint8Array>,
	 *   write?: (descriptor: number, bytes: Uint8Array) => void,
	 * }} options args: of a program, its name first; files: by their paths; write: takes what goes to 1 and 2
	 */
	constructor({ args = [], files = new Map(), write = () => {} } = {}) {
		this.args = args.map((text) => new TextEncoder().encode(`${text}\0`));
		/** @type {Map<string, Uint8Array>} */
		this.files = new Map();
		/** How many files are in a folder, with those of its folders. @type {Map<string, number>} */
		this.folders = new Map([["", 0]]);
		this.write = write;
		/** @type {Map<number, {path: string, bytes: Uint8Array | null, at: number}>} */
		this.open = new Map([[ROOT, { path: "", bytes: null, at: 0 }]]);
		this.next = ROOT + 1;
		/** @type {WebAssembly.Memory | null} */
		this.memory = null;
		for (const [path, bytes] of files) this.add(path, bytes);
	}

	/**
	 * @param {string} path
	 * @param {Uint8Array} bytes
	 */
	add(path, bytes) {
		const name = normalize(path);
		this.files.set(name, bytes);
		for (let slash = name.indexOf("/"); slash >= 0; slash = name.indexOf("/", slash + 1))
			this.folders.set(name.slice(0, slash), 1);
	}

	/**
	 * What a module imports.
	 * @param {WebAssembly.Module} module
	 * @returns {WebAssembly.Imports}
	 */
	imports(module) {
		/** @type {Record<string, Function>} */
		const functions = {};
		const known = this.functions();
		for (const { module: from, name } of WebAssembly.Module.imports(module)) {
			if (from !== "wasi_snapshot_preview1") throw new Error(`the module imports ${from}.${name}`);
			functions[name] = known[name] ?? (() => NOSYS);
		}
		return { wasi_snapshot_preview1: /** @type {WebAssembly.ModuleImports} */ (functions) };
	}

	view() {
		return new DataView(/** @type {WebAssembly.Memory} */ (this.memory).buffer);
	}

	/**
	 * @param {number} at
	 * @param {number} length
	 */
	bytes(at, length) {
		return new Uint8Array(/** @type {WebAssembly.Memory} */ (this.memory).buffer, at, length);
	}

	/**
	 * @param {number} list
	 * @param {number} count
	 */
	*pieces(list, count) {
		for (let i = 0; i < count; i++) {
			const view = this.view();
			yield this.bytes(view.getUint32(list + 8 * i, true), view.getUint32(list + 8 * i + 4, true));
		}
	}

	/**
	 * @param {number} descriptor of the folder
	 * @param {number} at
	 * @param {number} length
	 */
	path(descriptor, at, length) {
		const folder = this.open.get(descriptor);
		const name = new TextDecoder().decode(this.bytes(at, length).slice());
		return folder ? normalize(`${folder.path}/${name}`) : null;
	}

	/**
	 * @param {number} out
	 * @param {number} type
	 * @param {number} size
	 */
	putStatus(out, type, size) {
		const view = this.view();
		for (let i = 0; i < 64; i += 8) view.setBigUint64(out + i, 0n, true);
		view.setUint8(out + 16, type);
		view.setBigUint64(out + 24, 1n, true);
		view.setBigUint64(out + 32, BigInt(size), true);
		return SUCCESS;
	}

	/**
	 * @param {string} path
	 * @param {number} out
	 */
	putStatusOf(path, out) {
		const bytes = this.files.get(path);
		if (bytes) return this.putStatus(out, REGULAR, bytes.length);
		return this.folders.has(path) ? this.putStatus(out, DIRECTORY, 0) : NOENT;
	}

	/**
	 * @param {number} descriptor
	 * @param {number} list
	 * @param {number} count
	 * @param {number} out
	 * @param {number | null} offset null: where it is now, which moves on
	 */
	read(descriptor, list, count, out, offset) {
		const file = this.open.get(descriptor);
		let total = 0;
		if (descriptor === 0) {
			this.view().setUint32(out, 0, true);
			return SUCCESS;
		}
		if (!file) return BADF;
		if (!file.bytes) return ISDIR;
		let at = offset ?? file.at;
		for (const piece of this.pieces(list, count)) {
			const part = file.bytes.subarray(at, at + piece.length);
			piece.set(part);
			at += part.length;
			total += part.length;
			if (part.length < piece.length) break;
		}
		if (offset === null) file.at = at;
		this.view().setUint32(out, total, true);
		return SUCCESS;
	}

	/** @returns {Record<string, (...values: any[]) => number>} */
	functions() {
		return {
			args_sizes_get: (count, size) => {
				this.view().setUint32(count, this.args.length, true);
				this.view().setUint32(size, this.args.reduce((sum, text) => sum + text.length, 0), true);
				return SUCCESS;
			},
			args_get: (list, texts) => {
				this.args.forEach((text, i) => {
					this.view().setUint32(list + 4 * i, texts, true);
					this.bytes(texts, text.length).set(text);
					texts += text.length;
				});
				return SUCCESS;
			},
			environ_sizes_get: (count, size) => {
				this.view().setUint32(count, 0, true);
				this.view().setUint32(size, 0, true);
				return SUCCESS;
			},
			environ_get: () => SUCCESS,
			clock_time_get: (clock, _precision, out) => {
				const ms = clock === 0 ? Date.now() : performance.now();
				this.view().setBigUint64(out, BigInt(Math.round(ms * 1e6)), true);
				return SUCCESS;
			},
			random_get: (at, length) => {
				crypto.getRandomValues(this.bytes(at, length));
				return SUCCESS;
			},
			proc_exit: (code) => {
				throw new Exit(code);
			},
			sched_yield: () => SUCCESS,
			fd_close: (descriptor) => (this.open.delete(descriptor) ? SUCCESS : BADF),
			fd_fdstat_get: (descriptor, out) => {
				const file = this.open.get(descriptor);
				if (!file && descriptor > 2) return BADF;
				const view = this.view();
				view.setBigUint64(out, 0n, true);
				view.setUint8(out, file ? (file.bytes ? REGULAR : DIRECTORY) : CHARACTER);
				view.setBigUint64(out + 8, (1n << 30n) - 1n, true);
				view.setBigUint64(out + 16, (1n << 30n) - 1n, true);
				return SUCCESS;
			},
			fd_fdstat_set_flags: () => SUCCESS,
			fd_filestat_get: (descriptor, out) => {
				const file = this.open.get(descriptor);
				if (file) return this.putStatus(out, file.bytes ? REGULAR : DIRECTORY, file.bytes?.length ?? 0);
				return descriptor <= 2 ? this.putStatus(out, CHARACTER, 0) : BADF;
			},
			fd_prestat_get: (descriptor, out) => {
				if (descriptor !== ROOT) return BADF;
				this.view().setUint32(out, 0, true);
				this.view().setUint32(out + 4, 1, true);
				return SUCCESS;
			},
			fd_prestat_dir_name: (descriptor, at, length) => {
				if (descriptor !== ROOT || length < 1) return INVAL;
				this.bytes(at, 1)[0] = 0x2f;
				return SUCCESS;
			},
			fd_read: (descriptor, list, count, out) => this.read(descriptor, list, count, out, null),
			fd_pread: (descriptor, list, count, offset, out) => this.read(descriptor, list, count, out, Number(offset)),
			fd_seek: (descriptor, offset, whence, out) => {
				const file = this.open.get(descriptor);
				if (!file) return descriptor <= 2 ? SPIPE : BADF;
				const from = whence === 0 ? 0 : whence === 1 ? file.at : (file.bytes?.length ?? 0);
				const at = from + Number(offset);
				if (at < 0) return INVAL;
				file.at = at;
				this.view().setBigUint64(out, BigInt(at), true);
				return SUCCESS;
			},
			fd_write: (descriptor, list, count, out) => {
				if (descriptor !== 1 && descriptor !== 2) return BADF;
				let total = 0;
				for (const piece of this.pieces(list, count)) {
					this.write(descriptor, piece.slice());
					total += piece.length;
				}
				this.view().setUint32(out, total, true);
				return SUCCESS;
			},
			path_filestat_get: (descriptor, _flags, at, length, out) => {
				const path = this.path(descriptor, at, length);
				return path === null ? BADF : this.putStatusOf(path, out);
			},
			path_open: (descriptor, _look, at, length, wanted, _rights, _inherited, _flags, out) => {
				const path = this.path(descriptor, at, length);
				if (path === null) return BADF;
				const bytes = this.files.get(path) ?? null;
				if (!bytes && !this.folders.has(path)) return wanted & CREATE ? ROFS : NOENT;
				if (bytes && wanted & WANT_DIRECTORY) return NOTDIR;
				if (wanted & TRUNCATE) return ROFS;
				this.open.set(this.next, { path, bytes, at: 0 });
				this.view().setUint32(out, this.next++, true);
				return SUCCESS;
			},
		};
	}
}

/**
 * Runs a program with a main function; returns its exit code.
 * @param {WebAssembly.Module} module
 * @param {Wasi} wasi
 */
export async function runProgram(module, wasi) {
	const instance = await WebAssembly.instantiate(module, wasi.imports(module));
	wasi.memory = /** @type {WebAssembly.Memory} */ (instance.exports.memory);
	try {
		/** @type {() => void} */ (instance.exports._start)();
		return 0;
	} catch (error) {
		if (error instanceof Exit) return error.code;
		throw error;
	}
}
