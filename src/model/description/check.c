// SPDX-License-Identifier: Apache-2.0
/*
 * check.c — what is wrong with a description: the topology, and the driver of the other parts.
 *
 * A group is a tree when every body is the outboard side of exactly one joint and following the inboard
 * sides always ends at the ground. The parent of a body is taken from the first joint that carries it;
 * further ones are reported as second parents, as after an attempt to close a loop by an
 * attachment. Cycles are found by walking from each body towards the ground and marking the
 * bodies of the walk; every body is walked over once, so the check is linear in the description.
 */
#include "model/description/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "loop/loop_type.h"
#include "math/portable.h"

static void report_finding(Check *check, CalStatus status, const char *place, const char *format, va_list args) {
	char text[sizeof((CalError *)0)->text];
	int length = snprintf(text, sizeof text, "%s%s", PLACE_ARGS(place));
	size_t used = length < 0 ? 0 : (size_t)length < sizeof text / 2 ? (size_t)length : sizeof text / 2;
	text_format(text + used, sizeof text - used, format, args);
	if (check->report) {
		check->report(check->user, &(CalFinding){.status = status, .text = text});
	}
}

void check_error(Check *check, const char *place, const char *format, ...) {
	va_list args;
	va_start(args, format);
	report_finding(check, CAL_ERR_MODEL, place, format, args);
	va_end(args);
	check->failed = true;
}

void check_warning(Check *check, const char *place, const char *format, ...) {
	va_list args;
	va_start(args, format);
	report_finding(check, CAL_OK, place, format, args);
	va_end(args);
}

/* ---- names --------------------------------------------------------------------------------- */

enum { GROUND = -1 }; // as a body index

/** Index of the body that carries a node; GROUND for {0} and for nodes of the ground. */
static int node_body(const CalDesc *desc, CalNodeId node) {
	return node.value ? (int)desc_node(desc, node)->body.value - 1 : GROUND;
}

static const char *body_name(const CalDesc *desc, int body) {
	return body == GROUND ? "ground" : desc->bodies[body].def.name;
}

static const char *group_name(const CalDesc *desc, int body) {
	return desc->groups[desc->bodies[body].def.group.value - 1].name;
}

static bool body_is_checked(const Check *check, int body) {
	return check->group.value == 0 || check->desc->bodies[body].def.group.value == check->group.value;
}

/** A joint belongs to the group of its outboard body; across groups, to both. */
static bool joint_is_checked(const Check *check, const DescJoint *joint) {
	int inboard = node_body(check->desc, joint->inboard);
	return body_is_checked(check, node_body(check->desc, joint->outboard)) ||
	       (inboard != GROUND && body_is_checked(check, inboard));
}

/* ---- topology ------------------------------------------------------------------------------ */

enum { NO_JOINT = -1 };

/** What the topology check notes for each body. */
typedef struct BodyMark {
	int joint;  // the first joint that carries the body, or NO_JOINT
	int walk;   // number of the walk that came by, 0: none yet
	bool loose; // a joint to itself was reported: say no more
	BodyExtent extent;
} BodyMark;

static void check_second_parent(Check *check, int body, const DescJoint *first, const DescJoint *second) {
	const CalDesc *desc = check->desc;
	check_error(check, second->def.place,
	            "body \"%s\" has two parents: joint \"%s\" attaches it to \"%s\", but joint \"%s\"%s%s%s attaches it "
	            "to \"%s\" already; remove one of the two (a closed loop is no attachment)",
	            body_name(desc, body), second->def.name, body_name(desc, node_body(desc, second->inboard)),
	            first->def.name, first->def.place ? " (" : "", first->def.place ? first->def.place : "",
	            first->def.place ? ")" : "", body_name(desc, node_body(desc, first->inboard)));
}

