// SPDX-License-Identifier: Apache-2.0
/*
 * hostile.mjs — the pendulum with names that try to be markup, scripts and formulas. If one of them does anything, the
 * page's title or the variable window.harmed says so.
 */
import { make as pendulum } from "./pendulum.mjs";

export const NAMES = {
	title: `</script><script>window.harmed = "title"</script>`,
	body: `<img src=x onerror="window.harmed='body'">`,
	group: `</div><svg onload="window.harmed='group'">`,
	node: `<script>window.harmed = "node"</script>`,
	joint: `"><iframe srcdoc="<script>parent.harmed='joint'</script>">`,
	signal: `=HYPERLINK("javascript:harm()","q") <b>bold</b>, "quoted"`,
	event: `<style>*{display:none}</style>`,
	badge: `&lt;b&gt; <marquee>`,
};

export function make() {
	const doc = pendulum();
	doc.title = NAMES.title;
	doc.model_name = `<base href="https://example.invalid/">`;
	doc.bodies[0].name = NAMES.body;
	doc.bodies[0].group = doc.bodies[1].group = NAMES.group;
	doc.bodies[0].nodes[0].name = NAMES.node;
	doc.joints[0].name = NAMES.joint;
	doc.signals[0].name = NAMES.signal;
	doc.signals[0].unit = "<i>rad</i>";
	doc.signals[0].about = { kind: "joint", name: NAMES.joint };
	doc.badges[0].label = NAMES.badge;
	doc.events = [{ t: 4, name: NAMES.event, text: `<a href="javascript:window.harmed=1">click</a>` }];
	return doc;
}
