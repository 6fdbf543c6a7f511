// SPDX-License-Identifier: Apache-2.0
/*
 * joint.c — the list of joint types, and what follows from it for a joint of any type.
 */
#include <stdio.h>
#include <string.h>

#include "joint/joint_type.h"

static const JointType *const joint_types[CAL_JOINT_TYPE_COUNT] = {
#define JOINT_TYPE_ENTRY(type, name) [type] = &joint_##name,
	CAL_JOINT_TYPE_LIST(JOINT_TYPE_ENTRY)
#undef JOINT_TYPE_ENTRY
};

static int is_in_list(CalJointType type) { return (int)type >= 0 && type < CAL_JOINT_TYPE_COUNT; }

const JointType *joint_type(CalJointType type) { return is_in_list(type) ? joint_types[type] : NULL; }

const char *cal_joint_type_name(CalJointType type) {
	static const char *const names[CAL_JOINT_TYPE_COUNT] = {
#define JOINT_TYPE_NAME(type, name) [type] = #name,
		CAL_JOINT_TYPE_LIST(JOINT_TYPE_NAME)
#undef JOINT_TYPE_NAME
	};
	return is_in_list(type) ? names[type] : NULL;
}

/* ---- what types can do --------------------------------------------------------------------------- */

int joint_type_is_element(const JointType *type) { return type->element != PRIMITIVE_FIXED; }
int joint_type_is_loop(const JointType *type) { return type->as_loop != NULL; }

CalJointType joint_type_of_element(JointPrimitive motion) {
	int type = 0;
	while (type < CAL_JOINT_TYPE_COUNT && joint_types[type]->element != motion)
		++type;
	return (CalJointType)type;
}

const char *joint_type_list(JointTypeTest has, char *text, size_t size) {
	int left = 0;
	size_t used = 0;
	for (int i = 0; i < CAL_JOINT_TYPE_COUNT; ++i)
		left += has(joint_types[i]) != 0;
	text[0] = '\0';
	for (int i = 0; i < CAL_JOINT_TYPE_COUNT; ++i) {
		if (!has(joint_types[i]) || used >= size)
			continue;
		--left;
		const char *end = left > 1 ? ", " : left == 1 ? " and " : "";
		used += (size_t)snprintf(text + used, size - used, "%s%s", cal_joint_type_name((CalJointType)i), end);
	}
	return text;
}

/* Angles and lengths alone: then reversal changes neither axes nor order. */
static int keeps_coordinates(const JointType *type) {
	JointElement element[CAL_JOINT_MAX_DOF];
	if (!type->commutes || type->uses & (CAL_JOINT_USES_ELEMENTS | CAL_JOINT_USES_OPS))
		return 0;
	const int count = type->elements(&(CalJointDef){.axis = {0, 0, 1}, .axis2 = {1, 0, 0}}, element);
	for (int i = 0; i < count; ++i) {
		if (primitive_q_count(element[i].motion, NULL) != primitive_u_count(element[i].motion, NULL))
			return 0;
	}
	return 1;
}

CalStatus cal_joint_type_info(CalJointType type, CalJointTypeInfo *info) {
	const JointType *t = joint_type(type);
	if (!t || !info)
		return CAL_ERR_ARGUMENT;
	*info = (CalJointTypeInfo){.coordinates = t->coordinates,
	                           .speeds = t->speeds,
	                           .uses = t->uses,
	                           .elementary = joint_type_is_element(t),
	                           .reversible = keeps_coordinates(t),
	                           .coordinate_names = t->coordinate_names,
	                           .speed_names = t->speed_names};
	return CAL_OK;
}

/* ---- elements ------------------------------------------------------------------------------------ */

int joint_elements(const CalJointDef *def, JointElement element[CAL_JOINT_MAX_DOF]) {
	return joint_types[def->type]->elements(def, element);
}

int joint_one_element(JointPrimitive motion, const CalJointDef *def, JointElement element[CAL_JOINT_MAX_DOF]) {
	element[0] = (JointElement){motion, def->axis, 0};
	return 1;
}

int joint_coordinate_count(const CalJointDef *def) {
	JointElement element[CAL_JOINT_MAX_DOF];
	const int count = joint_elements(def, element);
	int nq = 0;
	for (int i = 0; i < count; ++i)
		nq += primitive_q_count(element[i].motion, def->ops);
	return nq;
}

