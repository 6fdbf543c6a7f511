// SPDX-License-Identifier: Apache-2.0
/*
 * modules.mjs — modules of the page in Node, for tests that need no browser.
 */
import { createServer } from "vite";

export async function startModules() {
	const vite = await createServer({
		configFile: false,
		root: new URL("..", import.meta.url).pathname,
		server: { middlewareMode: true, ws: false, watch: null },
		appType: "custom",
		logLevel: "error",
		optimizeDeps: { noDiscovery: true },
	});
	return { load: (path) => vite.ssrLoadModule(`/src/${path}`), close: () => vite.close() };
}
