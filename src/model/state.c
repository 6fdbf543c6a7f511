// SPDX-License-Identifier: Apache-2.0
/*
 * state.c — states, and the configuration as a point of a manifold, link by link.
 */
#include <stdlib.h>

#include "model/model.h"

/* One entry at least, so that a model without dofs has a state too. */
static size_t state_bytes(const CalModel *model) { return sizeof(double) * (size_t)(model->nq + model->nu + 1); }

size_t cal_state_size(const CalModel *model) { return model ? state_bytes(model) : 0; }

CalStatus cal_state_init(const CalModel *model, void *memory, size_t size, CalState *state) {
	if (!model || !memory || !state || (uintptr_t)memory % sizeof(double) || size < state_bytes(model)) {
		return CAL_ERR_ARGUMENT;
	}
	memset(memory, 0, state_bytes(model));
	*state = (CalState){.q = memory, .u = (double *)memory + model->nq};
	cal_config_neutral(model, state->q);
	return CAL_OK;
}

CalStatus cal_state_create(const CalModel *model, CalState *state) {
	if (!model || !state)
		return CAL_ERR_ARGUMENT;
	*state = (CalState){0};
	void *memory = malloc(state_bytes(model));
	if (!memory)
		return CAL_ERR_MEMORY;
	return cal_state_init(model, memory, state_bytes(model), state);
}

void cal_state_destroy(CalState *state) {
	if (!state)
		return;
	free(state->q); // the block starts with q
	*state = (CalState){0};
}

void cal_state_copy(const CalModel *model, const CalState *from, CalState *to) {
	if (!model || !from || !to)
		return;
	to->t = from->t;
	memcpy(to->q, from->q, sizeof(double) * (size_t)model->nq);
	memcpy(to->u, from->u, sizeof(double) * (size_t)model->nu);
}

void cal_config_neutral(const CalModel *model, double *q) {
	if (!model || !q)
		return;
	for (int i = 0; i < model->link_count; ++i) {
		const Link *link = &model->links[i];
		primitive_neutral((JointPrimitive)link->motion, &link->data, q + link->q);
	}
	for (int f = 0; f < model->flex_count; ++f) {
		const Flex *flex = &model->flexes[f];
		for (int k = 0; k < flex->m; ++k)
			q[flex->q + k] = flex->neutral ? flex->neutral[k] : 0;
	}
}

void cal_config_integrate(const CalModel *model, const double *q, const double *dq, double *q_out) {
	if (!model || !q || !dq || !q_out)
		return;
	for (int i = 0; i < model->link_count; ++i) {
		const Link *link = &model->links[i];
		if (link->motion == PRIMITIVE_ROTATION || link->motion == PRIMITIVE_TRANSLATION) {
			q_out[link->q] = q[link->q] + dq[link->u];
			continue;
		}
		if (link->nq == 0)
			continue;
		double moved[CAL_JOINT_MAX_COORDS]; // a caller's function need not allow aliasing
		primitive_integrate((JointPrimitive)link->motion, &link->data, q + link->q, dq + link->u, moved);
		memcpy(q_out + link->q, moved, sizeof(double) * (size_t)link->nq);
	}
	for (int f = 0; f < model->flex_count; ++f) {
		const Flex *flex = &model->flexes[f];
		for (int k = 0; k < flex->m; ++k)
			q_out[flex->q + k] = q[flex->q + k] + dq[flex->u + k];
	}
}

void cal_config_difference(const CalModel *model, const double *q0, const double *q1, double *dq) {
	if (!model || !q0 || !q1 || !dq)
		return;
	for (int i = 0; i < model->link_count; ++i) {
		const Link *link = &model->links[i];
		primitive_difference((JointPrimitive)link->motion, &link->data, q0 + link->q, q1 + link->q, dq + link->u);
	}
	for (int f = 0; f < model->flex_count; ++f) {
		const Flex *flex = &model->flexes[f];
		for (int k = 0; k < flex->m; ++k)
			dq[flex->u + k] = q1[flex->q + k] - q0[flex->q + k];
	}
}

void cal_config_rate(const CalModel *model, const double *delta, const double *u, double *delta_dot) {
	if (!model || !delta || !u || !delta_dot)
		return;
	for (int i = 0; i < model->link_count; ++i) {
		const Link *link = &model->links[i];
		primitive_rate((JointPrimitive)link->motion, &link->data, delta + link->u, u + link->u, delta_dot + link->u);
	}
	for (int f = 0; f < model->flex_count; ++f) {
		const Flex *flex = &model->flexes[f];
		memcpy(delta_dot + flex->u, u + flex->u, sizeof(double) * (size_t)flex->m);
	}
}

/* First coordinate of a link's quaternion, -1 if it has none. */
static int quaternion_of(const Link *link) {
	if (link->motion == PRIMITIVE_SPHERICAL)
		return link->q;
	return link->motion == PRIMITIVE_FREE ? link->q + 3 : -1;
}

CalStatus cal_config_normalize(const CalModel *model, double *q) {
	if (!model || !q)
		return CAL_ERR_ARGUMENT;
	for (int pass = 0; pass < 2; ++pass) { // the first only checks
		for (int i = 0; i < model->link_count; ++i) {
			const int at = quaternion_of(&model->links[i]);
			if (at < 0)
				continue;
			double *v = q + at;
			const double n = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2] + v[3] * v[3]);
			if (!(n > 0) || !isfinite(n))
				return CAL_NOT_FINITE;
			for (int k = 0; pass && k < 4; ++k)
				v[k] /= n;
		}
	}
	return CAL_OK;
}