int joint_speed_count(const CalJointDef *def) {
	JointElement element[CAL_JOINT_MAX_DOF];
	const int count = joint_elements(def, element);
	int nu = 0;
	for (int i = 0; i < count; ++i)
		nu += primitive_u_count(element[i].motion, def->ops);
	return nu;
}

/* Speeds of one element that are rates of the coordinates with the same number. */
static int plain_speeds(JointPrimitive motion, const CalJointOps *ops) {
	if (motion == PRIMITIVE_SPHERICAL)
		return 0;
	if (motion == PRIMITIVE_USER)
		return ops->nq == ops->nu && !ops->integrate && !ops->rate ? ops->nu : 0;
	return motion == PRIMITIVE_FREE ? 3 : primitive_u_count(motion, ops);
}

int joint_coordinate_of(const CalJointDef *def, int dof) {
	JointElement element[CAL_JOINT_MAX_DOF];
	const int count = joint_elements(def, element);
	int q = 0;
	for (int i = 0; i < count; ++i) {
		const int nu = primitive_u_count(element[i].motion, def->ops);
		if (dof < nu)
			return dof < plain_speeds(element[i].motion, def->ops) ? q + dof : -1;
		dof -= nu;
		q += primitive_q_count(element[i].motion, def->ops);
	}
	return -1;
}

/* ---- names --------------------------------------------------------------------------------------- */

/* Word i of words that blanks separate. */
static int put_word(const char *words, int i, char *out, size_t size) {
	for (; i > 0 && words; --i) {
		words = strchr(words, ' ');
		words = words ? words + 1 : NULL;
	}
	return words ? snprintf(out, size, "%.*s", (int)strcspn(words, " "), words) : 0;
}

CalCoordinateInfo joint_coordinate_info(const JointType *type, int speeds, int i, JointPrimitive motion, int element,
                                        int of_element) {
	CalCoordinateInfo info = {.kind =
	                              speeds ? primitive_u_kind(motion, of_element) : primitive_q_kind(motion, of_element)};
	const char *words = speeds ? type->speed_names : type->coordinate_names;
	const JointType *own = words ? NULL : joint_type(joint_type_of_element(motion));
	if (words) {
		put_word(words, i, info.name, sizeof info.name);
	} else if (own) {
		const int n = put_word(speeds ? own->speed_names : own->coordinate_names, of_element, info.name, 12);
		snprintf(info.name + n, sizeof info.name - (size_t)n, "%d", element + 1);
	} else {
		snprintf(info.name, sizeof info.name, "%c%d", speeds ? 'u' : 'q', i + 1);
	}
	return info;
}

int joint_is_countable(const CalJointDef *def) {
	const JointType *type = def ? joint_type(def->type) : NULL;
	if (!type || def->element_count < 0 || def->element_count > CAL_JOINT_MAX_ELEMENTS)
		return 0;
	for (int i = 0; type->uses & CAL_JOINT_USES_ELEMENTS && i < def->element_count; ++i) {
		const JointType *element = joint_type(def->elements[i].type);
		if (!element || !joint_type_is_element(element))
			return 0;
	}
	return !(type->uses & CAL_JOINT_USES_OPS) || def->ops;
}

int cal_joint_coordinate_count(const CalJointDef *def) {
	return joint_is_countable(def) ? joint_coordinate_count(def) : -1;
}

int cal_joint_speed_count(const CalJointDef *def) { return joint_is_countable(def) ? joint_speed_count(def) : -1; }

static CalStatus describe_coordinate(const CalJointDef *def, int speeds, int i, CalCoordinateInfo *info) {
	JointElement element[CAL_JOINT_MAX_DOF];
	if (!info || i < 0 || !joint_is_countable(def))
		return CAL_ERR_ARGUMENT;
	const int count = joint_elements(def, element);
	for (int k = 0, first = 0; k < count; ++k) {
		const JointPrimitive motion = element[k].motion;
		const int n = speeds ? primitive_u_count(motion, def->ops) : primitive_q_count(motion, def->ops);
		if (i < first + n) {
			*info = joint_coordinate_info(joint_types[def->type], speeds, i, motion, k, i - first);
			return CAL_OK;
		}
		first += n;
	}
	return CAL_ERR_ARGUMENT;
}

CalStatus cal_joint_coordinate(const CalJointDef *def, int i, CalCoordinateInfo *info) {
	return describe_coordinate(def, 0, i, info);
}

CalStatus cal_joint_speed(const CalJointDef *def, int i, CalCoordinateInfo *info) {
	return describe_coordinate(def, 1, i, info);
}
