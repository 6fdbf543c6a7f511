// SPDX-License-Identifier: Apache-2.0
/*
 * export_loops.c — couplings as axes that follow others, and what a loop has beside its equations.
 */
#include "io/export/export.h"

static bool is_still(const CalDrive *d) { return d->speed == 0 && d->acceleration == 0 && d->amplitude == 0 && !d->fn; }

bool export_loop_is_plain(Export *ex, CalLoopId id) {
	const CalLoopDef *def = cal_desc_loop(ex->desc, id, NULL, NULL);
	const CalVec3 m = def->applied_wrench.angular, f = def->applied_wrench.linear;
	bool driven = false;
	for (int i = 0; i < CAL_LOOP_MAX_ROWS; i++)
		driven = driven || !is_still(&def->drive[i]) || (def->drive[i].offset != 0 && def->type != CAL_LOOP_COUPLING);
	const bool pushed = m.x != 0 || m.y != 0 || m.z != 0 || f.x != 0 || f.y != 0 || f.z != 0;
	if (driven || pushed)
		export_note(ex, CAL_IMPORT_MISSING, "loop", def->name, def->place, "%s has no loops that %s; it is left out",
		            ex->format->name, driven ? "are driven" : "apply a wrench");
	else if (def->frequency != 0)
		export_note(ex, CAL_IMPORT_IGNORED, "loop", def->name, def->place,
		            "its stabilisation, which does not change the ideal motion, is left out");
	return !driven && !pushed;
}

bool export_loop_is_open(const Export *ex, CalLoopId id) {
	for (int i = 0; i < cal_setup_open_loop_count(ex->setup); i++)
		if (cal_setup_opened_loop(ex->setup, i).value == id.value)
			return true;
	return false;
}

bool export_coupling_axes(const Export *ex, const CalLoopDef *def, int *links, ExportAxis **axes) {
	for (int i = 0; i < def->term_count; i++) {
		const int link = ex->link_of_body[def->term[i].body.value];
		axes[i] = export_find_axis(ex, ex->links[link].joint, def->term[i].dof, &links[i]);
		if (!axes[i])
			return false;
	}
	return true;
}

/* Whether `axis` follows, over any number of others, the axis `of`. */
static bool follows(const Export *ex, const ExportAxis *axis, const ExportAxis *of) {
	for (; axis->mimic && axis->leader >= 0; axis = &ex->links[axis->leader].axes[axis->leader_axis])
		if (&ex->links[axis->leader].axes[axis->leader_axis] == of)
			return true;
	return false;
}

static bool tie(const Export *ex, const CalLoopDef *def, ExportAxis **axes, const int *links, int follower) {
	const int leader = 1 - follower;
	ExportAxis *axis = axes[follower];
	if (axis->mimic || axes[leader] == axis || follows(ex, axes[leader], axis))
		return false;
	axis->mimic = def;
	axis->leader = links[leader];
	axis->leader_axis = (int)(axes[leader] - ex->links[links[leader]].axes);
	axis->multiplier = -def->term[leader].factor / def->term[follower].factor;
	axis->offset = def->drive[0].offset / def->term[follower].factor;
	return true;
}

bool export_make_mimic(Export *ex, const CalLoopDef *def, bool has_held) {
	int links[CAL_LOOP_MAX_TERMS];
	ExportAxis *axes[CAL_LOOP_MAX_TERMS];
	if (def->term_count > 2 || !export_coupling_axes(ex, def, links, axes))
		return false;
	if (def->term_count == 2)
		return tie(ex, def, axes, links, 0) || tie(ex, def, axes, links, 1);
	const double at = def->drive[0].offset / def->term[0].factor;
	if (!has_held || axes[0]->mimic || axes[0]->limit || at == 0)
		return false;
	axes[0]->mimic = def;
	axes[0]->leader = -1;
	axes[0]->offset = at;
	return true;
}
