// SPDX-License-Identifier: Apache-2.0
/*
 * mjcf.c — the phases of reading an MJCF file.
 */
#include <string.h>

#include "io/mjcf/mjcf_internal.h"

/* A phase for every file. */
static bool for_files(Mjcf *m, bool (*phase)(Mjcf *m, MjcfFile *file)) {
	for (int i = 0; i < m->file_count; i++)
		if (!phase(m, m->files[i]))
			return false;
	return true;
}

static bool read_lists(Mjcf *m) {
	return mjcf_open_file(m, &m->file) && mjcf_read_option(m) && mjcf_read_bodies(m) && mjcf_fit_geoms(m) &&
	       for_files(m, mjcf_read_tendons) && for_files(m, mjcf_read_actuators) && mjcf_complete_masses(m) &&
	       mjcf_joint_inertias(m) && mjcf_resolve_springdampers(m) && mjcf_read_keyframes(m);
}

static bool build(Mjcf *m) {
	return mjcf_build_tree(m) && mjcf_build_joint_devices(m) && for_files(m, mjcf_read_equalities) &&
	       mjcf_build_tendon_devices(m) && mjcf_build_actuators(m) && mjcf_build_contact(m) && mjcf_build_visuals(m) &&
	       mjcf_build_state(m);
}

/* Unless something else is wrong, the message is that there is nothing. */
static bool has_body(Mjcf *m) {
	return m->lists[MJCF_BODIES].count > 1 ||
	       import_fail(m->im, m->file.root, "<mujoco> has no <body> in a <worldbody>; a model has at least one");
}

/* Title, method and step; how long to run is up to the user. */
static bool set_run(Mjcf *m) {
	CalRunSettings run = cal_setup_run(m->im->setup);
	const char *title = xml_get(m->file.root, "model");
	run.title = title ? title : "MuJoCo model";
	run.method.method = m->option.integrator == MJCF_RK4 ? CAL_METHOD_RK4 : CAL_METHOD_DEFAULT;
	run.method.step = m->option.integrator == MJCF_RK4 ? m->option.timestep : 0;
	run.duration = 10;
	return import_ok(m->im, cal_setup_set_run(m->im->setup, &run, m->im->error));
}

bool mjcf_import(Import *im) {
	Mjcf m = {.im = im, .file = {.root = xml_root(im->tree), .prefix = ""}};
	const bool good = read_lists(&m) && build(&m) && set_run(&m) && mjcf_report(&m, m.file.root) && has_body(&m);
	mjcf_lists_free(&m);
	return good;
}
