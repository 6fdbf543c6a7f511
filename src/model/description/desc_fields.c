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
WALKED(CalGroupDef, 48);
WALKED(DescBody, 184);
WALKED(DescNode, 80);
WALKED(CalElement, 40);
WALKED(CalDofDef, 48);
WALKED(CalJointDef, 744);
WALKED(CalDrive, 80);
WALKED(CalLoopDef, 784);
WALKED(CalFlexDef, 64);
WALKED(CalFlexNode, 112);

static void walk_placement(Serializer *a, CalPlacement *p) {
	serializer_vec3(a, &p->position);
	serializer_doubles(a, &p->orientation.w, 4);
}

/* A type or a count that has to be below a limit. */
static void walk_below(Serializer *a, int *x, int limit) {
	serializer_int(a, x);
	if (a->mode == SERIALIZER_READ && (*x < 0 || *x >= limit)) {
		*x = 0;
		serializer_fail(a, CAL_ERR_INPUT, NULL);
	}
}

/* ---- flexible bodies -------------------------------------------------------------------------------- */

/* An array that may be missing; numbers are read to *cursor, which moves on. */
static void walk_numbers(Serializer *a, const double **values, int count, double **cursor, double *end) {
	bool there = *values != NULL;
	serializer_bool(a, &there);
	if (a->mode == SERIALIZER_READ) {
		if (there && end - *cursor < count) {
			serializer_fail(a, CAL_ERR_INPUT, NULL);
			there = false;
		}
		*values = there ? *cursor : NULL;
		*cursor += there ? count : 0;
	}
	if (there)
		serializer_doubles(a, (double *)(uintptr_t)*values, count);
}

static void walk_flex_node(Serializer *a, CalFlexNode *node, int modes, double **cursor, double *end) {
	serializer_u32(a, &node->node.value);
	serializer_double(a, &node->mass);
	serializer_doubles(a, &node->inertia.m[0][0], 9);
	walk_numbers(a, &node->phi, 3 * modes, cursor, end);
	walk_numbers(a, &node->psi, 3 * modes, cursor, end);
	walk_numbers(a, &node->phi2, 3 * modes * modes, cursor, end);
}

/* How many numbers its arrays have. */
static int flex_numbers(const CalFlexDef *flex) {
	int count = flex->modes * flex->modes * ((flex->damping ? 2 : 1) + (flex->geometric ? CAL_FLEX_GEOMETRIC : 0));
	for (int i = 0; i < flex->node_count; i++) {
		const CalFlexNode *node = &flex->nodes[i];
		count += 3 * flex->modes * ((node->phi != NULL) + (node->psi != NULL) + (node->phi2 ? flex->modes : 0));
	}
	return count;
}

/* The block of a description that holds a definition (model/description/desc_flex.c), to be filled. */
static CalFlexDef *flex_block(Serializer *a, const CalFlexDef *sizes, int numbers) {
	const size_t nodes = sizeof(CalFlexNode) * (size_t)sizes->node_count, tail = sizeof(double) * (size_t)numbers;
	if (a->status != CAL_OK || tail > a->size - a->used || nodes / 2 > a->size - a->used) {
		serializer_fail(a, CAL_ERR_INPUT, NULL);
		return NULL;
	}
	CalFlexDef *flex = memory_alloc(&a->allocator, sizeof *flex + nodes + tail);
	if (!flex) {
		serializer_fail(a, CAL_ERR_MEMORY, NULL);
		return NULL;
	}
	*flex = *sizes;
	flex->nodes = (const CalFlexNode *)(flex + 1);
	flex->stiffness = flex->damping = flex->geometric = NULL;
	for (int i = 0; i < flex->node_count; i++)
		((CalFlexNode *)(flex + 1))[i] = (CalFlexNode){0};
	return flex;
}

