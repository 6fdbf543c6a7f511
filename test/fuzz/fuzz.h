// SPDX-License-Identifier: Apache-2.0
/*
 * fuzz.h — the targets of the fuzz program, each a function that takes any bytes as one kind of input.
 *
 * Nothing may crash, leak, hang or run into undefined behaviour, whatever the bytes; what is refused comes with a message.
 * All targets are one program, which is small to move to another machine:
 *   fuzz --list                                     names of the targets
 *   fuzz --target=NAME -max_total_time=60 CORPUS    any option of libFuzzer
 *   fuzz --target=NAME FILE                         one input, to look at a finding
 */
#ifndef CALDER_TEST_FUZZ_H
#define CALDER_TEST_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <calder/base.h>

typedef struct FuzzTarget {
	const char *name;
	void (*begin)(void); // once; NULL: nothing to do
	void (*run)(const uint8_t *data, size_t size);
} FuzzTarget;

#define FUZZ_TARGET_LIST(X) \
	X(native)               \
	X(sim)                  \
	X(checkpoint)           \
	X(results)              \
	X(plan)                 \
	X(campaign)             \
	X(mesh)                 \
	X(fe)                   \
	X(golden)               \
	X(csv)                  \
	X(trajectory)           \
	X(table)                \
	X(subsystem)            \
	X(models)               \
	X(expression)           \
	X(units)                \
	X(live)                 \
	X(urdf)                 \
	X(mjcf)                 \
	X(sdf)

#define FUZZ_DECLARE(name) extern const FuzzTarget fuzz_##name;
FUZZ_TARGET_LIST(FUZZ_DECLARE)
#undef FUZZ_DECLARE

/* ---- helpers (fuzz.c) ------------------------------------------------------------------------------- */

/** Ends the program with a message unless something holds that always has to. */
void fuzz_expect(bool holds, const char *what);
/** A failed call has a text that ends within its array. */
void fuzz_expect_error(const CalError *error);

/** A folder in memory that is removed at the end, and a path in it, valid for eight more calls. */
const char *fuzz_folder(void);
const char *fuzz_path(const char *name);
/** Writes a file there and returns its path. */
const char *fuzz_write(const char *name, const void *data, size_t size);
/** All of a file, from malloc. */
uint8_t *fuzz_read(const char *path, size_t *size);

/** The next part of an input, which a byte 0x1e or the end closes; false: there is none. */
typedef struct FuzzPart {
	const uint8_t *data;
	size_t size;
} FuzzPart;
bool fuzz_next_part(FuzzPart *rest, FuzzPart *part);
/** A part with a zero after it, from malloc. */
char *fuzz_text(FuzzPart part);

/**
 * Edits of some bytes from *offset on, in blocks of five: place (2), kind, value (2); a byte, an integer of any size or a
 * special number takes the place of what is there.
 */
void fuzz_edit(uint8_t *bytes, size_t first, size_t size, const uint8_t *edits, size_t edits_size);

/** True for model files that are allowed but take long: fine meshes, whose eigenproblems are dense. */
bool fuzz_is_slow(const uint8_t *data, size_t size);

/** A file that is part of the program: symbol[] to symbol_end[]. */
#define FUZZ_TAKE_IN(symbol, file)                                                                               \
	__asm__(".pushsection .rodata, \"a\", @progbits\n.global " #symbol "\n" #symbol ":\n.incbin \"" EXAMPLES_DIR \
	        "/" file "\"\n.global " #symbol "_end\n" #symbol "_end:\n.byte 0\n.popsection\n");                   \
	extern const char symbol[], symbol##_end[];

/** Examples that are part of the program. */
typedef struct FuzzModel {
	const char *name, *text;
	size_t length;
} FuzzModel;
enum { FUZZ_WALKING_ARM, FUZZ_PANELS, FUZZ_SEPARATION, FUZZ_WHEELS, FUZZ_FOUR_BAR, FUZZ_MODEL_COUNT };
FuzzModel fuzz_model(int which);

#endif
