// SPDX-License-Identifier: Apache-2.0
// Reference dynamics of MuJoCo for tools/check_mujoco: node check_mujoco.mjs PACKAGE trees|forces FILE...
//
// trees: NAME.ref.json beside each FILE in the layout of docs/import.md#references, NAME that of its folder.
// forces: a random keyframe "home" is added to each FILE, and FILE.json gets the accelerations there, without contact, limits
// and dry friction. A file that MuJoCo refuses is named on stdout.
import fs from 'fs';
import path from 'path';
import { pathToFileURL } from 'url';

const [packageFile, what, ...files] = process.argv.slice(2);
const mujoco = await (await import(pathToFileURL(packageFile))).default();
const [BODY, JOINT, FREE, BALL] = [1, 3, 0, 1];
const disable = mujoco.mjtDisableBit;
const NO_CONSTRAINTS = [disable.mjDSBL_CONTACT, disable.mjDSBL_LIMIT, disable.mjDSBL_FRICTIONLOSS];
const NO_FORCES = [disable.mjDSBL_CONSTRAINT, disable.mjDSBL_SPRING, disable.mjDSBL_DAMPER, disable.mjDSBL_ACTUATION];

let state = 1;
function uniform(most) {
	state = (state * 1103515245 + 12345) % 2147483648;
	return (2 * state / 2147483648 - 1) * most;
}

function flags(bits) {
	return bits.reduce((all, bit) => all | Number(bit.value), 0);
}

function randomCoordinates(model) {
	const q = Array.from(model.qpos0, () => uniform(1.5));
	for (let j = 0; j < model.njnt; j++) {
		const type = Number(model.jnt_type[j]);
		if (type !== FREE && type !== BALL) continue;
		const first = model.jnt_qposadr[j] + (type === FREE ? 3 : 0);
		const length = Math.hypot(...q.slice(first, first + 4));
		for (let i = first; i < first + 4; i++) q[i] /= length;
	}
	return q;
}

function randomSpeeds(count, most = 1) {
	return Array.from({ length: count }, () => uniform(most));
}

function rowsOf(values, size) {
	return Array.from({ length: values.length / size }, (_, i) => Array.from(values.slice(size * i, size * (i + 1))));
}

function lowerTriangle(model, data) {
	const buffer = new mujoco.DoubleBuffer(model.nv * model.nv);
	mujoco.mj_fullM(model, data, buffer);
	const rows = rowsOf(buffer.GetView(), model.nv).map((row, i) => row.slice(0, i + 1));
	buffer.delete();
	return rows;
}

function centerOfMass(model, data) {
	const total = model.body_mass.reduce((sum, mass) => sum + mass, 0);
	return [0, 1, 2].map((k) => model.body_mass.reduce((sum, mass, b) => sum + mass * data.xipos[3 * b + k], 0) / total);
}

function describe(model, data) {
	mujoco.mj_forward(model, data);
	return {
		qpos: Array.from(data.qpos), qvel: Array.from(data.qvel), tau: Array.from(data.qfrc_applied),
		qacc: Array.from(data.qacc), bias: Array.from(data.qfrc_bias), M_lower: lowerTriangle(model, data),
		com: centerOfMass(model, data), xpos: rowsOf(data.xpos, 3), xquat: rowsOf(data.xquat, 4),
	};
}

function jointsOf(model) {
	return Array.from({ length: model.njnt }, (_, j) => ({
		name: mujoco.mj_id2name(model, JOINT, j) || '', type: ['free', 'ball', 'slide', 'hinge'][Number(model.jnt_type[j])],
		qadr: model.jnt_qposadr[j], vadr: model.jnt_dofadr[j],
	}));
}

function writeTrees(file) {
	const model = mujoco.MjModel.from_xml_string(fs.readFileSync(file, 'utf8')), data = new mujoco.MjData(model);
	model.opt.disableflags = flags(NO_FORCES);
	[0, 0, -9.81].forEach((g, i) => { model.opt.gravity[i] = g; });
	const home = describe(model, data);
	const states = [1, 2, 3].map(() => {
		data.qpos.set(randomCoordinates(model));
		data.qvel.set(randomSpeeds(model.nv));
		data.qfrc_applied.set(randomSpeeds(model.nv));
		return describe(model, data);
	});
	const bodies = Array.from({ length: model.nbody }, (_, b) => ({ name: mujoco.mj_id2name(model, BODY, b) || '' }));
	const folder = path.dirname(file);
	fs.writeFileSync(path.join(folder, `${path.basename(folder)}.ref.json`), JSON.stringify({
		file: path.basename(file), counts: { nq: model.nq, nv: model.nv }, settings: { gravity: [0, 0, -9.81] },
		total_mass: model.body_mass.reduce((sum, mass) => sum + mass, 0), bodies, joints: jointsOf(model),
		qpos0: Array.from(model.qpos0), home, states,
	}));
	data.delete();
	model.delete();
}

function withKeyframe(text) {
	const model = mujoco.MjModel.from_xml_string(text);
	const values = { qpos: randomCoordinates(model), qvel: randomSpeeds(model.nv), ctrl: randomSpeeds(model.nu, 2),
		act: randomSpeeds(model.na) };
	const attributes = Object.entries(values).map(([name, v]) => (v.length ? ` ${name}="${v.join(' ')}"` : ''));
	model.delete();
	return text.replace('</mujoco>', `<keyframe><key name="home"${attributes.join('')}/></keyframe></mujoco>`);
}

function writeForces(file) {
	const text = withKeyframe(fs.readFileSync(file, 'utf8'));
	const model = mujoco.MjModel.from_xml_string(text), data = new mujoco.MjData(model);
	fs.writeFileSync(file, text);
	mujoco.mj_resetDataKeyframe(model, data, 0);
	model.opt.disableflags = flags(NO_CONSTRAINTS);
	mujoco.mj_forward(model, data);
	fs.writeFileSync(`${file}.json`, JSON.stringify({ joints: jointsOf(model), qacc: Array.from(data.qacc) }));
	data.delete();
	model.delete();
}

for (const file of files) {
	try {
		(what === 'trees' ? writeTrees : writeForces)(file);
	} catch (error) {
		console.log(`${file}: ${String(error.message || error).trim().replace(/\s+/g, ' ')}`);
	}
}
