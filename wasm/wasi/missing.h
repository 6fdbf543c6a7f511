// SPDX-License-Identifier: Apache-2.0
/*
 * missing.h — what the library calls and the C library of WASI does not have; before every source file of that build.
 */
#ifndef CALDER_WASM_WASI_MISSING_H
#define CALDER_WASM_WASI_MISSING_H

#include <stddef.h>

/** Without links, which files of a page do not have: "." and ".." are taken out. NULL: there is no such file. */
char *realpath(const char *path, char *resolved);
/** -1: a file has one descriptor. */
int dup(int descriptor);
/** 0: nobody else writes. */
int flock(int descriptor, int operation);
void arc4random_buf(void *bytes, size_t count);

#endif
