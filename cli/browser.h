// SPDX-License-Identifier: Apache-2.0
/*
 * browser.h — a Chromium without a screen that shows one page, drawing in software: the same picture on every machine.
 */
#ifndef CALDER_CLI_BROWSER_H
#define CALDER_CLI_BROWSER_H

#include "child.h"

typedef struct Browser {
	Child process;
	char folder[1024]; // its profile, which is removed with it
} Browser;

/** `what` is named in messages. CHROMIUM in the environment names another program. Returns an exit code. */
int browser_start(Browser *browser, const char *what, const char *address);
void browser_stop(Browser *browser);

#endif
