// SPDX-License-Identifier: Apache-2.0
/*
 * shared_object.c — devices and compiled subsystems from shared objects, by the system's loader. The only file that
 * needs it: without CALDER_WITH_DL the calls say that they cannot. A simulation may refuse code, or have devices that
 * do nothing in its place (CalSimOptions.code).
 */
#include <calder/sim.h>
#include <calder/subsystem.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "device/device_type.h"
#include "sim/subsystem/subsystem.h"

/* ---- code that is not to be run ------------------------------------------------------------------ */

static int do_nothing(const CalDevice *device, CalEvalContext *context, double *xdot) {
	(void)device;
	(void)context;
	(void)xdot;
	return 0;
}

static const CalDeviceOps not_loaded_ops = {.type = "not loaded", .evaluate = do_nothing};

/* A device in the place of a shared object, which at least is there. */
static CalStatus stand_in(CalSim *sim, const char *what, const char *name, const char *path, int *device,
                          CalError *error) {
	FILE *file = fopen(path, "rb");
	if (!file)
		return error_set(error, CAL_ERR_IO, "%s \"%s\": cannot load %s: %s", what, name, path, strerror(errno));
	fclose(file);
	const CalDeviceDef def = {.name = name, .ops = &not_loaded_ops};
	int index;
	const CalStatus status = cal_sim_add_device(sim, &def, &index, error);
	if (status != CAL_OK)
		return status;
	sim->devices[index].not_loaded = true;
	if (device)
		*device = index;
	return CAL_OK;
}

static CalStatus refuse_library(const char *what, const char *name, const char *path, CalError *error) {
	return error_set(error, CAL_ERR_UNSUPPORTED,
	                 "%s \"%s\": %s is code, and code is not to be loaded here; allow it if you trust it", what, name,
	                 path);
}

#ifdef CALDER_WITH_DL

#include <dlfcn.h>

/* ---- loading --------------------------------------------------------------------------------------- */

static void close_library(void *library) { dlclose(library); }

/* NULL after reporting. */
static void *open_library(const char *what, const char *name, const char *path, CalError *error) {
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		const char *why = dlerror();
		error_set(error, CAL_ERR_IO, "%s \"%s\": cannot load %s: %s", what, name, path, why ? why : "no reason given");
	}
	return library;
}

/* dlsym gives a pointer to an object; C has no cast from it to a function. *function is that, NULL: there is none. */
static void find_function(void *library, const char *name, void *function, size_t size) {
	void *symbol = dlsym(library, name);
	memset(function, 0, size);
	if (symbol)
		memcpy(function, &symbol, size);
}

static CalStatus add_from(void *library, CalSim *sim, const char *name, const char *path, const char *arguments,
                          int *device, CalError *error) {
	CalDeviceDef def = {0};
	char message[256] = "";
	int index;
	CalDevicePluginFn make;
	find_function(library, "calder_device", &make, sizeof make);
	if (!make)
		return error_set(error, CAL_ERR_INPUT, "device \"%s\": %s has no function calder_device (see docs/devices.md)",
		                 name, path);
	if (make(CAL_DEVICE_API_VERSION, arguments, &def, message, sizeof message) != 0)
		return error_set(error, CAL_ERR_INPUT, "device \"%s\": %s: %s", name, path,
		                 message[0] ? message : "it refuses the arguments without saying why");
	def.name = name;
	const CalStatus status = cal_sim_add_device(sim, &def, &index, error);
	if (status != CAL_OK)
		return status;
	sim->devices[index].library = library;
	sim->devices[index].close_library = close_library;
	if (device)
		*device = index;
	return CAL_OK;
}

CalStatus cal_sim_load_device(CalSim *sim, const char *name, const char *path, const char *arguments, int *device,
                              CalError *error) {
	if (!sim || !name || !path)
		return error_set(error, CAL_ERR_ARGUMENT, "cal_sim_load_device: give a simulation, a name and a path");
	if (sim->plugins != CAL_PLUGIN_LOAD)
		return sim->plugins == CAL_PLUGIN_SKIP ? stand_in(sim, "device", name, path, device, error)
		                                       : refuse_library("device", name, path, error);
	void *library = open_library("device", name, path, error);
	if (!library)
		return CAL_ERR_IO;
	const CalStatus status = add_from(library, sim, name, path, arguments ? arguments : "", device, error);
	if (status != CAL_OK)
		dlclose(library);
	return status;
}

