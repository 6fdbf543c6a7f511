// SPDX-License-Identifier: Apache-2.0
/*
 * page.c — the viewer's page as bytes of the program. The assembler takes the file in: a C array of it would take the
 * compiler seconds.
 */
#include "page.h"

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