static void walk_flex(Serializer *a, CalFlexDef **flex) {
	enum { MOST = 1 << 12 };
	CalFlexDef sizes = *flex ? **flex : (CalFlexDef){0};
	int numbers = *flex ? flex_numbers(*flex) : 0;
	walk_below(a, &sizes.modes, MOST + 1);
	if (sizes.modes == 0)
		return;
	walk_below(a, &sizes.node_count, 1 << 24);
	walk_below(a, &numbers, INT32_MAX);
	serializer_double(a, &sizes.frequency_bound);
	serializer_int(a, &sizes.unsprung);
	if (a->mode == SERIALIZER_READ)
		*flex = flex_block(a, &sizes, numbers);
	if (!*flex)
		return;
	CalFlexNode *nodes = (CalFlexNode *)(uintptr_t)(*flex)->nodes;
	double *cursor = (double *)(nodes + sizes.node_count), *end = cursor + numbers;
	walk_numbers(a, &(*flex)->stiffness, sizes.modes * sizes.modes, &cursor, end);
	walk_numbers(a, &(*flex)->damping, sizes.modes * sizes.modes, &cursor, end);
	for (int i = 0; i < sizes.node_count; i++)
		walk_flex_node(a, &nodes[i], sizes.modes, &cursor, end);
	walk_numbers(a, &(*flex)->geometric, CAL_FLEX_GEOMETRIC * sizes.modes * sizes.modes, &cursor, end);
	if (!(*flex)->stiffness)
		serializer_fail(a, CAL_ERR_INPUT, NULL);
}

/* ---- bodies ------------------------------------------------------------------------------------------- */

void walk_group(Serializer *a, CalGroupDef *group, bool named) {
	if (named)
		serializer_string(a, &group->name);
	serializer_vec3(a, &group->gravity);
	int propagation = (int)group->propagation;
	serializer_int_within(a, &propagation, 0, CAL_PROPAGATION_COUNT - 1);
	if (a->mode == SERIALIZER_READ)
		group->propagation = (CalPropagation)propagation;
}

/* Of a link of the user's own: a fingerprint has the name of its functions. */
static void walk_link(Serializer *a, const DescBody *body) {
	if (!body->link)
		return;
	if (a->mode != SERIALIZER_HASH) {
		serializer_fail(a, CAL_ERR_UNSUPPORTED, body->def.name);
		return;
	}
	const char *name = body->link->name;
	serializer_string(a, &name);
}

void walk_body(Serializer *a, DescBody *body, bool named) {
	CalBodyDef *def = &body->def;
	serializer_u32(a, &def->group.value);
	if (named)
		serializer_string(a, &def->name);
	serializer_double(a, &def->mass);
	serializer_doubles(a, &def->inertia.m[0][0], 9);
	if (!named)
		return;
	serializer_vec3(a, &def->com);
	serializer_int(a, &def->idealized);
	serializer_u32(a, &body->frame.value);
	walk_flex(a, &body->flex);
	walk_link(a, body);
}

void walk_node(Serializer *a, DescNode *node, bool named) {
	if (!named)
		return;
	serializer_string(a, &node->def.name);
	walk_placement(a, &node->def.placement);
	serializer_u32(a, &node->body.value);
}

/* ---- joints and loops ------------------------------------------------------------------------------------ */

static void walk_dof(Serializer *a, CalDofDef *dof) {
	serializer_double(a, &dof->stiffness);
	serializer_double(a, &dof->rest);
	serializer_double(a, &dof->damping);
	serializer_double(a, &dof->rotor_inertia);
	serializer_double(a, &dof->gear_ratio);
	serializer_int(a, &dof->prescribed);
}

/* Of a joint of the user's own type: a fingerprint has its name and sizes. */
static void walk_ops(Serializer *a, CalJointDef *def, bool named) {
	if (!named || !def->ops)
		return;
	if (a->mode != SERIALIZER_HASH) {
		serializer_fail(a, CAL_ERR_UNSUPPORTED, def->name);
		return;
	}
	const char *name = def->ops->name;
	int nq = def->ops->nq, nu = def->ops->nu;
	serializer_string(a, &name);
	serializer_int(a, &nq);
	serializer_int(a, &nu);
}

