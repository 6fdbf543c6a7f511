// SPDX-License-Identifier: Apache-2.0
/*
 * instructions.c — one evaluation of every algorithm on every model between two marks, for counting under callgrind
 * (tools/bench_instructions). Prints the environment, and one line per pair of marks: kernel variant, algorithm, model,
 * bodies.
 *
 * The variant is forced, states are fixed and every evaluation follows one of the same kind: the counts depend on the
 * source, the compiler and the C library only.
 */
#include <stdio.h>
#include <stdlib.h>

#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

#include "base/cpu.h"
#include "model/model.h"
#include "models.h"

typedef struct Arrays {
	double *x, *y, *square; // [nu], [nu], [max(6, nu) nu]
} Arrays;

typedef CalStatus (*Algorithm)(CountedModel *c, const Arrays *a);

static CalStatus forward_dynamics(CountedModel *c, const Arrays *a) {
	return cal_forward_dynamics(c->model, &c->state, &(CalInput){.tau = a->x}, c->work, a->y);
}

static CalStatus inverse_dynamics(CountedModel *c, const Arrays *a) {
	return cal_inverse_dynamics(c->model, &c->state, a->x, NULL, c->work, a->y);
}

static CalStatus mass_matrix(CountedModel *c, const Arrays *a) {
	return cal_mass_matrix(c->model, &c->state, c->work, a->square);
}

static CalStatus mass_inverse(CountedModel *c, const Arrays *a) {
	const CalStatus status = cal_mass_factor(c->model, &c->state, c->work);
	return status != CAL_OK ? status : cal_mass_inverse(c->model, c->work, a->square);
}

static CalStatus jacobian(CountedModel *c, const Arrays *a) {
	return cal_node_jacobian_at(c->model, &c->state, c->tip, c->work, NULL, a->square);
}

static const struct {
	const char *name;
	Algorithm run;
} algorithms[] = {{"forward_dynamics", forward_dynamics},
                  {"inverse_dynamics", inverse_dynamics},
                  {"mass_matrix", mass_matrix},
                  {"mass_inverse", mass_inverse},
                  {"jacobian", jacobian}};

enum { ALGORITHMS = sizeof algorithms / sizeof *algorithms };

static const char *const variants[CPU_ISA_COUNT] = {"baseline", "avx2", "avx512"};

/* The marks: callgrind starts to count at the first and writes what it counted at the second. */
__attribute__((noinline)) void count_begin(void) { __asm__ volatile(""); }
__attribute__((noinline)) void count_end(void) { __asm__ volatile(""); }

static int count_one(const char *name, CountedModel *c, const Arrays *a, int k) {
	CalStatus status = algorithms[k].run(c, a);
	count_begin();
	status = status != CAL_OK ? status : algorithms[k].run(c, a);
	count_end();
	printf("%s,%s,%s,%d\n", variants[c->model->isa], algorithms[k].name, name, cal_model_body_count(c->model));
	if (status == CAL_OK)
		return 0;
	fprintf(stderr, "instructions: error: %s of %s: %s\n", algorithms[k].name, name, cal_status_text(status));
	return 1;
}

static int count_model(const char *name, int widest) {
	CountedModel c;
	CalError error = {0};
	if (counted_create(name, &c, &error) != CAL_OK) {
		fprintf(stderr, "instructions: error: %s: %s\n", name, error.text);
		return 1;
	}
	const int nu = cal_model_u_count(c.model), rows = nu > 6 ? nu : 6;
	int failed = 0;
	double *memory = calloc((size_t)(nu * (rows + 2)), sizeof *memory);
	if (!memory)
		return 1;
	const Arrays a = {memory, memory + nu, memory + 2 * nu};
	counted_fill(9, 1, nu, a.x);
	for (int isa = CPU_BASELINE; isa <= widest; isa++) {
		c.model->isa = (CpuIsa)isa;
		for (int k = 0; k < ALGORITHMS; k++)
			failed |= count_one(name, &c, &a, k);
	}
	free(memory);
	counted_destroy(&c);
	return failed;
}

/* What the counts depend on beside the source. */
static void print_environment(int widest) {
#ifdef __clang__
	printf("# compiler: %s\n", __VERSION__);
#else
	printf("# compiler: gcc %s\n", __VERSION__);
#endif
#ifdef __GLIBC__
	printf("# C library: glibc %s\n", gnu_get_libc_version());
#else
	printf("# C library: unknown\n");
#endif
	printf("# kernels: up to %s\n", variants[widest]);
}

/* usage: instructions [MODEL...] */
int main(int argc, char **argv) {
	const int widest = cpu_isa() < CPU_AVX2 ? CPU_BASELINE : CPU_AVX2; // callgrind knows no more
	int failed = 0;
	print_environment(widest);
	for (int i = 0; argc == 1 && counted_names[i]; i++)
		failed |= count_model(counted_names[i], widest);
	for (int i = 1; i < argc; i++)
		failed |= count_model(argv[i], widest);
	return failed;
}
