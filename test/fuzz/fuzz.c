// SPDX-License-Identifier: Apache-2.0
/*
 * fuzz.c — see fuzz.h: the program that runs one of the targets, and what they share.
 */
#define _GNU_SOURCE // mkdtemp, nftw

#include "fuzz.h"

#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FUZZ_ADDRESS(name) &fuzz_##name,
static const FuzzTarget *const targets[] = {FUZZ_TARGET_LIST(FUZZ_ADDRESS)};
#undef FUZZ_ADDRESS
enum { TARGET_COUNT = sizeof targets / sizeof targets[0] };

static const FuzzTarget *target;
static char folder[64];

/* ---- files -------------------------------------------------------------------------------------------- */

static int remove_entry(const char *path, const struct stat *about, int type, struct FTW *at) {
	(void)about, (void)type, (void)at;
	return remove(path);
}

static void remove_folder(void) { nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS); }

const char *fuzz_folder(void) {
	if (!folder[0]) {
		const char *place = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
		snprintf(folder, sizeof folder, "%s/calder-fuzz-XXXXXX", place);
		fuzz_expect(mkdtemp(folder) != NULL, "a folder can be made");
		atexit(remove_folder);
	}
	return folder;
}

const char *fuzz_path(const char *name) {
	static char paths[8][512];
	static int next;
	char *path = paths[next++ % 8];
	snprintf(path, sizeof paths[0], "%s/%s", fuzz_folder(), name);
	return path;
}

const char *fuzz_write(const char *name, const void *data, size_t size) {
	const char *path = fuzz_path(name);
	FILE *file = fopen(path, "wb");
	fuzz_expect(file != NULL, "a file can be opened");
	fuzz_expect(fwrite(data, 1, size, file) == size && fclose(file) == 0, "a file can be written");
	return path;
}

uint8_t *fuzz_read(const char *path, size_t *size) {
	FILE *file = fopen(path, "rb");
	fuzz_expect(file && fseek(file, 0, SEEK_END) == 0, "a file can be read");
	*size = (size_t)ftell(file);
	uint8_t *bytes = malloc(*size + 1);
	rewind(file);
	fuzz_expect(bytes && fread(bytes, 1, *size, file) == *size, "a file can be read to its end");
	fclose(file);
	return bytes;
}

/* ---- inputs --------------------------------------------------------------------------------------------- */

bool fuzz_next_part(FuzzPart *rest, FuzzPart *part) {
	if (!rest->data)
		return false;
	const uint8_t *end = rest->size ? memchr(rest->data, 0x1e, rest->size) : NULL;
	*part = (FuzzPart){rest->data, end ? (size_t)(end - rest->data) : rest->size};
	*rest = end ? (FuzzPart){end + 1, rest->size - part->size - 1} : (FuzzPart){NULL, 0};
	return true;
}

char *fuzz_text(FuzzPart part) {
	char *text = malloc(part.size + 1);
	fuzz_expect(text != NULL, "there is memory");
	if (part.size)
		memcpy(text, part.data, part.size);
	text[part.size] = 0;
	return text;
}

void fuzz_edit(uint8_t *bytes, size_t first, size_t size, const uint8_t *edits, size_t edits_size) {
	static const double numbers[] = {0, -1, (double)NAN, (double)INFINITY, -(double)INFINITY, 1e308, 1e-308, 1e9, -0.5};
	for (size_t i = 0; i + 5 <= edits_size && size >= first + 8; i += 5) {
		const uint8_t *e = edits + i;
		uint8_t *at = bytes + first + ((size_t)e[0] << 8 | e[1]) % (size - first - 7);
		const int64_t integer = (int64_t)((uint64_t)(int64_t)(int8_t)e[3] << e[4] % 57);
		if (e[2] < 100)
			*at = e[3];
		else if (e[2] < 160)
			memcpy(at, &integer, 4); // the low half: our machines are little-endian
		else if (e[2] < 190)
			memcpy(at, &integer, 8);
		else
			memcpy(at, &numbers[e[3] % 9], 8);
	}
}

bool fuzz_is_slow(const uint8_t *data, size_t size) {
	static const char *const keys[] = {"elements", "cells_x", "cells_y", "grid"};
	for (int k = 0; k < 4; k++) {
		const size_t length = strlen(keys[k]);
		for (size_t i = 0; i + length < size; i++) {
			if (memcmp(data + i, keys[k], length) != 0)
				continue;
			char text[32] = "";
			const size_t rest = size - i - length;
			memcpy(text, data + i + length, rest < sizeof text - 1 ? rest : sizeof text - 1);
			const char *number = text + strcspn(text, "0123456789*");
			if (*number == '*' || strtod(number, NULL) > 8)
				return true;
		}
	}
	return false;
}

/* ---- models ----------------------------------------------------------------------------------------------- */

FUZZ_TAKE_IN(fuzz_walking_arm, "walking_arm.yaml")
FUZZ_TAKE_IN(fuzz_panels, "panel_deployment.yaml")
FUZZ_TAKE_IN(fuzz_separation, "separation.yaml")
FUZZ_TAKE_IN(fuzz_wheels, "wheel_slew.yaml")
FUZZ_TAKE_IN(fuzz_four_bar, "four_bar.yaml")

FuzzModel fuzz_model(int which) {
	const FuzzModel models[FUZZ_MODEL_COUNT] = {
		[FUZZ_WALKING_ARM] = {"walking_arm.yaml", fuzz_walking_arm, (size_t)(fuzz_walking_arm_end - fuzz_walking_arm)},
		[FUZZ_PANELS] = {"panel_deployment.yaml", fuzz_panels, (size_t)(fuzz_panels_end - fuzz_panels)},
		[FUZZ_SEPARATION] = {"separation.yaml", fuzz_separation, (size_t)(fuzz_separation_end - fuzz_separation)},
		[FUZZ_WHEELS] = {"wheel_slew.yaml", fuzz_wheels, (size_t)(fuzz_wheels_end - fuzz_wheels)},
		[FUZZ_FOUR_BAR] = {"four_bar.yaml", fuzz_four_bar, (size_t)(fuzz_four_bar_end - fuzz_four_bar)},
	};
	return models[which];
}

/* ---- what always holds --------------------------------------------------------------------------------------- */

void fuzz_expect(bool holds, const char *what) {
	if (holds)
		return;
	dprintf(STDERR_FILENO, "fuzz: it does not hold that %s\n", what);
	abort();
}

void fuzz_expect_error(const CalError *error) {
	fuzz_expect(error->text[0] && memchr(error->text, 0, sizeof error->text), "a failed call has a message");
}

/* ---- the program ------------------------------------------------------------------------------------------------ */

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void list_targets(void) {
	for (int i = 0; i < TARGET_COUNT; i++)
		puts(targets[i]->name);
	exit(0);
}

/* Messages of the command line go nowhere; those of libFuzzer and the sanitizers have their own ways. */
int LLVMFuzzerInitialize(int *argc, char ***argv) {
	static const char option[] = "--target=";
	for (int i = 1; i < *argc; i++) {
		const char *argument = (*argv)[i];
		if (strcmp(argument, "--list") == 0)
			list_targets();
		for (int k = 0; strncmp(argument, option, sizeof option - 1) == 0 && k < TARGET_COUNT; k++)
			target = strcmp(argument + sizeof option - 1, targets[k]->name) == 0 ? targets[k] : target;
	}
	if (!target) {
		fprintf(stderr, "fuzz: give --target=NAME; --list shows the names\n");
		exit(2);
	}
	stderr = fopen("/dev/null", "w");
	if (target->begin)
		target->begin();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	target->run(data, size);
	return 0;
}
