// SPDX-License-Identifier: Apache-2.0
/*
 * missing.c — see missing.h.
 */
#define _DEFAULT_SOURCE // getentropy
#include "missing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Appends the parts of a path to `out`, which is absolute and has room for them. */
static void append_parts(char *out, const char *path) {
	while (*path) {
		const size_t length = strcspn(path, "/");
		if (length == 2 && memcmp(path, "..", 2) == 0) {
			char *slash = strrchr(out, '/');
			if (slash)
				*slash = 0;
		} else if (length > 0 && !(length == 1 && *path == '.')) {
			strcat(out, "/");
			strncat(out, path, length);
		}
		path += length + (path[length] == '/');
	}
}

char *realpath(const char *path, char *resolved) {
	struct stat about;
	if (!path || !*path || resolved) {
		errno = EINVAL;
		return NULL;
	}
	if (stat(path, &about) != 0)
		return NULL;
	char folder[4096] = "";
	if (*path != '/' && !getcwd(folder, sizeof folder))
		return NULL;
	char *out = malloc(strlen(folder) + strlen(path) + 3);
	if (!out)
		return NULL;
	*out = 0;
	append_parts(out, folder);
	append_parts(out, path);
	if (!*out)
		strcpy(out, "/");
	return out;
}

int dup(int descriptor) {
	(void)descriptor;
	errno = ENOTSUP;
	return -1;
}

int flock(int descriptor, int operation) {
	(void)descriptor;
	(void)operation;
	return 0;
}

void arc4random_buf(void *bytes, size_t count) {
	enum { MOST = 256 }; // of getentropy() at once
	for (size_t at = 0, part; at < count; at += part) {
		part = count - at < MOST ? count - at : MOST;
		if (getentropy((char *)bytes + at, part) != 0)
			abort();
	}
}
