// SPDX-License-Identifier: Apache-2.0
/*
 * flex_view.c — cal_flex_body() and cal_flex_node(): a flexible body read back from the description;
 * cal_flex_evaluation(): what the compiled model has made of it.
 *
 * Writers, plots and viewers need the shapes of a body whoever made it; what they get are copies of the small structs
 * with pointers into the description.
 */
#include <calder/flex.h>

#include "model/description/desc.h"
#include "model/model.h"

static const DescBody *find_body(const CalDesc *desc, CalBodyId id) {
	return desc && id.value > 0 && id.value <= (uint32_t)desc->body_count ? desc_body(desc, id) : NULL;
}

CalStatus cal_flex_body(const CalDesc *desc, CalBodyId id, CalBodyDef *rigid, CalFlexDef *flex) {
	const DescBody *body = find_body(desc, id);
	if (!body) {
		return CAL_ERR_ARGUMENT;
	}
	if (rigid) {
		*rigid = body->def;
	}
	if (flex) {
		*flex = body->flex ? *body->flex : (CalFlexDef){0};
	}
	return CAL_OK;
}

/** True if the node has mode shapes. */
static int is_listed(const CalFlexDef *flex, uint32_t node) {
	for (int i = 0; flex && i < flex->node_count; i++) {
		if (flex->nodes[i].node.value == node) {
			return 1;
		}
	}
	return 0;
}

/** The index-th node of the body that is neither listed nor its frame; 0: none. */
static uint32_t other_node(const CalDesc *desc, CalBodyId id, const DescBody *body, int index) {
	for (uint32_t k = 1; k <= (uint32_t)desc->node_count; k++) {
		if (desc_node(desc, (CalNodeId){k})->body.value == id.value && k != body->frame.value &&
		    !is_listed(body->flex, k) && index-- == 0) {
			return k;
		}
	}
	return 0;
}

CalStatus cal_flex_node(const CalDesc *desc, CalBodyId id, int index, CalFlexNodeInfo *info) {
	const DescBody *body = find_body(desc, id);
	if (!body || index < 0 || !info) {
		return CAL_ERR_ARGUMENT;
	}
	int listed = body->flex ? body->flex->node_count : 0;
	CalFlexNode node = {0};
	if (index < listed) {
		node = body->flex->nodes[index];
	} else {
		node.node.value = other_node(desc, id, body, index - listed);
	}
	if (node.node.value == 0) {
		return CAL_ERR_ARGUMENT;
	}
	const CalNodeDef *def = &desc_node(desc, node.node)->def;
	*info = (CalFlexNodeInfo){.name = def->name, .placement = def->placement, .flex = node};
	return CAL_OK;
}

CalStatus cal_flex_evaluation(const CalModel *model, int body, CalFlexEvaluation *evaluation) {
	if (!model || !evaluation || body < 0 || body >= model->body_count || model->bodies[body].flex < 0) {
		return CAL_ERR_ARGUMENT;
	}
	const Flex *flex = &model->flexes[model->bodies[body].flex];
	*evaluation = (CalFlexEvaluation){.summed_masses = flex->mass_count - flex->summed_first,
	                                  .invariant_masses = flex->summed_first,
	                                  .linear = flex->by_ports && model->solver == CAL_SOLVER_RECURSIVE};
	return CAL_OK;
}
