// SPDX-License-Identifier: Apache-2.0
/*
 * shared.c — devices from shared objects, by the system's loader. The only file that needs it: without CALDER_WITH_DL the
 * call says that it cannot.
 */
#include <calder/sim.h>

#include "base/error.h"
#include "sim/group.h"

#ifdef CALDER_WITH_DL

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static void close_library(void *library) { dlclose(library); }

/* dlsym gives a pointer to an object; C has no cast from it to a function. */
static CalDevicePluginFn find_function(void *library) {
	void *symbol = dlsym(library, "calder_device");
	CalDevicePluginFn function = NULL;
	if (symbol)
		memcpy(&function, &symbol, sizeof function);
	return function;
}

static CalStatus add_from(void *library, CalSim *sim, const char *name, const char *path, const char *arguments,
                          int *device, CalError *error) {
	CalDeviceDef def = {0};
	char message[256] = "";
	int index;
	const CalDevicePluginFn make = find_function(library);
	if (!make)
		return error_set(error, CAL_ERR_INPUT, "device \"%s\": %s has no function calder_device (see docs/devices.md)",
		                 name, path);
	if (make(CAL_DEVICE_INTERFACE, arguments, &def, message, sizeof message) != 0)
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
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		const char *why = dlerror();
		return error_set(error, CAL_ERR_IO, "device \"%s\": cannot load %s: %s", name, path,
		                 why ? why : "no reason given");
	}
	const CalStatus status = add_from(library, sim, name, path, arguments ? arguments : "", device, error);
	if (status != CAL_OK)
		dlclose(library);
	return status;
}

#else

CalStatus cal_sim_load_device(CalSim *sim, const char *name, const char *path, const char *arguments, int *device,
                              CalError *error) {
	(void)sim;
	(void)arguments;
	(void)device;
	return error_set(error, CAL_ERR_UNSUPPORTED,
	                 "device \"%s\": this library was built without the system's loader; build again with "
	                 "CALDER_WITH_DL=ON to load %s",
	                 name ? name : "", path ? path : "a shared object");
}

#endif
