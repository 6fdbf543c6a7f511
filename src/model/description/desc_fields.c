// SPDX-License-Identifier: Apache-2.0
/*
 * desc_fields.c — the fields of the records of a description, for checkpoints and fingerprints.
 *
 * Functions and pointers of the caller are not written: a record that was there at the start keeps those that it has, one
 * that was added later must not have any. Places in files are for messages only, and left out.
 */
#include "base/memory.h"
#include "model/description/desc_fields.h"

/* A field that is new belongs into a walk below. */
#define WALKED(type, size) _Static_assert(sizeof(void *) != 8 || sizeof(type) == (size), "a field of " #type " is new")
WALKED(CalGroupDef, 40);
WALKED(DescBody, 168);
WALKED(DescNode, 80);
WALKED(CalElement, 40);
WALKED(CalDofDef, 48);
WALKED(CalJointDef, 744);
WALKED(CalDrive, 80);
WALKED(CalLoopDef, 784);
WALKED(CalFlexDef, 56);
WALKED(CalFlexNode, 112);

static void walk_placement(Archive *a, CalPlacement *p) {
	archive_vec3(a, &p->position);
	archive_doubles(a, &p->orientation.w, 4);
}

/* A type or a count that has to be below a limit. */
static void walk_below(Archive *a, int *x, int limit) {
	archive_int(a, x);
	if (a->mode == ARCHIVE_READ && (*x < 0 || *x >= limit)) {
		*x = 0;
		archive_fail(a, CAL_ERR_INPUT, NULL);
	}
}

/* ---- flexible bodies -------------------------------------------------------------------------------- */

/* An array that may be missing; numbers are read to *cursor, which moves on. */
static void walk_numbers(Archive *a, const double **values, int count, double **cursor, double *end) {
	bool there = *values != NULL;
	archive_bool(a, &there);
	if (a->mode == ARCHIVE_READ) {
		if (there && end - *cursor < count) {
			archive_fail(a, CAL_ERR_INPUT, NULL);
			there = false;
		}
		*values = there ? *cursor : NULL;
		*cursor += there ? count : 0;
	}
	if (there)
		archive_doubles(a, (double *)(uintptr_t)*values, count);
}

static void walk_flex_node(Archive *a, CalFlexNode *node, int modes, double **cursor, double *end) {
	archive_u32(a, &node->node.value);
	archive_double(a, &node->mass);
	archive_doubles(a, &node->inertia.m[0][0], 9);
	walk_numbers(a, &node->phi, 3 * modes, cursor, end);
	walk_numbers(a, &node->psi, 3 * modes, cursor, end);
	walk_numbers(a, &node->phi2, 3 * modes * modes, cursor, end);
}

/* How many numbers its arrays have. */
static int flex_numbers(const CalFlexDef *flex) {
	int count = flex->modes * flex->modes * (flex->damping ? 2 : 1);
	for (int i = 0; i < flex->node_count; i++) {
		const CalFlexNode *node = &flex->nodes[i];
		count += 3 * flex->modes * ((node->phi != NULL) + (node->psi != NULL) + (node->phi2 ? flex->modes : 0));
	}
	return count;
}

/* The block of a description that holds a definition (model/description/desc_flex.c), to be filled. */
static CalFlexDef *flex_block(Archive *a, const CalFlexDef *sizes, int numbers) {
	const size_t nodes = sizeof(CalFlexNode) * (size_t)sizes->node_count, tail = sizeof(double) * (size_t)numbers;
	if (a->status != CAL_OK || tail > a->size - a->used || nodes / 2 > a->size - a->used) {
		archive_fail(a, CAL_ERR_INPUT, NULL);
		return NULL;
	}
	CalFlexDef *flex = memory_alloc(&a->allocator, sizeof *flex + nodes + tail);
	if (!flex) {
		archive_fail(a, CAL_ERR_MEMORY, NULL);
		return NULL;
	}
	*flex = *sizes;
	flex->nodes = (const CalFlexNode *)(flex + 1);
	flex->stiffness = flex->damping = NULL;
	for (int i = 0; i < flex->node_count; i++)
		((CalFlexNode *)(flex + 1))[i] = (CalFlexNode){0};
	return flex;
}

static void walk_flex(Archive *a, CalFlexDef **flex) {
	enum { MOST = 1 << 12 };
	CalFlexDef sizes = *flex ? **flex : (CalFlexDef){0};
	int numbers = *flex ? flex_numbers(*flex) : 0;
	walk_below(a, &sizes.modes, MOST + 1);
	if (sizes.modes == 0)
		return;
	walk_below(a, &sizes.node_count, 1 << 24);
	walk_below(a, &numbers, INT32_MAX);
	archive_double(a, &sizes.frequency_bound);
	archive_int(a, &sizes.unsprung);
	if (a->mode == ARCHIVE_READ)
		*flex = flex_block(a, &sizes, numbers);
	if (!*flex)
		return;
	CalFlexNode *nodes = (CalFlexNode *)(uintptr_t)(*flex)->nodes;
	double *cursor = (double *)(nodes + sizes.node_count), *end = cursor + numbers;
	walk_numbers(a, &(*flex)->stiffness, sizes.modes * sizes.modes, &cursor, end);
	walk_numbers(a, &(*flex)->damping, sizes.modes * sizes.modes, &cursor, end);
	for (int i = 0; i < sizes.node_count; i++)
		walk_flex_node(a, &nodes[i], sizes.modes, &cursor, end);
	if (!(*flex)->stiffness)
		archive_fail(a, CAL_ERR_INPUT, NULL);
}

