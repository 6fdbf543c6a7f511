// SPDX-License-Identifier: Apache-2.0
/*
 * sdf_write_joint.c — joints with their axes, limits, springs and mimics.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/sdf/sdf_write.h"

static const char *type_of(ExportMotion motion) {
	static const char *const names[] = {
		[EXPORT_FIXED] = "fixed", [EXPORT_ROTATION] = "revolute",   [EXPORT_TRANSLATION] = "prismatic",
		[EXPORT_SCREW] = "screw", [EXPORT_UNIVERSAL] = "universal", [EXPORT_BALL] = "ball"};
	return names[motion];
}

/* ---- axes -------------------------------------------------------------------------------------------- */

static void put_limit(Export *ex, const ExportAxis *axis) {
	const CalLimitDef *limit = axis->limit;
	if (!limit)
		return;
	export_open(ex, "limit");
	if (isfinite(limit->lower))
		export_number(ex, "lower", limit->lower - axis->zero);
	if (isfinite(limit->upper))
		export_number(ex, "upper", limit->upper - axis->zero);
	export_number(ex, "stiffness", limit->stiffness);
	export_number(ex, "dissipation", limit->damping);
	export_close(ex, "limit");
	if (limit->lower == limit->upper)
		export_note(ex, CAL_IMPORT_MISSING, "device", limit->name, limit->place,
		            "limits of SDFormat that are equal are read as none");
}

static void put_dynamics(Export *ex, const ExportAxis *axis) {
	const CalDofDef *dof = &axis->dof;
	if (dof->damping == 0 && dof->stiffness == 0 && !axis->friction)
		return;
	export_open(ex, "dynamics");
	export_number(ex, "damping", dof->damping);
	if (axis->friction)
		export_number(ex, "friction", axis->friction->coulomb);
	export_number(ex, "spring_reference", dof->stiffness != 0 ? dof->rest - axis->zero : 0);
	export_number(ex, "spring_stiffness", dof->stiffness);
	export_close(ex, "dynamics");
}

static void put_mimic(Export *ex, const ExportAxis *axis) {
	if (!axis->mimic)
		return;
	const double leader = ex->links[axis->leader].axes[axis->leader_axis].zero;
	export_open(ex, "mimic");
	export_attribute(ex, "joint", ex->links[axis->leader].joint_name);
	export_attribute(ex, "axis", axis->leader_axis ? "axis2" : "axis");
	export_number(ex, "multiplier", axis->multiplier);
	export_number(ex, "offset", axis->offset + axis->multiplier * leader - axis->zero);
	export_number(ex, "reference", 0);
	export_close(ex, "mimic");
}

static void put_axis(Export *ex, const ExportLink *link, int which) {
	const char *element = which ? "axis2" : "axis";
	const dvec3 a = which ? link->axis2 : link->axis;
	const ExportAxis *axis = &link->axes[which];
	export_open(ex, element);
	export_numbers(ex, "xyz", (const double[3]){a.x, a.y, a.z}, 3);
	put_limit(ex, axis);
	put_dynamics(ex, axis);
	if (link->q[which] != axis->zero)
		export_number(ex, "initial_position", link->q[which] - axis->zero);
	put_mimic(ex, axis);
	export_close(ex, element);
}

void sdf_check_start(Export *ex, const ExportLink *link) {
	bool moves = link->motion == EXPORT_BALL && link->q[0] != 1;
	for (int i = 0; i < link->dofs; i++)
		moves = moves || link->u[i] != 0;
	if (moves)
		export_note(ex, CAL_IMPORT_CHANGED, "joint", cal_desc_joint(ex->desc, link->joint, NULL, NULL)->name,
		            link->place, "SDFormat has no initial speeds%s: it starts at rest%s",
		            link->motion == EXPORT_BALL ? " or turns of ball joints" : "",
		            link->motion == EXPORT_BALL ? " and not turned" : "");
}

/* ---- joints ------------------------------------------------------------------------------------------ */

void sdf_put_joint(Export *ex, const ExportLink *link) {
	const int axes = export_axis_count(link);
	export_open(ex, "joint");
	export_attribute(ex, "name", link->joint_name);
	export_attribute(ex, "type", type_of(link->motion));
	if (!export_is_neutral(&link->X_ML))
		sdf_put_frame(ex, &link->X_PF, link->turn_PF,
		              link->parent == EXPORT_GROUND ? "__model__" : ex->links[link->parent].name);
	export_text(ex, "parent", sdf_link_name(ex, link->parent));
	export_text(ex, "child", link->name);
	for (int i = 0; i < axes; i++)
		put_axis(ex, link, i);
	if (link->motion == EXPORT_SCREW)
		export_number(ex, "thread_pitch", -1 / link->pitch);
	export_close(ex, "joint");
}
