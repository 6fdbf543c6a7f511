// SPDX-License-Identifier: Apache-2.0
/*
 * generic_pose.c — poses and columns of links in a configuration without any symmetry.
 */
#include <math.h>

#include "model/generic_pose.h"

/* Displacements that share no pattern: multiples of the golden angle, kept away from 0 and pi. */
static void generic_displacement(const CalModel *model, double *dq) {
	double x = 0.5;
	for (int i = 0; i < model->nu; ++i) {
		x = fmod(x + 0.61803398874989485, 1.0);
		dq[i] = 0.4 + 0.9 * x;
	}
}

void generic_configuration(const CalModel *model, double *q, double *dq) {
	generic_displacement(model, dq);
	cal_config_neutral(model, q);
	cal_config_integrate(model, q, dq, q);
}

/* Undeformed pose of a flexible body's frame on its head, or of a node on the frame. */
static void pose_flexible(const CalModel *model, const Link *link, RelativeMotion *rel) {
	const FlexShape *shape = &model->shapes[link->shape];
	const dpose axes = {model->flexes[link->flex].R, {0, 0, 0}};
	const dpose node = {shape->E, shape->p};
	const dpose pose = link->motion == PRIMITIVE_NODE ? dpose_mul(axes, node) : dpose_inverse(node);
	rel->R = mat_from(pose.R);
	rel->r = vec_from(pose.r);
}

GenericPose generic_pose(const CalModel *model, const double *q, int i, const GenericPose *parent) {
	const Link *link = &model->links[i];
	RelativeMotion rel;
	primitive_evaluate_x1((JointPrimitive)link->motion, &link->data, q + link->q, NULL, &rel);
	if (link->flex >= 0)
		pose_flexible(model, link, &rel);
	const mat3 on = parent ? parent->R : mat_from(dmat_identity());
	const mat3 F = mat_mul_dmat(on, link->E);
	GenericPose pose = {.R = mat_mul(F, rel.R), .r = add(mat_mul_dvec(on, link->p), mat_mul_vec(F, rel.r))};
	for (int k = 0; k < link->nu; ++k)
		pose.S[k] = (spatial){mat_mul_vec(F, rel.S[k].a), mat_mul_vec(F, rel.S[k].l)};
	return pose;
}
