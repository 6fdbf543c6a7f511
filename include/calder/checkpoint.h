// SPDX-License-Identifier: Apache-2.0
/*
 * calder/checkpoint.h — checkpoints: everything that a simulation carries from one step to the next. A run that
 * resumes from one is bit-identical to one that was not interrupted.
 *
 * A checkpoint holds states of groups and devices, the memory of the integrator, what happened (events, counts, accounts,
 * monitors) and the topology as it is now, with all that was added while the simulation ran. It holds no description, no
 * devices and no functions: it is restored into a simulation that was made in the same way (the same description, options,
 * cal_sim_reserve(), inputs, motions, devices and events, in the same order), whatever that has done since, or into the
 * one that it was taken of. From there on every number is the same, bit by bit, as without the interruption, with the
 * same library. Memory of the caller's own functions is the caller's. See docs/checkpoints.md.
 */
#ifndef CALDER_CHECKPOINT_H
#define CALDER_CHECKPOINT_H

#include <calder/output.h>
#include <calder/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Bytes of a checkpoint now. Only changes of topology that add something make it larger. */
CAL_API size_t cal_checkpoint_size(const CalSim *sim);

/**
 * Takes a checkpoint; changes nothing and does not allocate. *used (may be NULL) is how many bytes it has, also where
 * `size` is less (CAL_ERR_MEMORY). Between advances: within an event's action it is CAL_ERR_STAGE. CAL_ERR_UNSUPPORTED: a
 * joint of the user's own type, or a loop driven by a function, was added while the simulation ran.
 */
CAL_API CalStatus cal_checkpoint_take(const CalSim *sim, void *memory, size_t size, size_t *used);

/**
 * Brings a simulation to the state of a checkpoint. Refused with a reason, and the simulation is as it was: a checkpoint
 * of something else or of another version, one that is cut short or damaged (CAL_ERR_INPUT), memory that is short.
 *
 * Each group has the input and the motion of the group that had them at the start. Functions that were given while the
 * run continued (cal_sim_set_input, cal_sim_set_motion) have to be given again before the next advance; that changes no
 * bits then, and without it the advance is refused.
 */
CAL_API CalStatus cal_checkpoint_restore(CalSim *sim, const void *memory, size_t size, CalError *error);

/**
 * The same with files. A file is written beside its place (PATH.part), brought to the disk and moved there: whatever
 * happens, PATH is the old checkpoint or the new one. CAL_ERR_IO: among others, another writer has the path at this
 * moment. Both allocate.
 */
CAL_API CalStatus cal_checkpoint_save(const CalSim *sim, const char *path, CalError *error);
/** Saves to a path that is reserved (cal_output_open): no other writer gets it between two checkpoints of a run. */
CAL_API CalStatus cal_checkpoint_save_to(const CalSim *sim, CalOutput *output, CalError *error);
CAL_API CalStatus cal_checkpoint_load(CalSim *sim, const char *path, CalError *error);

#ifdef __cplusplus
}
#endif
#endif
