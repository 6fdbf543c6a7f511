// SPDX-License-Identifier: Apache-2.0
/*
 * live_server.mjs — a small server that speaks the live protocol of docs/replay.md, for tests.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { WebSocketServer } from "ws";
import { make as pendulum } from "../sample/pendulum.mjs";
import { turn } from "../sample/pack.mjs";
import { PATIENCE } from "./browser.mjs";

function liveDocument() {
	const { frames: _, ghost: __, badges: ___, ...doc } = pendulum();
	for (const signal of doc.signals) delete signal.values;
	doc.title = "Live pendulum";
	doc.joints[0].dofs = [{ name: "angle", unit: "rad", min: -2, max: 2, value: 0, command: true }];
	doc.arrows = [{ name: "pull", kind: "force" }];
	doc.bodies[1].flexible = {
		frequencies: [3],
		points: [
			[0, 0, 0],
			[0, 0, -1],
		],
		lines: [[0, 1]],
		shapes: [
			[
				[0, 0, 0],
				[1, 0, 0],
			],
		],
	};
	doc.badges = [{ label: "Energy drift", unit: "J", good: 1e-8, signal: 2 }];
	doc.live = {
		force_per_meter: 250,
		parameters: [
			{ name: "device:motor.proportional", unit: "N m/rad", value: 20, low: 0 },
			{ name: "device:motor.integral", unit: "", value: 0, low: 0, fixed: "it is 0 in the model: there is none" },
			{ name: "body:upper.mass", unit: "kg", value: 2, low: 0 },
			{ name: "group:main.gravity.z", unit: "m/s^2", value: -9.81 },
		],
	};
	return doc;
}

/** One tick, byte by byte as docs/replay.md says. */
export function tick(sequence, t) {
	const signals = [0.3 * Math.sin(t), 0.1, 1e-10],
		a = 0.3 * Math.sin(t);
	const poses = [0, 0, 0, ...turn(0, -1, 0, a), Math.sin(a), 0, -Math.cos(a), ...turn(0, -1, 0, a)];
	const eta = [0.2 * Math.sin(5 * t)],
		arrows = [0, 0, -1, 3, 0, 0];
	const buffer = Buffer.alloc(16 + 8 * signals.length + 4 * (poses.length + eta.length + arrows.length));
	buffer.writeUInt32LE(0x4b435443, 0);
	buffer.writeUInt32LE(sequence, 4);
	buffer.writeDoubleLE(t, 8);
	signals.forEach((v, i) => buffer.writeDoubleLE(v, 16 + 8 * i));
	[...poses, ...eta, ...arrows].forEach((v, i) => buffer.writeFloatLE(v, 16 + 8 * signals.length + 4 * i));
	return buffer;
}

export class Server {
	commands = [];
	clients = new Set();
	sequence = 0;
	t = 0;

	async start(port = 0) {
		const html = readFileSync(new URL("../dist/viewer.html", import.meta.url));
		this.http = createServer((request, response) => {
			const found = request.url === "/";
			response.writeHead(found ? 200 : 404, { "content-type": "text/html; charset=utf-8" });
			response.end(found ? html : "");
		});
		this.sockets = new WebSocketServer({ server: this.http, path: "/live" });
		this.sockets.on("connection", (socket) => {
			this.clients.add(socket);
			socket.on("message", (data, binary) => binary || this.commands.push(JSON.parse(data.toString())));
			socket.on("close", () => this.clients.delete(socket));
			socket.send(JSON.stringify({ document: liveDocument() }));
			socket.send(JSON.stringify({ state: { running: true, speed: 1, real_time_factor: 1 } }));
		});
		await new Promise((done) => this.http.listen(port, "127.0.0.1", done));
		this.port = this.http.address().port;
		return this;
	}

	get url() {
		return `http://127.0.0.1:${this.port}/`;
	}

	send(message) {
		for (const socket of this.clients) socket.send(Buffer.isBuffer(message) ? message : JSON.stringify(message));
	}

	run() {
		this.timer = setInterval(() => {
			this.t += 0.02;
			this.send(tick(this.sequence++, this.t));
		}, 20);
	}

	hold() {
		clearInterval(this.timer);
	}

	/** The first command of that name that is as wanted, once it has come. */
	async command(name, wanted = () => true) {
		for (let i = 0; i < PATIENCE / 20; i++) {
			const found = this.commands.find((c) => c.command === name && wanted(c));
			if (found) return found;
			await new Promise((done) => setTimeout(done, 20));
		}
		return assert.fail(`no such command ${name}; came: ${JSON.stringify(this.commands)}`);
	}

	async stop() {
		this.hold();
		if (!this.http.listening) return;
		for (const socket of this.clients) socket.terminate();
		this.sockets.close();
		this.http.closeAllConnections();
		await new Promise((done) => this.http.close(done));
	}
}
