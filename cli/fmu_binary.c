// SPDX-License-Identifier: Apache-2.0
/*
 * fmu_binary.c — the shared object of functional mock-up units (fmu/) as bytes of the program, as page.c has the viewer's page.
 */
#include "fmu.h"

#ifdef CALDER_FMU_BINARY

__asm__(".pushsection .rodata, \"a\", @progbits\n"
        ".global calder_fmu_binary\n"
        "calder_fmu_binary:\n"
        ".incbin \"" CALDER_FMU_BINARY "\"\n"
        ".global calder_fmu_binary_end\n"
        "calder_fmu_binary_end:\n"
        ".byte 0\n"
        ".global calder_fmu_licenses\n"
        "calder_fmu_licenses:\n"
        ".incbin \"" CALDER_FMU_LICENSES "\"\n"
        ".byte 0\n"
        ".popsection\n");

extern const char calder_fmu_binary[], calder_fmu_binary_end[], calder_fmu_licenses[];

const void *fmu_binary(size_t *size) {
	*size = (size_t)(calder_fmu_binary_end - calder_fmu_binary);
	return calder_fmu_binary;
}

const char *fmu_licenses(void) { return calder_fmu_licenses; }

#else

const void *fmu_binary(size_t *size) {
	*size = 0;
	return NULL;
}

const char *fmu_licenses(void) { return ""; }

#endif
