// SPDX-License-Identifier: Apache-2.0
/*
 * browser.c — see browser.h.
 */
#define _GNU_SOURCE // nftw, mkdtemp

#include "browser.h"

#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

/* Programs that are tried: the first that is there. */
static int start_any(Browser *browser, char *profile, char *address) {
	static const char *const names[] = {"chromium", "chromium-browser", "google-chrome", "chrome"};
	char *argv[] = {NULL,
	                "--headless",
	                "--no-first-run",
	                "--disable-extensions",
	                "--disable-background-networking",
	                "--disable-component-update",
	                "--disable-dev-shm-usage",
	                "--mute-audio",
	                "--use-gl=angle",
	                "--use-angle=swiftshader",
	                "--enable-unsafe-swiftshader",
	                "--ignore-gpu-blocklist",
	                "--force-device-scale-factor=1",
	                "--force-color-profile=srgb",
	                profile,
	                geteuid() == 0 ? "--no-sandbox" : "--disable-sync", // there is no sandbox for root
	                address,
	                NULL};
	const char *own = getenv("CHROMIUM");
	int failed = ENOENT;
	for (size_t i = 0; i < sizeof names / sizeof names[0] && failed == ENOENT; i++) {
		argv[0] = (char *)(own && own[0] ? own : names[i]);
		failed = child_start(&browser->process, argv, false, true);
		if (own && own[0])
			break;
	}
	return failed;
}

int browser_start(Browser *browser, const char *what, const char *address) {
	const char *parent = getenv("TMPDIR");
	char profile[1100];
	*browser = (Browser){0};
	snprintf(browser->folder, sizeof browser->folder, "%.900s/calder-XXXXXX", parent && parent[0] ? parent : "/tmp");
	if (!mkdtemp(browser->folder)) {
		say_error(browser->folder, "a folder for the browser cannot be made; set TMPDIR");
		browser->folder[0] = '\0';
		return EXIT_INPUT;
	}
	snprintf(profile, sizeof profile, "--user-data-dir=%s", browser->folder);
	const int failed = start_any(browser, profile, (char *)address);
	if (failed)
		say_error(what, failed == ENOENT
		                    ? "rendering needs Chromium (Debian: chromium); install it, or name it in CHROMIUM"
		                    : strerror(failed));
	return failed ? EXIT_INPUT : EXIT_OK;
}

static int remove_entry(const char *path, const struct stat *about, int kind, struct FTW *where) {
	(void)about, (void)kind, (void)where;
	remove(path);
	return 0;
}

void browser_stop(Browser *browser) {
	child_kill(&browser->process);
	if (browser->folder[0])
		nftw(browser->folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}
