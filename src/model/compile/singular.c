// SPDX-License-Identifier: Apache-2.0
/*
 * singular.c — does every joint carry inertia along its dofs?
 *
 * A joint whose articulated inertia D = S'M^S vanishes in *every* configuration (a massless tip, a point
 * mass on its own axis, two coincident axes) makes the equations of motion meaningless, and is an error of
 * the description. One that vanishes in some configuration (gimbal lock) is not: it is met at run time. So
 * the articulated and composite inertias are formed once in a configuration without any symmetry, plainly
 * and in double precision, and D is compared with the composite inertia R along the same column.
 */
#include <stdio.h>

#include "base/error.h"
#include "base/memory.h"
#include "model/description/desc.h"
#include "model/generic_pose.h"
#include "model/work.h"

static const double ALWAYS_SINGULAR_RATIO = 1e-12; // D / S'RS

typedef struct LinkInertia {
	GenericPose pose;
	ArticulatedInertia articulated, composite;
} LinkInertia;

/* Undeformed inertia of a flexible body and all that its link carries, in the axes of B. */
static ArticulatedInertia flexible_inertia(const Flex *flex) {
	const FlexRigid *all = &flex->all;
	dvec3 mc = all->mc;
	double m = all->m;
	sym3 Sigma = {all->xx, all->yy, all->zz, all->xy, all->xz, all->yz};
	for (int i = flex->summed_first; i < flex->mass_count; ++i) {
		const FlexMass *mass = &flex->masses[i];
		const dvec3 p = mass->p, mp = dscale(mass->m, p);
		m += mass->m;
		mc = dadd(mc, mp);
		Sigma = sym_add(Sigma, (sym3){mp.x * p.x, mp.y * p.y, mp.z * p.z, mp.x * p.y, mp.x * p.z, mp.y * p.z});
	}
	if (flex->ops) { // what it weighs is known in evaluations only
		m += 1;
		Sigma = sym_add(Sigma, (sym3){1, 1, 1, 0, 0, 0});
	}
	return articulated_rigid(m, vec_from(mc), Sigma);
}

static void pose_link(const CalModel *model, const double *q, int i, LinkInertia *out) {
	const Link *link = &model->links[i];
	LinkInertia *l = &out[i];
	l->pose = generic_pose(model, q, i, link->parent >= 0 ? &out[link->parent].pose : NULL);
	const DInertia *in = &link->inertia;
	l->articulated = articulated_rigid(in->m, mat_mul_dvec(l->pose.R, in->mc), second_moment_rotate(in, l->pose.R));
	if (link->flex_body >= 0) {
		const Flex *flex = &model->flexes[link->flex_body];
		l->articulated = articulated_rotate(flexible_inertia(flex), mat_mul_dmat(l->pose.R, flex->R));
	}
	l->composite = l->articulated;
}

/* The bodies that the joint of `body` carries, as "a", "b", ... */
static void name_carried(const CalModel *model, int body, char *text, size_t size) {
	size_t used = 0;
	text[0] = 0;
	for (int b = body; b < model->body_count; ++b) {
		int up = b;
		while (up > body)
			up = model->bodies[up].parent;
		if (up != body)
			break; // depth first: the subtree is contiguous
		const int n = snprintf(text + used, size - used, "%s\"%s\"", used ? ", " : "", model->bodies[b].name);
		if (n < 0 || (size_t)n >= size - used)
			break;
		used += (size_t)n;
	}
}

static void report_singular(const CalModel *model, const CalDesc *desc, int u, int massless, CalFindingFn report,
                            void *user) {
	char carried[256], text[768], dof[128];
	const int body = model->dofs[u].body;
	name_carried(model, body, carried, sizeof carried);
	cal_model_dof_name(model, u, dof, sizeof dof);
	const char *place = desc->joints[model->bodies[body].joint_id.value - 1].def.place;
	snprintf(
		text, sizeof text,
		massless
			? "%s%sjoint \"%s\": nothing that it carries (%s) has inertia along its degree of freedom %s; give one of these bodies "
			  "mass or inertia, add a rotor inertia, or weld it"
			: "%s%sjoint \"%s\": the articulated inertia of the bodies that it carries (%s) is singular along its "
			  "degree of freedom %s, which other joints already provide without any mass between them; remove one of the "
			  "coincident degrees of freedom or give the bodies between them inertia",
		PLACE_ARGS(place), model->bodies[body].joint, carried, dof);
	const CalFinding finding = {CAL_ERR_MODEL, text};
	report(user, &finding);
}

/* What the same bodies weigh along dofs like S: any direction, any axis through the point. */
static double inertia_scale(const ArticulatedInertia *a, spatial S) {
	return dot(S.a, S.a) * (a->I.xx + a->I.yy + a->I.zz) + dot(S.l, S.l) * (a->M.xx + a->M.yy + a->M.zz);
}

static int eliminate_dofs(const CalModel *model, const CalDesc *desc, int i, LinkInertia *l, CalFindingFn report,
                          void *user) {
	const Link *link = &model->links[i];
	int errors = 0;
	for (int k = 0; k < link->nu; ++k) {
		const int u = link->u + k;
		if (model->prescribed[u])
			continue;
		const spatial S = l->pose.S[k], U = articulated_mul(&l->articulated, S);
		const double rigid = spatial_dot(S, articulated_mul(&l->composite, S)) + model->rotor[u];
		const double D = spatial_dot(S, U) + model->rotor[u];
		const int massless = !(rigid > ALWAYS_SINGULAR_RATIO * inertia_scale(&l->composite, S));
		if (massless || !(D > ALWAYS_SINGULAR_RATIO * rigid)) {
			report_singular(model, desc, u, massless, report, user);
			++errors;
			continue;
		}
		const spatial K = {scale(1.0 / D, U.a), scale(1.0 / D, U.l)};
		l->articulated = articulated_sub_outer(l->articulated, U, K);
	}
	return errors;
}

CalStatus model_check_singular(const CalModel *model, const CalDesc *desc, CalFindingFn report, void *user) {
	const size_t links = (size_t)model->link_count;
	const size_t numbers = (size_t)(model->nq + model->nu + 1);
	LinkInertia *l = memory_alloc(&model->allocator, links * sizeof *l + numbers * sizeof(double));
	if (!l)
		return CAL_ERR_MEMORY;
	double *q = (double *)(void *)(l + links), *dq = q + model->nq;
	generic_configuration(model, q, dq);
	for (int i = 0; i < model->link_count; ++i)
		pose_link(model, q, i, l);
	int errors = 0;
	for (int i = model->link_count - 1; i >= 0; --i) {
		errors += eliminate_dofs(model, desc, i, &l[i], report, user);
		const int parent = model->links[i].parent;
		if (parent < 0)
			continue;
		l[parent].articulated =
			articulated_add(l[parent].articulated, articulated_shift(l[i].articulated, l[i].pose.r));
		l[parent].composite = articulated_add(l[parent].composite, articulated_shift(l[i].composite, l[i].pose.r));
	}
	memory_free(&model->allocator, l);
	return errors ? CAL_ERR_MODEL : CAL_OK;
}