/* ---- bodies ------------------------------------------------------------------------------------------- */

void walk_group(Archive *a, CalGroupDef *group, bool named) {
	if (named)
		archive_string(a, &group->name);
	archive_vec3(a, &group->gravity);
}

void walk_body(Archive *a, DescBody *body, bool named) {
	CalBodyDef *def = &body->def;
	archive_u32(a, &def->group.value);
	if (!named)
		return;
	archive_string(a, &def->name);
	archive_double(a, &def->mass);
	archive_vec3(a, &def->com);
	archive_doubles(a, &def->inertia.m[0][0], 9);
	archive_int(a, &def->idealized);
	archive_u32(a, &body->frame.value);
	walk_flex(a, &body->flex);
}

void walk_node(Archive *a, DescNode *node, bool named) {
	if (!named)
		return;
	archive_string(a, &node->def.name);
	walk_placement(a, &node->def.placement);
	archive_u32(a, &node->body.value);
}

/* ---- joints and loops ------------------------------------------------------------------------------------ */

static void walk_dof(Archive *a, CalDofDef *dof) {
	archive_double(a, &dof->stiffness);
	archive_double(a, &dof->rest);
	archive_double(a, &dof->damping);
	archive_double(a, &dof->rotor_inertia);
	archive_double(a, &dof->gear_ratio);
	archive_int(a, &dof->prescribed);
}

/* Of a joint of the user's own type: a fingerprint has its name and sizes. */
static void walk_ops(Archive *a, CalJointDef *def, bool named) {
	if (!named || !def->ops)
		return;
	if (a->mode != ARCHIVE_HASH) {
		archive_fail(a, CAL_ERR_UNSUPPORTED, def->name);
		return;
	}
	const char *name = def->ops->name;
	int nq = def->ops->nq, nu = def->ops->nu;
	archive_string(a, &name);
	archive_int(a, &nq);
	archive_int(a, &nu);
}

void walk_joint(Archive *a, CalJointDef *def, bool named) {
	int type = (int)def->type;
	if (named)
		archive_string(a, &def->name);
	walk_below(a, &type, CAL_JOINT_TYPE_COUNT);
	if (a->mode == ARCHIVE_READ)
		def->type = (CalJointType)type;
	archive_vec3(a, &def->axis);
	archive_vec3(a, &def->axis2);
	archive_double(a, &def->pitch);
	walk_below(a, &def->element_count, CAL_JOINT_MAX_ELEMENTS + 1);
	for (int i = 0; i < def->element_count; i++) {
		int element = (int)def->elements[i].type;
		walk_below(a, &element, CAL_JOINT_TYPE_COUNT);
		if (a->mode == ARCHIVE_READ)
			def->elements[i].type = (CalJointType)element;
		archive_vec3(a, &def->elements[i].axis);
		archive_double(a, &def->elements[i].pitch);
	}
	walk_ops(a, def, named);
	walk_placement(a, &def->inboard);
	walk_placement(a, &def->outboard);
	for (int k = 0; k < CAL_JOINT_MAX_DOF; k++)
		walk_dof(a, &def->dof[k]);
}

static void walk_drive(Archive *a, CalDrive *drive, const char *loop, bool named) {
	bool driven = drive->fn != NULL;
	archive_double(a, &drive->offset);
	archive_double(a, &drive->speed);
	archive_double(a, &drive->acceleration);
	archive_double(a, &drive->amplitude);
	archive_double(a, &drive->frequency);
	archive_double(a, &drive->phase);
	if (a->mode == ARCHIVE_HASH) {
		archive_bool(a, &driven);
		if (driven)
			archive_u64(a, &drive->identity);
	} else if (named && driven)
		archive_fail(a, CAL_ERR_UNSUPPORTED, loop);
}

void walk_loop(Archive *a, DescLoop *loop, bool named) {
	CalLoopDef *def = &loop->def;
	int type = (int)def->type;
	if (named)
		archive_string(a, &def->name);
	walk_below(a, &type, CAL_LOOP_TYPE_COUNT);
	if (a->mode == ARCHIVE_READ)
		def->type = (CalLoopType)type;
	walk_placement(a, &def->a);
	walk_placement(a, &def->b);
	archive_double(a, &def->length);
	archive_double(a, &def->pitch);
	archive_double(a, &def->radius);
	archive_int(a, &def->translation);
	archive_int(a, &def->rotation);
	walk_below(a, &def->term_count, CAL_LOOP_MAX_TERMS + 1);
	for (int i = 0; i < def->term_count; i++) {
		archive_u32(a, &def->term[i].body.value);
		archive_int(a, &def->term[i].dof);
		archive_double(a, &def->term[i].factor);
	}
	for (int i = 0; i < CAL_LOOP_MAX_ROWS; i++)
		walk_drive(a, &def->drive[i], def->name, named);
	archive_double(a, &def->frequency);
	archive_double(a, &def->damping);
	archive_vec3(a, &def->known.angular);
	archive_vec3(a, &def->known.linear);
	archive_u32(a, &loop->a.value);
	archive_u32(a, &loop->b.value);
}
