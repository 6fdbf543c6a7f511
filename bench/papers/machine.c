// SPDX-License-Identifier: Apache-2.0
/*
 * machine.c — what the tables were run on, in a line; no date, so that a second run on one machine differs in times only.
 */
#include <string.h>

#include "papers.h"

/* "model name" of the first processor. */
static void read_processor(char *text, size_t size) {
	FILE *in = fopen("/proc/cpuinfo", "r");
	char line[256];
	snprintf(text, size, "an unnamed processor");
	while (in && fgets(line, sizeof line, in)) {
		const char *value = strchr(line, ':');
		if (strncmp(line, "model name", 10) != 0 || !value)
			continue;
		snprintf(text, size, "%.*s", (int)strcspn(value + 2, "\n"), value + 2);
		break;
	}
	if (in)
		fclose(in);
}

static const char *registers(void) {
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx512f"))
		return "AVX-512";
	return __builtin_cpu_supports("avx2") ? "AVX2" : "SSE2";
#else
	return "no x86";
#endif
}

int write_machine(const PaperJob *job) {
	static const char *const scale[] = {"quick", "normal", "full"};
	char processor[200];
	FILE *out = paper_file(job, "machine.md");
	if (!out)
		return 1;
	read_processor(processor, sizeof processor);
	fprintf(out, "One thread of: %s (%s). Compiler: %s %s, %s. Calder %s. Scale of the run: %s.\n", processor,
	        registers(),
#if defined(__clang__)
	        "clang", __clang_version__,
#else
	        "gcc", __VERSION__,
#endif
	        PAPERS_BUILD, cal_version(), scale[job->scale]);
	return fclose(out) != 0;
}