/** Notes which joint carries which body; reports joints that cannot be part of a tree. */
static void check_attachments(Check *check, BodyMark *mark) {
	const CalDesc *desc = check->desc;
	for (int i = 0; i < desc->joint_count; i++) {
		const DescJoint *joint = &desc->joints[i];
		if (!joint_is_checked(check, joint)) {
			continue;
		}
		int inboard = node_body(desc, joint->inboard), outboard = node_body(desc, joint->outboard);
		if (inboard == outboard) {
			check_error(check, joint->def.place,
			            "joint \"%s\": both of its nodes are on body \"%s\"; attach two different bodies",
			            joint->def.name, body_name(desc, outboard));
			mark[outboard].loose = true;
			continue;
		}
		if (inboard != GROUND && desc->bodies[inboard].def.group.value != desc->bodies[outboard].def.group.value) {
			check_error(check, joint->def.place,
			            "joint \"%s\" connects body \"%s\" of group \"%s\" with body \"%s\" of group \"%s\"; put both "
			            "bodies in one group",
			            joint->def.name, body_name(desc, inboard), group_name(desc, inboard), body_name(desc, outboard),
			            group_name(desc, outboard));
		}
		if (mark[outboard].joint != NO_JOINT) {
			check_second_parent(check, outboard, &desc->joints[mark[outboard].joint], joint);
		} else {
			mark[outboard].joint = i;
		}
	}
}

static void check_parents(Check *check, const BodyMark *mark) {
	const CalDesc *desc = check->desc;
	for (int i = 0; i < desc->body_count; i++) {
		if (body_is_checked(check, i) && mark[i].joint == NO_JOINT && !mark[i].loose) {
			check_error(check, desc->bodies[i].def.place,
			            "body \"%s\" is not attached to anything; attach it to the ground or to another body (with a "
			            "free joint if it flies freely)",
			            body_name(desc, i));
		}
	}
}

/** The inboard body of the joint that carries `body`; GROUND also where nothing does. */
static int parent_of(const CalDesc *desc, const BodyMark *mark, int body) {
	int joint = mark[body].joint;
	return joint == NO_JOINT ? GROUND : node_body(desc, desc->joints[joint].inboard);
}

/** Appends " -> name" if it fits and leaves room for a closing one; false if not. */
static bool chain_append(char *chain, size_t size, size_t *used, const char *name) {
	int length = snprintf(chain + *used, size - *used, "%s%s", *used ? " -> " : "", name);
	if (length < 0 || (size_t)length >= size - *used) {
		chain[*used] = '\0';
		return false;
	}
	*used += (size_t)length;
	return true;
}

/** Reports the cycle through `start`, beginning with its body that was described first. */
static void report_cycle(Check *check, const BodyMark *mark, int start) {
	const CalDesc *desc = check->desc;
	int first = start, length = 1;
	for (int b = parent_of(desc, mark, start); b != start; b = parent_of(desc, mark, b)) {
		first = b < first ? b : first;
		length++;
	}
	char chain[400] = "";
	size_t used = 0;
	int b = first;
	bool fits = true;
	do {
		fits = chain_append(chain, sizeof chain, &used, body_name(desc, b));
		b = parent_of(desc, mark, b);
	} while (b != first && fits);
	const CalJointDef *joint = &desc->joints[mark[first].joint].def;
	check_error(
		check, joint->place,
		"the attachments form a cycle of %d bodies: %s%s -> %s (each is the child of the next); one of these joints, "
		"such as \"%s\", must attach its body to the ground or to a body outside the cycle",
		length, chain, fits ? "" : " -> ...", body_name(desc, first), joint->name);
}

static void check_cycles(Check *check, BodyMark *mark) {
	const CalDesc *desc = check->desc;
	for (int i = 0; i < desc->body_count; i++) {
		int walk = i + 1, b = i;
		while (b != GROUND && mark[b].walk == 0) {
			mark[b].walk = walk;
			b = parent_of(desc, mark, b);
		}
		if (b != GROUND && mark[b].walk == walk) {
			report_cycle(check, mark, b);
		}
	}
}

