// SPDX-License-Identifier: Apache-2.0
/*
 * page.h — the viewer's page, which is part of the program (viewer/dist/viewer.html).
 */
#ifndef CALDER_CLI_PAGE_H
#define CALDER_CLI_PAGE_H

#include <stddef.h>

const char *page_text(void);
size_t page_length(void);
/** Says on stderr where the page is served on this machine, and opens it in the browser if asked to. */
void page_open(int port, int browser);

#endif
