// SPDX-License-Identifier: Apache-2.0
/*
 * desc_mass.c — mass properties given in the frame of a node, and those of a body that is there already.
 *
 * With c the center of mass, I_N the inertia about the node, both in its axes, and (p, R) the node in the body:
 *   I_C = R (I_N - m (c.c 1 - c c')) R',   com = p + R c
 */
#include "base/error.h"
#include "math/placement.h"
#include "model/description/desc.h"

CalStatus cal_body_def_from_node(CalBodyDef *def, CalPlacement node) {
	if (!def || body_def_not_finite(def) || placement_resolve(&node))
		return CAL_ERR_ARGUMENT;
	const dpose X = pose_of(node);
	const double c[3] = {def->com.x, def->com.y, def->com.z};
	CalMat3 about = def->inertia;
	for (int i = 0; i < 3; i++)
		for (int k = 0; k < 3; k++)
			about.m[i][k] -= def->mass * ((i == k ? c[0] * c[0] + c[1] * c[1] + c[2] * c[2] : 0) - c[i] * c[k]);
	const dmat3 turned = dmat_mul(dmat_mul(X.R, dmat_in(&about)), dmat_transpose(X.R));
	const CalMat3 inertia = dmat_out(turned);
	for (int i = 0; i < 3; i++) // symmetric to the last bit
		for (int k = 0; k < 3; k++)
			def->inertia.m[i][k] = 0.5 * (inertia.m[i][k] + inertia.m[k][i]);
	def->com = dvec_out(dadd(X.r, dmat_mul_vec(X.R, dvec_in(def->com))));
	return CAL_OK;
}

CalStatus cal_desc_set_mass_properties(CalDesc *desc, CalBodyId body, const CalBodyDef *def, CalError *error) {
	if (!desc || !def)
		return error_null(error, "cal_desc_set_mass_properties", !desc ? "desc" : "def");
	if (body.value == 0 || body.value > (uint32_t)desc->body_count)
		return error_set(error, CAL_ERR_ARGUMENT, "there is no body %u in the description", body.value);
	CalBodyDef *own = &desc->bodies[body.value - 1].def;
	const char *what = body_def_not_finite(def);
	if (what)
		return error_set(error, CAL_ERR_MODEL, "body \"%.80s\": its %s is not finite", own->name, what);
	own->mass = def->mass;
	own->com = def->com;
	own->inertia = def->inertia;
	own->idealized = def->idealized;
	return CAL_OK;
}
