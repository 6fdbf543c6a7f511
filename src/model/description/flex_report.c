// SPDX-License-Identifier: Apache-2.0
/*
 * flex_report.c — cal_flex_report(): finds the body in the description and puts faults into words.
 *
 * The numbers are made in flexbody/modal_report.c, which knows no description.
 */
#include "base/error.h"
#include "base/memory.h"
#include "flexbody/modal_report.h"
#include "model/description/desc.h"

/** A shape is named by its number from 1, as a person counts. */
static CalStatus set_error(const CalBodyDef *body, const ModalForm *form, CalStatus status, CalError *error) {
	const char *what = cal_status_text(status);
	switch (form->fault) {
	case MODAL_STIFFNESS_ASYMMETRIC:
		what = "the stiffness is not symmetric";
		break;
	case MODAL_STIFFNESS_NEGATIVE:
		what = "the stiffness has a negative direction";
		break;
	case MODAL_MASSLESS:
		what = "the shape moves no mass; give its nodes mass, or drop it";
		break;
	case MODAL_DEPENDENT:
		what = "the shape moves the masses as those before it do; drop it, or add mass nodes";
		break;
	case MODAL_RIGID:
		what = "the shape is a motion of the whole body; drop it";
		break;
	case MODAL_SOUND:
	case MODAL_NUMERICS:
		break;
	}
	return error_set(error, status, "%s%sbody \"%s\": shape %d: %s", PLACE_ARGS(body->place), body->name,
	                 form->mode + 1, what);
}

CalStatus cal_flex_report(const CalDesc *desc, CalBodyId id, CalFlexReport *report, CalFlexMode *modes, int capacity,
                          CalError *error) {
	if (!desc || !report || id.value == 0 || id.value > (uint32_t)desc->body_count) {
		return error_set(error, CAL_ERR_ARGUMENT, "cal_flex_report: no such body in the description, or no report");
	}
	const DescBody *body = desc_body(desc, id);
	if (!body->flex) {
		return error_set(error, CAL_ERR_ARGUMENT, "%s%sbody \"%s\" is rigid: it has no modes to report",
		                 PLACE_ARGS(body->def.place), body->def.name);
	}
	CalAllocator allocator = allocator_or_default(NULL);
	CalVec3 *positions = memory_alloc(&allocator, (size_t)body->flex->node_count * sizeof(CalVec3));
	if (!positions) {
		return error_set(error, CAL_ERR_MEMORY, "body \"%s\": out of memory", body->def.name);
	}
	for (int i = 0; i < body->flex->node_count; i++) {
		positions[i] = desc_node(desc, body->flex->nodes[i].node)->def.placement.position;
	}
	const ModalBody modal = {.body = &body->def, .flex = body->flex, .position = positions};
	ModalForm form;
	CalStatus status = report_body(&modal, report, modes, capacity, &form);
	memory_free(&allocator, positions);
	return status == CAL_OK ? CAL_OK : set_error(&body->def, &form, status, error);
}