/* ---- driver -------------------------------------------------------------------------------- */

static double distance(CalVec3 a, CalVec3 b) { return portable_hypot(portable_hypot(a.x - b.x, a.y - b.y), a.z - b.z); }

static void measure_extents(const CalDesc *desc, BodyMark *mark) {
	for (int i = 0; i < desc->node_count; i++) {
		int body = (int)desc->nodes[i].body.value - 1;
		if (body == GROUND) {
			continue;
		}
		BodyExtent *extent = &mark[body].extent;
		double d = distance(desc->nodes[i].def.placement.position, desc->bodies[body].def.com);
		extent->reach = d > extent->reach ? d : extent->reach;
		extent->has_node = extent->has_node || desc->bodies[body].frame.value != (uint32_t)i + 1;
	}
}

/** False if memory is short. The rigid part of a flexible body says nothing about its size. */
static bool check_body(Check *check, const DescBody *body, BodyExtent extent) {
	check_mass_properties(check, &body->def, body->flex ? (BodyExtent){0} : extent);
	return body->flex && !body->link ? check_flexibility(check, body) : true;
}

/** The group of a loop: that of a body on one of its sides, or of its terms. */
static bool loop_is_checked(const Check *check, const DescLoop *loop) {
	if (loop_type_has_terms(loop->def.type)) {
		return body_is_checked(check, (int)loop->def.term[0].body.value - 1);
	}
	int a = node_body(check->desc, loop->a), b = node_body(check->desc, loop->b);
	return body_is_checked(check, a != GROUND ? a : b);
}

/** The tree is sound. */
static void check_loops(Check *check, const BodyMark *mark) {
	const CalDesc *desc = check->desc;
	for (int i = 0; i < desc->loop_count; i++) {
		const DescLoop *loop = &desc->loops[i];
		const CalJointDef *carriers[CAL_LOOP_MAX_TERMS] = {NULL};
		if (!loop_is_checked(check, loop)) {
			continue;
		}
		for (int k = 0; loop_type_has_terms(loop->def.type) && k < loop->def.term_count; k++) {
			carriers[k] = &desc->joints[mark[loop->def.term[k].body.value - 1].joint].def;
		}
		check_loop(check, loop, carriers);
	}
}

CalStatus desc_check_structure(const CalDesc *desc, CalGroupId group, CalFindingFn report, void *user) {
	Check check = {.desc = desc, .group = group, .report = report, .user = user};
	size_t size;
	BodyMark *mark = NULL;
	if (size_mul((size_t)desc->body_count, sizeof *mark, &size)) {
		mark = memory_alloc(&desc->allocator, size);
	}
	if (!mark) {
		return CAL_ERR_MEMORY;
	}
	for (int i = 0; i < desc->body_count; i++) {
		mark[i] = (BodyMark){.joint = NO_JOINT};
	}
	check_attachments(&check, mark);
	check_parents(&check, mark);
	check_cycles(&check, mark);
	for (int i = 0; i < desc->joint_count; i++) {
		const DescJoint *joint = &desc->joints[i];
		if (joint_is_checked(&check, joint)) {
			check_joint(&check, &joint->def);
			check_interface(&check, &joint->def, joint->inboard);
			check_interface(&check, &joint->def, joint->outboard);
		}
	}
	measure_extents(desc, mark);
	bool enough = true;
	for (int i = 0; i < desc->body_count; i++) {
		if (body_is_checked(&check, i)) {
			enough = check_body(&check, &desc->bodies[i], mark[i].extent) && enough;
		}
	}
	if (!check.failed) {
		check_loops(&check, mark);
	}
	memory_free(&desc->allocator, mark);
	return !enough ? CAL_ERR_MEMORY : check.failed ? CAL_ERR_MODEL : CAL_OK;
}
