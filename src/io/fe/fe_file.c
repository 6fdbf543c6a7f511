// SPDX-License-Identifier: Apache-2.0
/*
 * fe_file.c — cal_fe_read(), cal_modal_read() and cal_modal_write(): the format of a file by the end of its name.
 */
#include "io/fe/fe_file.h"

#include "base/memory.h"

CalStatus cal_fe_read(const char *path, const CalFeUnits *units, const CalAllocator *allocator, CalFeModel **fe,
                      CalError *error) {
	static const char *const dmig[] = {".pch", ".dmig", ".bdf", ".nas", ".dat"};
	if (!path || !fe)
		return error_set(error, CAL_ERR_ARGUMENT, "cal_fe_read: path or fe is NULL");
	if (!allocator_is_valid(allocator))
		return error_set(error, CAL_ERR_ARGUMENT, "cal_fe_read: the allocator needs both functions or none");
	for (size_t i = 0; i < sizeof dmig / sizeof *dmig; i++)
		if (fe_ends_with(path, dmig[i]))
			return cal_fe_read_dmig(path, NULL, NULL, units, allocator, fe, error);
	if (fe_ends_with(path, ".op4"))
		return cal_fe_read_op4(path, NULL, NULL, NULL, units, allocator, fe, error);
	return fe_read_calculix(path, units, allocator, fe, error);
}

static bool is_sid(const char *path) { return fe_ends_with(path, ".sid_fem") || fe_ends_with(path, ".sid"); }

static void drop_geometric(CalModal *modal) {
	bool any = modal->geometric != NULL;
	modal->geometric = NULL;
	for (int i = 0; i < modal->node_count; i++) {
		any |= modal->nodes[i].phi2 != NULL;
		modal->nodes[i].phi2 = NULL;
	}
	if (any)
		fe_modal_note(modal, "left out: geometric stiffness");
}

CalStatus cal_modal_read(const char *path, const CalModalOptions *options, const CalAllocator *allocator,
                         CalModal **modal, CalError *error) {
	if (!path || !modal)
		return error_set(error, CAL_ERR_ARGUMENT, "cal_modal_read: path or modal is NULL");
	*modal = NULL;
	if (!allocator_is_valid(allocator))
		return error_set(error, CAL_ERR_ARGUMENT, "cal_modal_read: the allocator needs both functions or none");
	if (is_sid(path))
		return fe_modal_read_sid(path, options, allocator, modal, error);
	const CalStatus status = fe_modal_read_file(path, allocator, modal, error);
	if (status == CAL_OK && options && options->ignore_geometric_stiffness)
		drop_geometric(*modal);
	return status;
}

CalStatus cal_modal_write(const CalModal *modal, const char *path, CalError *error) {
	if (!modal || !path)
		return error_set(error, CAL_ERR_ARGUMENT, "cal_modal_write: path or modal is NULL");
	const CalStatus status = fe_modal_check(modal, error); // nothing is written that would not be read
	if (status != CAL_OK)
		return status;
	return is_sid(path) ? fe_modal_write_sid(modal, path, error) : fe_modal_write_file(modal, path, error);
}
