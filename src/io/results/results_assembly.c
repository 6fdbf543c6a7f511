// SPDX-License-Identifier: Apache-2.0
/*
 * results_assembly.c — what closing loops moved at the start of a run, as a dataset of an HDF5 file: the names of the
 * coordinates and speeds, with their values before and after as attributes.
 */
#include <calder/base.h>

#ifdef CALDER_WITH_HDF5

#include <math.h>
#include <stdio.h>

#include "base/cursor.h"
#include "base/memory.h"
#include "io/results/results_assembly.h"

static const double MOVED = 1e-12; // changes below it are round-off of the positions [rad, m, ...]

enum { NAME_SIZE = 104 };

typedef struct Moved {
	char (*name)[NAME_SIZE];
	const char **names, **units;
	double *given, *assembled;
	int *stated, *group;
	int count, capacity; // capacity 0: they are only counted
} Moved;

static const char *unit_of(const CalModel *model, const CalAssembly *a, int u, int speed) {
	CalDofInfo dof;
	CalBodyInfo body;
	if (cal_model_dof(model, u, &dof) != CAL_OK || cal_model_body(model, dof.body, &body) != CAL_OK ||
	    u >= body.u + body.nu)
		return speed ? "1/s" : "1";
	return a->angle[u] ? (speed ? "rad/s" : "rad") : speed ? "m/s" : "m";
}

/* A coordinate of a quaternion has no value of its own: the rotation from what was given stands for it. */
static void add_dof(Moved *m, const CalModel *model, const CalAssembly *a, int group, int u, int speed) {
	CalDofInfo dof = {.q = -1};
	(void)cal_model_dof(model, u, &dof);
	if (!(fabs(speed ? a->u[u] - a->u_given[u] : a->change[u]) > MOVED))
		return;
	const int i = m->count++;
	if (m->capacity == 0)
		return;
	const int length = snprintf(m->name[i], NAME_SIZE, "%s:", speed ? "u" : "q");
	cal_model_dof_name(model, u, m->name[i] + length, (size_t)(NAME_SIZE - length));
	m->names[i] = m->name[i];
	m->units[i] = unit_of(model, a, u, speed);
	m->given[i] = speed ? a->u_given[u] : dof.q >= 0 ? a->q_given[dof.q] : 0;
	m->assembled[i] = speed ? a->u[u] : dof.q >= 0 ? a->q[dof.q] : a->change[u];
	m->stated[i] = speed ? a->stated_u[u] : a->stated_q[u];
	m->group[i] = group;
}

static void add_all(Moved *m, CalSim *sim) {
	m->count = 0;
	for (int g = 0; g < cal_sim_group_count(sim); g++) {
		const CalModel *model = cal_sim_model(sim, g);
		CalAssembly a;
		if (cal_sim_assembly(sim, g, &a) != CAL_OK || !a.q)
			continue;
		for (int u = 0; u < cal_model_u_count(model); u++)
			for (int speed = 0; speed < 2; speed++)
				add_dof(m, model, &a, g, u, speed);
	}
}

static void layout_moved(Moved *m, int count, Cursor *cursor) {
	CURSOR_ARRAY(cursor, m->given, count);
	CURSOR_ARRAY(cursor, m->assembled, count);
	CURSOR_ARRAY(cursor, m->names, count);
	CURSOR_ARRAY(cursor, m->units, count);
	CURSOR_ARRAY(cursor, m->stated, count);
	CURSOR_ARRAY(cursor, m->group, count);
	CURSOR_ARRAY(cursor, m->name, count);
	m->capacity = count;
}

bool assembly_write(hid_t file, CalSim *sim, const CalAllocator *allocator) {
	Moved m = {0};
	if (sim)
		add_all(&m, sim);
	if (m.count == 0)
		return true;
	const int count = m.count;
	Cursor cursor = {.align = sizeof(double)};
	layout_moved(&m, count, &cursor);
	void *block = cursor_alloc_at_start(&cursor, allocator);
	if (!block)
		return false;
	layout_moved(&m, count, &cursor);
	add_all(&m, sim);
	hid_t dataset = hdf5_put_text_dataset(file, "assembly", m.count, m.names);
	const bool done = dataset >= 0 && hdf5_put_texts(dataset, "units", m.count, m.units) &&
	                  hdf5_put_attribute(dataset, "given", H5T_NATIVE_DOUBLE, m.count, m.given) &&
	                  hdf5_put_attribute(dataset, "assembled", H5T_NATIVE_DOUBLE, m.count, m.assembled) &&
	                  hdf5_put_attribute(dataset, "stated", H5T_NATIVE_INT, m.count, m.stated) &&
	                  hdf5_put_attribute(dataset, "group", H5T_NATIVE_INT, m.count, m.group);
	H5Dclose(dataset);
	memory_free(allocator, block);
	return done;
}

#endif
