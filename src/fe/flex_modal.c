// SPDX-License-Identifier: Apache-2.0
/*
 * flex_modal.c — cal_flex_modal(): a flexible body of a description as a modal body, to be drawn or written.
 *
 * Mass points that a generator made ("mass1", "mass2", ...) stay mass points: they need not be on the body. All other
 * nodes are frames. Where none of them is at the origin of B, a node "origin" is put there for the picture.
 */
#include <string.h>

#include <calder/flex.h>

#include "base/memory.h"
#include "fe/fe_modal.h"

typedef struct Source {
	const CalDesc *desc;
	CalBodyId id;
	CalBodyDef body;
	CalFlexDef flex;
	int first_order; // second-order shapes and geometric stiffness are left out
	CalModal *modal;
	CalError *error;
} Source;

static CalStatus no_memory(const Source *s) {
	return error_set(s->error, CAL_ERR_MEMORY, "body \"%s\": out of memory", s->body.name);
}

static bool is_mass_point(const char *name) {
	const size_t word = strlen("mass");
	return strncmp(name, "mass", word) == 0 && name[word] && strspn(name + word, "0123456789") == strlen(name + word);
}

static bool is_second_order(const Source *s) {
	for (int i = 0; i < s->flex.node_count; i++)
		if (s->flex.nodes[i].phi2)
			return true;
	return s->flex.geometric;
}

/* A copy of numbers in memory of the body; NULL for NULL. */
static bool copy_numbers(Source *s, const double *from, size_t count, double **to) {
	*to = from ? pool_array(&s->modal->pool, count, sizeof **to) : NULL;
	if (*to)
		memcpy(*to, from, count * sizeof **to);
	return *to || !from;
}

static bool is_at_origin(CalVec3 p) { return p.x == 0 && p.y == 0 && p.z == 0; }

static CalStatus copy_node(Source *s, const CalFlexNodeInfo *info) {
	const size_t size = 3 * (size_t)s->flex.modes * sizeof(double);
	const bool listed = info->flex.phi || info->flex.psi || info->flex.mass > 0;
	const CalModalNodeKind kind = listed && is_mass_point(info->name) ? CAL_MODAL_MASS : CAL_MODAL_FRAME;
	ModalNode *node = fe_modal_add_node(s->modal, info->name, kind);
	if (!node)
		return no_memory(s);
	node->placement = info->placement;
	node->mass = info->flex.mass;
	node->inertia = info->flex.inertia;
	if (info->flex.phi)
		memcpy(node->phi, info->flex.phi, size);
	if (info->flex.psi)
		memcpy(node->psi, info->flex.psi, size);
	const double *phi2 = s->first_order ? NULL : info->flex.phi2;
	return copy_numbers(s, phi2, size / sizeof(double) * (size_t)s->flex.modes, &node->phi2) ? CAL_OK : no_memory(s);
}

static CalStatus copy_nodes(Source *s) {
	CalFlexNodeInfo info;
	bool origin = false;
	CalStatus status = CAL_OK;
	for (int i = 0; status == CAL_OK && cal_flex_node(s->desc, s->id, i, &info) == CAL_OK; i++) {
		status = copy_node(s, &info);
		origin |=
			(is_at_origin(info.placement.position) && !is_mass_point(info.name)) || strcmp(info.name, "origin") == 0;
	}
	if (status == CAL_OK && !origin && !fe_modal_add_node(s->modal, "origin", CAL_MODAL_DISPLAY))
		return no_memory(s);
	return status;
}

static CalStatus copy_forces(Source *s) {
	CalModal *modal = s->modal;
	const size_t square = (size_t)s->flex.modes * (size_t)s->flex.modes;
	const double *geometric = s->first_order ? NULL : s->flex.geometric;
	memcpy(modal->stiffness, s->flex.stiffness, square * sizeof(double));
	return copy_numbers(s, s->flex.damping, square, &modal->damping) &&
	               copy_numbers(s, geometric, CAL_FLEX_GEOMETRIC * square, &modal->geometric)
	           ? CAL_OK
	           : no_memory(s);
}

static CalStatus copy_body(Source *s) {
	CalModal *modal = s->modal;
	modal->rigid_mass = s->body.mass;
	modal->rigid_com = s->body.com;
	modal->rigid_inertia = s->body.inertia;
	if (s->first_order && is_second_order(s))
		fe_modal_note(modal, "second-order shapes and geometric stiffness are left out");
	if (s->flex.frequency_bound > 0)
		fe_modal_note(modal, "the frequency bound of %g rad/s is left out", s->flex.frequency_bound);
	CalStatus status = cal_modal_set_name(modal, s->body.name);
	if (status == CAL_OK)
		status = copy_forces(s);
	return status == CAL_OK ? copy_nodes(s) : no_memory(s);
}

CalStatus cal_modal_set_name(CalModal *modal, const char *name) {
	if (!modal || !name)
		return CAL_ERR_ARGUMENT;
	const char *copy = pool_text(&modal->pool, name, strlen(name));
	if (!copy)
		return CAL_ERR_MEMORY;
	modal->name = copy;
	return CAL_OK;
}

CalStatus cal_flex_modal(const CalDesc *desc, CalBodyId id, int first_order, const CalAllocator *allocator,
                         CalModal **modal, CalError *error) {
	Source s = {.desc = desc, .id = id, .first_order = first_order, .error = error};
	if (!modal)
		return error_set(error, CAL_ERR_ARGUMENT, "cal_flex_modal: modal is NULL");
	*modal = NULL;
	if (cal_flex_body(desc, id, &s.body, &s.flex) != CAL_OK)
		return error_set(error, CAL_ERR_ARGUMENT, "cal_flex_modal: no such body in the description");
	if (!allocator_is_valid(allocator))
		return error_set(error, CAL_ERR_ARGUMENT, "cal_flex_modal: the allocator needs both functions or none");
	if (s.flex.modes == 0)
		return error_set(error, CAL_ERR_ARGUMENT, "%s%sbody \"%s\" is rigid: it has no modes", PLACE_ARGS(s.body.place),
		                 s.body.name);
	if (s.flex.modes > FE_MAX_MODES)
		return error_set(error, CAL_ERR_MODEL, "%s%sbody \"%s\": modal bodies have at most %d modes, this one has %d",
		                 PLACE_ARGS(s.body.place), s.body.name, (int)FE_MAX_MODES, s.flex.modes);
	s.modal = fe_modal_new(s.body.name, "model", s.flex.modes, allocator);
	if (!s.modal)
		return no_memory(&s);
	const CalStatus status = copy_body(&s);
	if (status != CAL_OK) {
		cal_modal_destroy(s.modal);
		return status;
	}
	*modal = s.modal;
	return CAL_OK;
}