void walk_joint(Serializer *a, CalJointDef *def, bool named) {
	int type = (int)def->type;
	if (named)
		serializer_string(a, &def->name);
	walk_below(a, &type, CAL_JOINT_TYPE_COUNT);
	if (a->mode == SERIALIZER_READ)
		def->type = (CalJointType)type;
	serializer_vec3(a, &def->axis);
	serializer_vec3(a, &def->axis2);
	serializer_double(a, &def->pitch);
	walk_below(a, &def->element_count, CAL_JOINT_MAX_ELEMENTS + 1);
	for (int i = 0; i < def->element_count; i++) {
		int element = (int)def->elements[i].type;
		walk_below(a, &element, CAL_JOINT_TYPE_COUNT);
		if (a->mode == SERIALIZER_READ)
			def->elements[i].type = (CalJointType)element;
		serializer_vec3(a, &def->elements[i].axis);
		serializer_double(a, &def->elements[i].pitch);
	}
	walk_ops(a, def, named);
	walk_placement(a, &def->inboard);
	walk_placement(a, &def->outboard);
	for (int k = 0; k < CAL_JOINT_MAX_DOF; k++)
		walk_dof(a, &def->dof[k]);
}

static void walk_drive(Serializer *a, CalDrive *drive, const char *loop, bool named) {
	bool driven = drive->fn != NULL;
	serializer_double(a, &drive->offset);
	serializer_double(a, &drive->speed);
	serializer_double(a, &drive->acceleration);
	serializer_double(a, &drive->amplitude);
	serializer_double(a, &drive->frequency);
	serializer_double(a, &drive->phase);
	if (a->mode == SERIALIZER_HASH) {
		serializer_bool(a, &driven);
		if (driven)
			serializer_u64(a, &drive->identity);
	} else if (named && driven)
		serializer_fail(a, CAL_ERR_UNSUPPORTED, loop);
}

/* Of an embedded loop: a fingerprint has its mechanism. Descriptions that changed in a run have none. */
static void walk_mechanism(Serializer *a, DescLoop *loop) {
	if (!loop->mechanism)
		return;
	if (a->mode == SERIALIZER_HASH)
		serializer_int(a, &loop->mechanism);
	else
		serializer_fail(a, CAL_ERR_UNSUPPORTED, loop->def.name);
}

void walk_loop(Serializer *a, DescLoop *loop, bool named) {
	CalLoopDef *def = &loop->def;
	int type = (int)def->type;
	if (named)
		serializer_string(a, &def->name);
	walk_below(a, &type, CAL_LOOP_TYPE_COUNT);
	if (a->mode == SERIALIZER_READ)
		def->type = (CalLoopType)type;
	walk_placement(a, &def->a);
	walk_placement(a, &def->b);
	serializer_double(a, &def->length);
	serializer_double(a, &def->pitch);
	serializer_double(a, &def->radius);
	serializer_int(a, &def->translation);
	serializer_int(a, &def->rotation);
	walk_below(a, &def->term_count, CAL_LOOP_MAX_TERMS + 1);
	for (int i = 0; i < def->term_count; i++) {
		serializer_u32(a, &def->term[i].body.value);
		serializer_int(a, &def->term[i].dof);
		serializer_double(a, &def->term[i].factor);
	}
	for (int i = 0; i < CAL_LOOP_MAX_ROWS; i++)
		walk_drive(a, &def->drive[i], def->name, named);
	serializer_double(a, &def->frequency);
	serializer_double(a, &def->damping);
	serializer_vec3(a, &def->applied_wrench.angular);
	serializer_vec3(a, &def->applied_wrench.linear);
	serializer_u32(a, &loop->a.value);
	serializer_u32(a, &loop->b.value);
	walk_mechanism(a, loop);
}
