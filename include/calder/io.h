// SPDX-License-Identifier: Apache-2.0
/*
 * calder/io.h — the native file (YAML, of which JSON is a subset; docs/format.md).
 *
 * A file gives a description, initial states, loads, devices and run settings. Errors carry file:line:col.
 * Present when the library was built with libyaml (CALDER_WITH_YAML); otherwise the calls return
 * CAL_ERR_UNSUPPORTED.
 */
#ifndef CALDER_IO_H
#define CALDER_IO_H

#include <stdio.h>

#include <calder/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CalFile CalFile;

CAL_API CalStatus cal_file_read(const char *path, const CalAllocator *allocator, CalFile **file, CalError *error);
/**
 * text need not end with a zero; name stands for the file in messages. Files that the text names (modal files, meshes) are
 * sought in the folder of name.
 */
CAL_API CalStatus cal_file_parse(const char *text, size_t length, const char *name, const CalAllocator *allocator,
                                 CalFile **file, CalError *error);
CAL_API void cal_file_destroy(CalFile *file);
/** Releases what only cal_file_write() needs, about a third of a large file; that returns CAL_ERR_STAGE from then on. */
CAL_API void cal_file_trim(CalFile *file);

/**
 * The description; it lives as long as the file. Functions that drive constraint equations belong to the file: where it has such,
 * it must outlive the models and simulations of the description too.
 */
CAL_API const CalDesc *cal_file_desc(const CalFile *file);

/**
 * Writes a description as a native file that reads back as the same description, numbers bit for bit. Everything is
 * judged before the first byte: what a file cannot hold (user joints, C functions of drives, some names) is
 * CAL_ERR_UNSUPPORTED with a message that names it, and nothing is written. CAL_ERR_IO: out cannot take it.
 */
CAL_API CalStatus cal_desc_write(const CalDesc *desc, FILE *out, CalError *error);
/** The same for a file, with its title, state, loads, devices, run settings and functions of drives as it gives them. */
CAL_API CalStatus cal_file_write(const CalFile *file, FILE *out, CalError *error);

/** A subsystem that a file uses (docs/subsystems.md): its objects are in the description under NAME/... */
typedef struct CalFileInstance {
	const char *name; // "arm1"; of a subsystem of a subsystem "arm1/gripper"
	const char *file; // as the file above it names it
	const char
		*joint; // that carries it; NULL: it was not attached and stands as in its own file, or is a compiled subsystem
	int body_count, interface_node_count; // 0 of a compiled subsystem
	int is_compiled;                      // nonzero: file is a shared object (calder/subsystem.h)
} CalFileInstance;
CAL_API int cal_file_instance_count(const CalFile *file);
CAL_API CalStatus cal_file_instance(const CalFile *file, int index, CalFileInstance *instance);
/** Interface nodes: those at which the file can be attached as a subsystem. Paths, in the order of the file; NULL: no such. */
CAL_API int cal_file_interface_node_count(const CalFile *file);
CAL_API const char *cal_file_interface_node(const CalFile *file, int index);

/**
 * Other files that the model names: subsystems, modal files, meshes, shared objects, in the order in which they are first
 * named. Paths as they are opened; NULL: no such. For programs that must not overwrite what they read.
 */
CAL_API int cal_file_source_count(const CalFile *file);
CAL_API const char *cal_file_source(const CalFile *file, int index);

/** What is suspicious in the text, "file:line:col: warning: ...": 90 for an angle without unit. NULL: no such. */
CAL_API int cal_file_warning_count(const CalFile *file);
CAL_API const char *cal_file_warning(const CalFile *file, int index);

/** Sets q and u of the joints that the file gives; the others stay as they are. */
CAL_API CalStatus cal_file_state(const CalFile *file, const CalModel *model, CalState *state, CalError *error);

/** q[nu], u[nu]: 1 where the state of the file gives the coordinate, the speed (cal_sim_set_stated), else 0. */
CAL_API CalStatus cal_file_stated(const CalFile *file, const CalModel *model, uint8_t *q, uint8_t *u, CalError *error);
/** frozen[nu]: 1 where the file says that closing loops must not move it (cal_sim_set_frozen), else 0. */
CAL_API CalStatus cal_file_frozen(const CalFile *file, const CalModel *model, uint8_t *frozen, CalError *error);

/** Signals that are written at one rate. */
typedef struct CalRunStream {
	const char *name;           // "main", "stream2", ... where the file gives none
	const char *file;           // where it is written; NULL: where the program's options say
	double interval;            // [s], 0: every step
	int signal_count;           // 0: the default set
	const char *const *signals; // names as given (docs/format.md), e.g. "q", "energy", "node:arm/tip"
} CalRunStream;

typedef struct CalRunSettings {
	const char *title;           // may be ""
	double duration;             // [s]
	CalIntegratorOptions method; // input and user are not set
	int threads, branches;       // as in CalSimOptions; 0: the file says nothing of them
	double assembly_limit;       // likewise
	int stream_count;            // 0: the file says nothing of output
	const CalRunStream *streams; //
} CalRunSettings;
CAL_API CalRunSettings cal_file_run(const CalFile *file);

/** Loads of the file (torques, wrenches, prescribed motion by time intervals), bound to a model. */
typedef struct CalFileLoads CalFileLoads;
CAL_API CalStatus cal_file_loads_create(const CalFile *file, const CalModel *model, CalFileLoads **loads,
                                        CalError *error);
CAL_API void cal_file_loads_destroy(CalFileLoads *loads);
/** A CalInputFn: user is the CalFileLoads. Does not allocate. */
CAL_API int cal_file_loads_input(void *user, const CalModel *model, const CalState *state, CalInput *input);
/** The next time after t at which a load switches, or INFINITY. */
CAL_API double cal_file_loads_next_switch(const CalFileLoads *loads, double t);

/**
 * A number with or without a unit, as in files: "20 ms", "0.02". unit: what a plain number is in, and of what kind the
 * quantity must be; *value is in SI. CAL_ERR_INPUT: error says what is wrong.
 */
CAL_API CalStatus cal_quantity_parse(const char *text, const char *unit, double *value, CalError *error);
/** The candidate that a word which was not understood is most like; NULL: none is near. */
CAL_API const char *cal_name_nearest(const char *word, const char *const *candidates, int count);
/** Adds the devices of the file to a simulation of its description. Where they have meshes, the file must outlive it. */
CAL_API CalStatus cal_file_add_devices(const CalFile *file, CalSim *sim, CalError *error);
CAL_API int cal_file_device_count(const CalFile *file);
/** Types of devices and of actions that a model file can name ("spring", "attach"), counted from 0; NULL: no more. */
CAL_API const char *cal_file_device_type(int index);
CAL_API const char *cal_file_action_type(int index);
/** Sets the groups in motion that the file moves (calder/motion.h); call it after cal_file_state(), whose values it keeps. */
CAL_API CalStatus cal_file_add_motions(const CalFile *file, CalSim *sim, CalError *error);

#ifdef __cplusplus
}
#endif
#endif
