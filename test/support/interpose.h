// SPDX-License-Identifier: Apache-2.0
/*
 * interpose.h — replaces malloc and its relatives in a test program that includes it, to count and fail them.
 *
 * Include in exactly one file of a program: it defines the functions. Counting and failing concern only the
 * thread that asks for them. With another C library, under a sanitizer that brings its own allocator, or under
 * valgrind, nothing is replaced and interpose_active() is 0: tests then skip().
 */
#ifndef TEST_SUPPORT_INTERPOSE_H
#define TEST_SUPPORT_INTERPOSE_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define INTERPOSE_ACTIVE 0
#endif
#endif
#if !defined(INTERPOSE_ACTIVE) && (defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__))
#define INTERPOSE_ACTIVE 0
#endif
#if !defined(INTERPOSE_ACTIVE)
#if defined(__GLIBC__)
#define INTERPOSE_ACTIVE 1
#else
#define INTERPOSE_ACTIVE 0
#endif
#endif

typedef struct Interpose {
	int on;       // counting
	long calls;   // allocations asked for
	long live;    // blocks allocated and not yet freed
	long fail_at; // number of the call that fails; 0: none
} Interpose;

/* volatile: compilers know that malloc changes no variable of the program */
static _Thread_local volatile Interpose interpose;

/* valgrind puts its own allocator in place of this one; it makes itself known by what it preloads. */
static inline int interpose_active(void) {
	const char *preload = getenv("LD_PRELOAD");
	return INTERPOSE_ACTIVE && !(preload && strstr(preload, "vgpreload"));
}

static inline void interpose_begin(long fail_at) {
	interpose.calls = interpose.live = 0;
	interpose.fail_at = fail_at;
	interpose.on = 1;
}

static inline Interpose interpose_end(void) {
	interpose.on = 0;
	return (Interpose){0, interpose.calls, interpose.live, interpose.fail_at};
}

#if INTERPOSE_ACTIVE
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *memory);

/* Whether this call shall fail. */
static int interpose_call(void) {
	if (!interpose.on)
		return 0;
	interpose.calls = interpose.calls + 1;
	return interpose.calls == interpose.fail_at;
}

static void interpose_live(int change) {
	if (interpose.on)
		interpose.live = interpose.live + change;
}

static void *interpose_give(void *memory) {
	interpose_live(memory != NULL);
	return memory;
}

#define INTERPOSE __attribute__((visibility("default"), noinline))

INTERPOSE void *malloc(size_t size) { return interpose_call() ? NULL : interpose_give(__libc_malloc(size)); }

INTERPOSE void *calloc(size_t count, size_t size) {
	return interpose_call() ? NULL : interpose_give(__libc_calloc(count, size));
}

INTERPOSE void *realloc(void *memory, size_t size) {
	if (interpose_call())
		return NULL;
	void *moved = __libc_realloc(memory, size);
	interpose_live(moved && !memory);
	return moved;
}

INTERPOSE void *aligned_alloc(size_t alignment, size_t size) {
	return interpose_call() ? NULL : interpose_give(__libc_memalign(alignment, size));
}

INTERPOSE int posix_memalign(void **memory, size_t alignment, size_t size) {
	*memory = interpose_call() ? NULL : interpose_give(__libc_memalign(alignment, size));
	return *memory ? 0 : ENOMEM;
}

INTERPOSE void free(void *memory) {
	interpose_live(memory ? -1 : 0);
	__libc_free(memory);
}
#endif

#endif
