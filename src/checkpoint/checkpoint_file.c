// SPDX-License-Identifier: Apache-2.0
/*
 * checkpoint_file.c — checkpoints in files. A file is written beside its place, brought to the disk, and moved
 * (calder/output.h): a kill or a full disk leaves the one that was there.
 */
#define _POSIX_C_SOURCE 200809L // open, fsync

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "checkpoint/checkpoint.h"

static CalStatus io_error(const char *path, const char *what, CalError *error) {
	return error_set(error, CAL_ERR_IO, "%s: the checkpoint cannot be %s: %s", path, what, strerror(errno));
}

/* The directory too, so that the new name survives a power failure; where that cannot be asked for, it is as good as it is. */
static void sync_directory(const char *path) {
	const char *slash = strrchr(path, '/');
	char name[4096] = ".";
	if (slash && (size_t)(slash - path) < sizeof name - 1) {
		const size_t length = (size_t)(slash - path) + 1;
		memcpy(name, path, length);
		name[length] = 0;
	}
	const int directory = open(name, O_RDONLY);
	if (directory >= 0) {
		fsync(directory);
		close(directory);
	}
}

static bool write_file(const char *path, const void *bytes, size_t size) {
	const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	if (file < 0)
		return false;
	const bool written = file_write_all(file, bytes, size) && fsync(file) == 0;
	const int why = errno;
	if (close(file) == 0 && written)
		return true;
	if (!written)
		errno = why;
	return false;
}

static CalStatus store(const void *bytes, size_t size, CalOutput *output, const char *path, CalError *error) {
	const char *part = cal_output_part(output);
	if (!write_file(part, bytes, size))
		return io_error(path, "written", error);
	const CalStatus status = cal_output_publish(output, error);
	if (status == CAL_OK)
		sync_directory(part);
	return status;
}

static CalStatus refused(const CalSim *sim, const char *path, CalStatus status, CalError *error) {
	if (status != CAL_ERR_UNSUPPORTED)
		return error_set(error, status, "%s: %s", path,
		                 status == CAL_ERR_STAGE ? "the simulation is within an advance; save between two of them"
		                                         : cal_status_text(status));
	Serializer a = serializer_counter();
	TopologyImage image = image_of(sim->topology);
	image_walk(&a, &sim->origin, &image);
	return error_set(error, status,
	                 "%s: joint or loop \"%s\" was added while the simulation ran and has functions of its own; a "
	                 "checkpoint cannot hold them, describe it from the start",
	                 path, a.failed_name ? a.failed_name : "");
}

/* path: what messages call the output. */
static CalStatus save_to(const CalSim *sim, CalOutput *output, const char *path, CalError *error) {
	const CalAllocator allocator = allocator_or_default(NULL);
	size_t size = cal_checkpoint_size(sim);
	void *bytes = memory_alloc(&allocator, size);
	CalStatus status = bytes ? cal_checkpoint_take(sim, bytes, size, &size) : CAL_ERR_MEMORY;
	status = status == CAL_OK ? store(bytes, size, output, path, error) : refused(sim, path, status, error);
	memory_free(&allocator, bytes);
	return status;
}

CalStatus cal_checkpoint_save_to(const CalSim *sim, CalOutput *output, CalError *error) {
	if (!sim || !output)
		return error_set(error, CAL_ERR_ARGUMENT, "cal_checkpoint_save_to: give a simulation and an output");
	return save_to(sim, output, cal_output_path(output), error);
}

CalStatus cal_checkpoint_save(const CalSim *sim, const char *path, CalError *error) {
	if (!sim || !path || !path[0])
		return error_set(error, CAL_ERR_ARGUMENT, "cal_checkpoint_save: give a simulation and a path");
	CalOutput *output;
	CalStatus status = cal_output_open(path, NULL, &output, error);
	if (status == CAL_OK) {
		status = save_to(sim, output, path, error);
		cal_output_close(output);
	}
	return status;
}

/* All of a file, from the allocator. */
static CalStatus read_file(const char *path, const CalAllocator *allocator, char **bytes, size_t *size,
                           CalError *error) {
	static const InputFile limits = {(uint64_t)1 << 33, "is it a checkpoint?", true};
	char why[INPUT_FILE_WHY];
	*bytes = NULL;
	FILE *file = input_file_open(path, &limits, why);
	if (!file)
		return error_set(error, CAL_ERR_IO, "%s: the checkpoint cannot be read: %s", path, why);
	const long length = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
	const bool readable = length >= 0 && fseek(file, 0, SEEK_SET) == 0;
	*bytes = readable ? memory_alloc(allocator, (size_t)length) : NULL;
	*size = *bytes ? fread(*bytes, 1, (size_t)length, file) : 0;
	const bool failed = !readable || ferror(file);
	fclose(file);
	if (failed)
		return io_error(path, "read", error);
	return *bytes ? CAL_OK : error_set(error, CAL_ERR_MEMORY, "%s: %s", path, cal_status_text(CAL_ERR_MEMORY));
}

CalStatus cal_checkpoint_load(CalSim *sim, const char *path, CalError *error) {
	if (!sim || !path || !path[0])
		return error_set(error, CAL_ERR_ARGUMENT, "cal_checkpoint_load: give a simulation and a path");
	const CalAllocator allocator = allocator_or_default(NULL);
	size_t size = 0;
	char *bytes;
	CalError own = {0};
	CalStatus status = read_file(path, &allocator, &bytes, &size, error);
	if (status == CAL_OK) {
		status = cal_checkpoint_restore(sim, bytes, size, &own);
		if (status != CAL_OK)
			error_set(error, status, "%s: %s", path, own.text);
	}
	memory_free(&allocator, bytes);
	return status;
}
