// SPDX-License-Identifier: Apache-2.0
/*
 * mjcf_write_joint.c — joints of bodies with what acts along them, and the keyframe "home".
 *
 * Stops have their own stiffness and damping: as negative solreflimit, over the inertia that the joint feels at qpos0, and
 * with the impedance d of the default solimplimit (mjcf_joint.c has the way back).
 */
#include <math.h>

#include "io/mjcf/mjcf_write.h"

static const double impedance = 0.95; // of the default solimplimit
static const double far_away = 1e30;  // a stop that is none
static const double most_inertia = 1e50;

/* ---- one degree of freedom ----------------------------------------------------------------------------- */

static double armature_of(const CalDofDef *dof) {
	const double ratio = dof->gear_ratio == 0 ? 1 : dof->gear_ratio;
	return dof->rotor_inertia * ratio * ratio;
}

static void put_forces(Export *ex, const ExportLink *link) {
	const ExportAxis *axis = &link->axes[0];
	const CalDofDef *dof = &axis->dof;
	const double armature = armature_of(dof);
	if (dof->stiffness != 0)
		export_attribute_number(ex, "stiffness", dof->stiffness);
	if (dof->stiffness != 0 && dof->rest != 0)
		export_attribute_number(ex, "springref", dof->rest);
	if (dof->damping != 0)
		export_attribute_number(ex, "damping", dof->damping);
	if (armature > most_inertia)
		export_note(ex, CAL_IMPORT_MISSING, "joint", link->joint_name, link->place,
		            "its rotor times the square of its gear ratio is %g, above what can be read back", armature);
	else if (armature != 0)
		export_attribute_number(ex, "armature", armature);
	if (axis->friction)
		export_attribute_number(ex, "frictionloss", axis->friction->coulomb);
}

static void put_limit(Export *ex, const ExportLink *link) {
	const CalLimitDef *limit = link->axes[0].limit;
	const double inertia = limit ? export_axis_inertia(link) : 0;
	if (!limit)
		return;
	if (!(limit->lower < limit->upper)) {
		export_note(ex, CAL_IMPORT_MISSING, "device", limit->name, limit->place,
		            "MJCF has no stops at which lower is not below upper");
		return;
	}
	const double range[2] = {fmax(limit->lower, -far_away), fmin(limit->upper, far_away)};
	const double solref[2] = {-limit->stiffness * impedance * impedance / inertia,
	                          -limit->damping * impedance / inertia};
	export_attribute(ex, "limited", "true"); // MuJoCo before 2.3 does not take it from the range
	export_attribute_numbers(ex, "range", range, 2);
	if (inertia > 0 && isfinite(solref[0]) && isfinite(solref[1]))
		export_attribute_numbers(ex, "solreflimit", solref, 2);
	else
		export_note(ex, CAL_IMPORT_CHANGED, "device", limit->name, limit->place,
		            "the joint carries no inertia, over which MJCF says how hard stops are; they have the default");
	if (range[0] != limit->lower || range[1] != limit->upper)
		export_note(ex, CAL_IMPORT_ASSUMED, "device", limit->name, limit->place,
		            "MJCF has stops on both sides only; that which is not there is at %g", far_away);
}

/* ---- joints -------------------------------------------------------------------------------------------- */

/* L: frame of the body at qpos0 in that of the link. */
static void put_scalar(Export *ex, const ExportLink *link, const dpose *L) {
	const dpose X_ML = dpose_mul(link->X_ML, *L), X_LM = dpose_inverse(X_ML);
	export_attribute(ex, "type", link->motion == EXPORT_ROTATION ? "hinge" : "slide");
	if (link->motion == EXPORT_ROTATION && !export_is_zero(X_LM.r))
		export_attribute_vector(ex, "pos", X_LM.r);
	export_attribute_vector(ex, "axis", dmat_tmul_vec(X_ML.R, link->axis));
	put_forces(ex, link);
	put_limit(ex, link);
}

static void put_joint(Export *ex, const ExportLink *link, const dpose *L) {
	export_open(ex, "joint");
	export_attribute(ex, "name", link->joint_name);
	if (export_axis_count(link)) {
		put_scalar(ex, link, L);
	} else {
		export_attribute(ex, "type", link->motion == EXPORT_BALL ? "ball" : "free");
		put_forces(ex, link);
	}
	export_close(ex, "joint");
}

void mjcf_put_joints(MjcfOut *m, int first, int last) {
	for (int i = first; i <= last; i++) {
		dpose L = dpose_identity();
		for (int k = i + 1; k <= last; k++)
			L = dpose_mul(L, export_on_parent(&m->ex->links[k]));
		if (m->ex->links[i].motion != EXPORT_FIXED)
			put_joint(m->ex, &m->ex->links[i], &L);
	}
}

/* ---- the keyframe -------------------------------------------------------------------------------------- */

static int coordinate_count(const ExportLink *link) {
	return link->motion == EXPORT_FREE ? 7 : link->motion == EXPORT_BALL ? 4 : link->dofs;
}

/* A free body starts where it stands in the file. */
static bool is_at_zero(const ExportLink *link) {
	const bool ball = link->motion == EXPORT_BALL;
	bool zero = true;
	for (int i = 0; i < link->dofs; i++)
		zero = zero && link->u[i] == 0;
	for (int i = 0; i < coordinate_count(link) && link->motion != EXPORT_FREE; i++)
		zero = zero && link->q[i] == (ball && i == 0 ? 1 : 0);
	return zero;
}

static int fill(const Export *ex, double *values, bool speeds) {
	int count = 0;
	for (int i = 0; i < ex->link_count; i++) {
		const ExportLink *link = &ex->links[i];
		const int n = speeds ? link->dofs : coordinate_count(link);
		for (int k = 0; k < n; k++)
			values[count++] = speeds ? link->u[k] : link->q[k];
	}
	return count;
}

void mjcf_put_keyframe(MjcfOut *m) {
	Export *ex = m->ex;
	bool at_zero = true, is_idle = true;
	for (int i = 0; i < ex->link_count; i++)
		at_zero = at_zero && is_at_zero(&ex->links[i]);
	for (int i = 0; i < m->control_count; i++)
		is_idle = is_idle && m->controls[i] == 0;
	double *values = pool_array(&ex->pool, 7 * (size_t)ex->link_count + 1, sizeof *values);
	if (!values)
		export_no_memory(ex);
	if ((at_zero && is_idle) || !values)
		return;
	export_open(ex, "keyframe");
	export_open(ex, "key");
	export_attribute(ex, "name", "home");
	export_attribute_numbers(ex, "qpos", values, fill(ex, values, false));
	export_attribute_numbers(ex, "qvel", values, fill(ex, values, true));
	if (!is_idle)
		export_attribute_numbers(ex, "ctrl", m->controls, m->control_count);
	export_close(ex, "key");
	export_close(ex, "keyframe");
}
