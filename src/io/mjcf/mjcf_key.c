// SPDX-License-Identifier: Apache-2.0
/*
 * mjcf_key.c — the initial state: qpos0, or the keyframe "home" where the file has one.
 *
 * MuJoCo starts at qpos0, the pose of the file; keyframes are states to which a program may go. By convention "home" is where
 * a robot with position servos rests, with the inputs that hold it.
 */
#include <string.h>

#include "io/mjcf/mjcf_internal.h"

static bool allocate_state(Mjcf *m) {
	m->qpos = xml_array(m->im->tree, (size_t)m->nq + 1, sizeof *m->qpos);
	m->qvel = xml_array(m->im->tree, (size_t)m->nu + 1, sizeof *m->qvel);
	m->control = xml_array(m->im->tree, (size_t)m->lists[MJCF_ACTUATORS].count + 1, sizeof *m->control);
	for (int i = 0; i < m->lists[MJCF_BODIES].count; i++)
		m->mocap_count += mjcf_body(m, i)->is_mocap;
	m->mocap = xml_array(m->im->tree, 7 * (size_t)m->mocap_count + 1, sizeof *m->mocap);
	return (m->qpos && m->qvel && m->control && m->mocap) || import_no_memory(m->im);
}

static void set_pose(double q[7], CalPlacement p) {
	const double values[7] = {p.position.x,    p.position.y,    p.position.z,   p.orientation.w,
	                          p.orientation.x, p.orientation.y, p.orientation.z};
	memcpy(q, values, sizeof values);
}

static void set_qpos0(Mjcf *m) {
	for (int i = 0; i < m->lists[MJCF_JOINTS].count; i++) {
		const MjcfJoint *joint = mjcf_joint(m, i);
		double *q = m->qpos + joint->q_first;
		if (joint->a.type == MJCF_FREE) {
			set_pose(q, mjcf_body(m, joint->body)->pose);
		} else if (joint->a.type == MJCF_BALL) {
			q[0] = 1;
		} else {
			q[0] = joint->a.ref;
		}
	}
	int mocap = 0;
	for (int i = 0; i < m->lists[MJCF_BODIES].count; i++)
		if (mjcf_body(m, i)->is_mocap)
			set_pose(m->mocap + 7 * (size_t)mocap++, mjcf_body(m, i)->pose);
}

static bool read_vector(Mjcf *m, XmlElement *key, const char *attribute, double *values, int count) {
	int given;
	if (!xml_peek(key, attribute))
		return true;
	if (count == 0 && xml_peek(key, attribute)[0] == 0)
		return xml_get(key, attribute), true;
	return import_list(m->im, key, attribute, values, 0, count, &given);
}

/* MuJoCo takes quaternions of any length. */
static bool normalize_quaternion(Mjcf *m, const XmlElement *key, const char *attribute, double v[4]) {
	const MjcfOrientation turn = {MJCF_QUAT, {v[0], v[1], v[2], v[3]}};
	const CalQuat q = mjcf_quaternion(&m->file.compiler, &turn);
	if (!import_question_length(m->im, key, attribute, v, 4))
		return false;
	v[0] = q.w, v[1] = q.x, v[2] = q.y, v[3] = q.z;
	return true;
}

static bool normalize_quaternions(Mjcf *m, const XmlElement *key) {
	for (int i = 0; i < m->lists[MJCF_JOINTS].count; i++) {
		const MjcfJoint *joint = mjcf_joint(m, i);
		double *q = m->qpos + joint->q_first + (joint->a.type == MJCF_FREE ? 3 : 0);
		if (!mjcf_is_scalar(joint) && !normalize_quaternion(m, key, "qpos", q))
			return false;
	}
	for (int i = 0; i < m->mocap_count; i++)
		if (!normalize_quaternion(m, key, "mquat", m->mocap + 7 * (size_t)i + 3))
			return false;
	return true;
}

/* mpos and mquat: three and four numbers of each mocap body, over those that are there. */
static bool read_mocap(Mjcf *m, XmlElement *key, const char *attribute, int first, int size) {
	double *values = xml_array(m->im->tree, (size_t)size * (size_t)m->mocap_count + 1, sizeof *values);
	if (!values)
		return import_no_memory(m->im);
	for (int i = 0; i < size * m->mocap_count; i++)
		values[i] = m->mocap[7 * (i / size) + first + i % size];
	if (!read_vector(m, key, attribute, values, size * m->mocap_count))
		return false;
	for (int i = 0; i < size * m->mocap_count; i++)
		m->mocap[7 * (i / size) + first + i % size] = values[i];
	return true;
}

/* act: a number for each actuator with a state of its own. */
static bool read_activations(Mjcf *m, XmlElement *key) {
	const int actuators = m->lists[MJCF_ACTUATORS].count;
	double *values = xml_array(m->im->tree, (size_t)actuators + 1, sizeof *values);
	int count = 0, unsupported = 0;
	if (!values)
		return import_no_memory(m->im);
	for (int i = 0; i < actuators; i++) {
		count += mjcf_has_activation(&mjcf_actuator(m, i)->a);
		unsupported += mjcf_is_unsupported_actuator(mjcf_actuator(m, i)->object.element);
	}
	if (unsupported) // how many states they have is not known
		return !xml_get(key, "act") || import_note(m->im, CAL_IMPORT_CHANGED, key, "act", "activations start at 0");
	if (!read_vector(m, key, "act", values, count))
		return false;
	for (int i = 0; i < actuators; i++)
		if (mjcf_has_activation(&mjcf_actuator(m, i)->a))
			mjcf_actuator(m, i)->activation = *values++;
	return true;
}

static bool use_key(Mjcf *m, XmlElement *key) {
	m->by_key = true;
	if (!(read_vector(m, key, "qpos", m->qpos, m->nq) && read_vector(m, key, "qvel", m->qvel, m->nu) &&
	      read_vector(m, key, "ctrl", m->control, m->lists[MJCF_ACTUATORS].count) && read_activations(m, key) &&
	      read_mocap(m, key, "mpos", 0, 3) && read_mocap(m, key, "mquat", 3, 4)))
		return false;
	return normalize_quaternions(m, key) &&
	       import_note(m->im, CAL_IMPORT_ASSUMED, key, NULL,
	                   "the run starts at the keyframe \"home\"; its ctrl is the constant input of the actuators");
}

bool mjcf_read_keyframes(Mjcf *m) {
	if (!allocate_state(m))
		return false;
	set_qpos0(m);
	for (XmlElement *frames = xml_child(m->file.root, "keyframe"); frames; frames = xml_again(frames))
		for (XmlElement *key = xml_child(frames, "key"); key; key = xml_again(key)) {
			const char *name = xml_get(key, "name");
			if (name && strcmp(name, "home") == 0 && !m->by_key) {
				if (!use_key(m, key))
					return false;
			} else if (!import_ignore(m->im, key, "the run starts at %s; to start at this keyframe, call it \"home\"",
			                          m->by_key ? "the keyframe \"home\"" : "qpos0, the pose of the file")) {
				return false;
			}
		}
	return true;
}