static CalStatus add_subsystem_from(void *library, CalSim *sim, const char *name, const char *path,
                                    const char *arguments, const CalSubsystemTie *ties, int tie_count, int *device,
                                    CalError *error) {
	CalSubsystemDef def = {0};
	char message[256] = "";
	CalError inner = {0};
	int index;
	CalSubsystemPluginFn make;
	find_function(library, "calder_subsystem", &make, sizeof make);
	if (!make)
		return error_set(error, CAL_ERR_INPUT,
		                 "subsystem \"%s\": %s has no function calder_subsystem (see docs/subsystems.md)", name, path);
	if (make(CAL_SUBSYSTEM_API_VERSION, arguments, &def, message, sizeof message) != 0)
		return error_set(error, CAL_ERR_INPUT, "subsystem \"%s\": %s: %s", name, path,
		                 message[0] ? message : "it refuses the arguments without saying why");
	const CalStatus status = cal_sim_add_subsystem(sim, name, &def, ties, tie_count, &index, &inner);
	if (status != CAL_OK) {
		if (def.version == CAL_SUBSYSTEM_API_VERSION && def.ops && def.ops->destroy)
			def.ops->destroy(def.self);
		return error_set(error, status, "%s (%s)", inner.text, path);
	}
	sim->devices[index].library = library;
	sim->devices[index].close_library = close_library;
	snprintf(sim_subsystem(sim, index)->origin, sizeof sim_subsystem(sim, index)->origin, "%s", path);
	if (device)
		*device = index;
	return CAL_OK;
}

CalStatus cal_sim_load_subsystem(CalSim *sim, const char *name, const char *path, const char *arguments,
                                 const CalSubsystemTie *ties, int tie_count, int *device, CalError *error) {
	if (!sim || !name || !path)
		return error_set(error, CAL_ERR_ARGUMENT, "cal_sim_load_subsystem: give a simulation, a name and a path");
	if (sim->plugins != CAL_PLUGIN_LOAD)
		return sim->plugins == CAL_PLUGIN_SKIP ? stand_in(sim, "subsystem", name, path, device, error)
		                                       : refuse_library("subsystem", name, path, error);
	void *library = open_library("subsystem", name, path, error);
	if (!library)
		return CAL_ERR_IO;
	const CalStatus status =
		add_subsystem_from(library, sim, name, path, arguments ? arguments : "", ties, tie_count, device, error);
	if (status != CAL_OK)
		dlclose(library);
	return status;
}

#else

CalStatus cal_sim_load_device(CalSim *sim, const char *name, const char *path, const char *arguments, int *device,
                              CalError *error) {
	(void)arguments;
	if (sim && name && path && sim->plugins != CAL_PLUGIN_LOAD)
		return sim->plugins == CAL_PLUGIN_SKIP ? stand_in(sim, "device", name, path, device, error)
		                                       : refuse_library("device", name, path, error);
	return error_set(error, CAL_ERR_UNSUPPORTED,
	                 "device \"%s\": this library was built without the system's loader; build again with "
	                 "CALDER_WITH_DL=ON to load %s",
	                 name ? name : "", path ? path : "a shared object");
}

CalStatus cal_sim_load_subsystem(CalSim *sim, const char *name, const char *path, const char *arguments,
                                 const CalSubsystemTie *ties, int tie_count, int *device, CalError *error) {
	(void)arguments;
	(void)ties;
	(void)tie_count;
	if (sim && name && path && sim->plugins != CAL_PLUGIN_LOAD)
		return sim->plugins == CAL_PLUGIN_SKIP ? stand_in(sim, "subsystem", name, path, device, error)
		                                       : refuse_library("subsystem", name, path, error);
	return error_set(error, CAL_ERR_UNSUPPORTED,
	                 "subsystem \"%s\": this library was built without the system's loader; build again with "
	                 "CALDER_WITH_DL=ON to load %s",
	                 name ? name : "", path ? path : "a shared object");
}

#endif

/* ---- in files ----------------------------------------------------------------------------------- */

#define AT(member) offsetof(CalSharedDeviceDef, member)
static const Field fields[] = {
	DEVICE_FIELDS(CalSharedDeviceDef),
	{"library", FIELD_FILE, AT(library), .flags = FIELD_REQUIRED, .doc = "the shared object"},
	{"arguments", FIELD_TEXT, AT(arguments), .doc = "that it gets; default empty"},
};
#undef AT

/* Without a slash the loader would look for the library in the system's folders. */
static CalStatus add_shared(CalSim *sim, const void *given, int *device, CalError *error) {
	const CalSharedDeviceDef *def = given;
	char path[1024];
	CalError own = {0};
	snprintf(path, sizeof path, "%s%s", strchr(def->library, '/') ? "" : "./", def->library);
	const CalStatus status =
		cal_sim_load_device(sim, def->name, path, def->arguments ? def->arguments : "", device, &own);
	return status == CAL_OK ? status : error_set(error, status, "%s%s%s", PLACE_ARGS(def->place), own.text);
}

const DeviceType shared_object_type = {
	.table = {FIELDS("shared", fields), .doc = "A device of your own from a shared object."},
	DEVICE_DEF(CalSharedDeviceDef),
	.add = add_shared,
	.ops = NULL};
