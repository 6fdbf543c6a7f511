// SPDX-License-Identifier: Apache-2.0
/*
 * page.c — the viewer's page as bytes of the program. The assembler takes the file in: a C array of it would take the
 * compiler seconds.
 */
#define _POSIX_C_SOURCE 200809L // posix_spawnp

#include "page.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <unistd.h>

__asm__(".pushsection .rodata, \"a\", @progbits\n"
        ".global calder_page\n"
        "calder_page:\n"
        ".incbin \"" CALDER_VIEWER_PAGE "\"\n"
        ".global calder_page_end\n"
        "calder_page_end:\n"
        ".byte 0\n"
        ".popsection\n");

extern const char calder_page[], calder_page_end[];

const char *page_text(void) { return calder_page; }
size_t page_length(void) { return (size_t)(calder_page_end - calder_page); }

/* Whether there is a browser shows only to the person. */
void page_open(int port, int browser) {
	extern char **environ;
	char address[64];
	snprintf(address, sizeof address, "http://127.0.0.1:%d/", port);
	fprintf(stderr, "calder: open %s in a browser; Ctrl-C ends\n", address);
	if (!browser)
		return;
	char *const argv[] = {"xdg-open", address, NULL};
	posix_spawn_file_actions_t quiet;
	pid_t child;
	posix_spawn_file_actions_init(&quiet);
	posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawnp(&child, argv[0], &quiet, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&quiet);
}
