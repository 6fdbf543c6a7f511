// SPDX-License-Identifier: Apache-2.0
/*
 * model_check.c — what the sweeps rely on in a compiled model, for assertions.
 *
 * Parents come before children; every index is within its list; a link has an accumulator where a child that is not the
 * next link, or another branch, brings something; what is special is marked.
 */
#include "model/model_check.h"

#ifdef CALDER_ASSERTIONS
#include <math.h>

#include "model/loop_plan.h"

static bool is_within(int first, int count, int size) { return first >= 0 && count >= 0 && first + count <= size; }

static bool is_index_or_none(int index, int size) { return index >= -1 && index < size; }

static bool link_is_finite(const Link *link) {
	const dvec3 *vectors[] = {&link->E.x, &link->E.y, &link->E.z, &link->p, &link->inertia.mc};
	for (size_t k = 0; k < sizeof vectors / sizeof *vectors; ++k) {
		if (!isfinite(vectors[k]->x) || !isfinite(vectors[k]->y) || !isfinite(vectors[k]->z))
			return false;
	}
	return isfinite(link->inertia.m) && link->inertia.m >= 0;
}

static bool link_is_valid(const CalModel *model, int i) {
	const Link *link = &model->links[i];
	const bool next = link->parent == i - 1, arrival = link->interface & INTERFACE_ARRIVAL;
	return link->parent >= -1 && link->parent < i && is_within(link->u, link->nu, model->nu) &&
	       is_within(link->q, link->nq, model->nq) && is_index_or_none(link->accumulator, model->accumulator_count) &&
	       is_index_or_none(link->flex, model->flex_count) && is_index_or_none(link->flex_body, model->flex_count) &&
	       is_index_or_none(link->loop_link, model->loop_schedule ? model->loop_schedule->link_count : 0) &&
	       (next || link->parent < 0 || model->links[link->parent].accumulator >= 0) &&
	       (!arrival || link->accumulator >= 0) &&
	       (link->motion != PRIMITIVE_ROTATION || is_within(link->trig, 1, model->trig_count)) &&
	       (link->flex_body < 0 || (link->special && model->flexes[link->flex_body].link == i)) && link_is_finite(link);
}

static bool flex_is_valid(const CalModel *model, const Flex *flex) {
	bool valid = is_within(flex->u, flex->m, model->nu) && is_within(flex->q, flex->m, model->nq) && flex->n >= flex->m;
	for (int k = 0; k < flex->port_count && k < FLEX_MAX_PORTS; ++k)
		valid &= is_within(flex->ports[k], 1, model->link_count) && model->links[flex->ports[k]].special;
	return valid;
}

static bool loop_is_valid(const CalModel *model, const Loop *loop) {
	bool valid = is_within(loop->row, loop->rows, model->row_count) &&
	             is_index_or_none(loop->plus, model->node_count) && is_index_or_none(loop->minus, model->node_count);
	for (int k = 0; k < loop->term_count; ++k)
		valid &= is_within(loop->term[k].u, 1, model->nu);
	return valid;
}

bool model_is_consistent(const CalModel *model) {
	bool valid = true;
	for (int i = 0; i < model->link_count && valid; ++i)
		valid = link_is_valid(model, i);
	for (int k = 0; k < model->nu && valid; ++k)
		valid = model->dof_parent[k] >= -1 && model->dof_parent[k] < k &&
		        is_within(model->dofs[k].link, 1, model->link_count);
	for (int i = 0; i < model->node_count && valid; ++i)
		valid = is_index_or_none(model->nodes[i].link, model->link_count) &&
		        is_index_or_none(model->nodes[i].body, model->body_count);
	for (int f = 0; f < model->flex_count && valid; ++f)
		valid = flex_is_valid(model, &model->flexes[f]);
	for (int l = 0; l < model->loop_count && valid; ++l)
		valid = loop_is_valid(model, &model->loops[l]);
	return valid;
}
#endif
