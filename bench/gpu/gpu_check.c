// SPDX-License-Identifier: Apache-2.0
/*
 * gpu_check.c — batches on a device against the processor: the same bits in exact mode, the same numbers to round-off in fast mode,
 * over random trees of all built-in joints; roll-outs, inputs per step, arrays in device memory, states that fail, refusals, limits.
 *
 * usage: gpu_check [MODELS]        exit status 1: something differs
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cuda_runtime_api.h>

#include "gpu_models.h"

enum { STATES = 300, STEPS = 6 };

static int failures;

static void expect(bool good, const char *format, ...) {
	if (good)
		return;
	va_list args;
	va_start(args, format);
	printf("FAILED: ");
	vprintf(format, args);
	printf("\n");
	va_end(args);
	failures++;
}

/* ---- batches ------------------------------------------------------------------------------------------ */

static CalBatch *make_batch(const CalModel *model, const CalBatchDevice *device) {
	CalBatch *batch = NULL;
	CalError error = {0};
	if (cal_batch_create(model, NULL, &batch) != CAL_OK)
		exit(1);
	if (device && cal_batch_to_device(batch, device, &error) != CAL_OK) {
		printf("%s\n", error.text);
		exit(1);
	}
	return batch;
}

static CalBatchStates rows_of(const States *s) {
	return (CalBatchStates){.count = s->count, .t = {s->t, 1, 0}, .q = {s->q, s->nq, 0}, .u = {s->u, s->nu, 0}};
}

/* Bits, NaN being equal to NaN. */
static bool same(const double *x, const double *y, size_t n) {
	for (size_t i = 0; i < n; i++) {
		if (memcmp(&x[i], &y[i], sizeof *x) != 0 && !(isnan(x[i]) && isnan(y[i])))
			return false;
	}
	return true;
}

/* Largest difference of a state, relative to its largest number; NaN on one side only: infinite. */
static double difference(const double *x, const double *y, int count, int width) {
	double worst = 0;
	for (int i = 0; i < count; i++) {
		double most = 0, off = 0;
		for (int k = i * width; k < (i + 1) * width; k++) {
			most = fmax(most, fabs(y[k]));
			off = isnan(x[k]) != isnan(y[k]) ? INFINITY : fmax(off, fabs(x[k] - y[k]));
		}
		worst = fmax(worst, off > 0 ? off / most : 0);
	}
	return worst;
}

/* ---- forward dynamics ------------------------------------------------------------------------------------ */

static void check_forward(uint64_t seed, const States *s, CalBatch *cpu, CalBatch *gpu, bool exact, double *worst) {
	const CalBatchStates states = rows_of(s);
	const CalBatchInput input = {.tau = {s->tau, s->nu, 0}};
	const size_t n = (size_t)s->count * (size_t)s->nu;
	double *want = numbers(n), *got = numbers(n);
	CalStatus status[2][STATES];
	const CalStatus a = cal_batch_forward(cpu, &states, &input, want, status[0]);
	const CalStatus b = cal_batch_forward(gpu, &states, &input, got, status[1]);
	expect(a == b, "seed %d: status %d, processor %d (%s)", (int)seed, b, a, cal_batch_device_error(gpu));
	expect(memcmp(status[0], status[1], sizeof status[0]) == 0, "seed %d: statuses differ", (int)seed);
	expect(!exact || same(got, want, n), "seed %d: forward dynamics: other bits", (int)seed);
	*worst = fmax(*worst, difference(got, want, s->count, s->nu));
	free(want), free(got);
}

/* The same with arrays in device memory, rows or columns. */
static double *to_device(const double *x, int count, int width, bool columns) {
	const size_t bytes = sizeof(double) * (size_t)count * (size_t)width;
	double *turned = numbers((size_t)count * (size_t)width), *there = NULL;
	for (int i = 0; i < count; i++)
		for (int k = 0; k < width; k++)
			turned[columns ? k * count + i : i * width + k] = x[i * width + k];
	if (cudaMalloc((void **)&there, bytes + 8) != cudaSuccess ||
	    cudaMemcpy(there, turned, bytes, cudaMemcpyHostToDevice) != cudaSuccess)
		exit(1);
	free(turned);
	return there;
}

static void from_device(double *there, int count, int width, bool columns, double *x) {
	const size_t bytes = sizeof(double) * (size_t)count * (size_t)width;
	double *turned = numbers((size_t)count * (size_t)width);
	if (cudaMemcpy(turned, there, bytes, cudaMemcpyDeviceToHost) != cudaSuccess)
		exit(1);
	for (int i = 0; i < count; i++)
		for (int k = 0; k < width; k++)
			x[i * width + k] = turned[columns ? k * count + i : i * width + k];
	free(turned);
	cudaFree(there);
}

static void check_device_arrays(uint64_t seed, const CalModel *model, const States *s, CalBatch *cpu, bool columns) {
	CalBatch *gpu = make_batch(model, &(CalBatchDevice){.columns = columns});
	const size_t n = (size_t)s->count * (size_t)s->nu;
	double *want = numbers(n), *got = numbers(n), *q = to_device(s->q, s->count, s->nq, columns);
	double *u = to_device(s->u, s->count, s->nu, columns), *tau = to_device(s->tau, s->count, s->nu, columns);
	double *udot = to_device(got, s->count, s->nu, columns);
	const ptrdiff_t stride_q = columns ? s->count : s->nq, stride_u = columns ? s->count : s->nu;
	const CalBatchStates rows = rows_of(s), states = {.count = s->count, .q = {q, stride_q, 0}, .u = {u, stride_u, 0}};
	cal_batch_forward(cpu, &rows, &(CalBatchInput){.tau = {s->tau, s->nu, 0}}, want, NULL);
	cal_batch_forward(gpu, &states, &(CalBatchInput){.tau = {tau, stride_u, 0}}, udot, NULL);
	expect(cal_batch_forward(gpu, &states, NULL, got, NULL) == CAL_ERR_ARGUMENT, "seed %d: mixed memory is accepted",
	       (int)seed);
	expect(cal_batch_bias_forces(gpu, &states, udot, NULL) == CAL_ERR_UNSUPPORTED, "seed %d: bias forces", (int)seed);
	from_device(udot, s->count, s->nu, columns, got);
	expect(same(got, want, n), "seed %d: %s in device memory: other bits", (int)seed, columns ? "columns" : "rows");
	cudaFree(q), cudaFree(u), cudaFree(tau);
	free(want), free(got);
	cal_batch_destroy(gpu);
}

/* ---- roll-outs -------------------------------------------------------------------------------------------- */

static void check_rollout(uint64_t seed, const States *s, CalBatch *cpu, CalBatch *gpu, const CalBatchRollout *r,
                          bool exact, double *worst) {
	const CalBatchStates states = rows_of(s);
	const int64_t rows = cal_batch_rollout_rows(r);
	const size_t nq = (size_t)(rows * s->count * s->nq), nu = (size_t)(rows * s->count * s->nu);
	double *q[2] = {numbers(nq), numbers(nq)}, *u[2] = {numbers(nu), numbers(nu)};
	const ptrdiff_t shifted = seed % 2 ? s->nu : 0; // another row of forces in each step
	const CalBatchInput input = {.tau = {s->tau, s->nu, shifted}};
	States part = *s;
	part.count = s->count - STEPS;
	CalBatchStates some = states;
	some.count = part.count;
	const CalStatus a = cal_batch_rollout(cpu, &some, &input, r, q[0], u[0], NULL);
	const CalStatus b = cal_batch_rollout(gpu, &some, &input, r, q[1], u[1], NULL);
	expect(a == b, "seed %d: roll-out: status %d, processor %d (%s)", (int)seed, b, a, cal_batch_device_error(gpu));
	expect(!exact || (same(q[0], q[1], nq) && same(u[0], u[1], nu)), "seed %d: roll-out by %s: other bits", (int)seed,
	       cal_method_info(r->method)->name);
	*worst = fmax(*worst, difference(u[1], u[0], (int)rows * part.count, s->nu));
	for (int k = 0; k < 2; k++)
		free(q[k]), free(u[k]);
}

static void check_rollouts(uint64_t seed, const States *s, CalBatch *cpu, CalBatch *gpu, bool exact, double *worst) {
	const CalBatchRollout ways[] = {
		{.method = CAL_METHOD_EULER_CROMER, .step = 1e-3, .steps = STEPS},
		{.method = CAL_METHOD_EULER_CROMER, .step = 1e-3, .steps = STEPS, .every = 2},
		{.method = CAL_METHOD_RK4, .step = 1e-3, .steps = STEPS, .every = 3},
		{.method = CAL_METHOD_RK4, .step = -1e-3, .steps = STEPS},
	};
	for (int k = 0; k < 4; k++)
		check_rollout(seed, s, cpu, gpu, &ways[k], exact, worst);
}

/* ---- a model -------------------------------------------------------------------------------------------- */

static void spoil(States *s) {
	for (int i = 3; i < s->count && s->nu > 0; i += 17)
		s->u[i * s->nu + i % s->nu] = NAN;
	for (int i = 5; i < s->count && s->nq > 0; i += 31)
		s->q[i * s->nq] += 3e6; // beyond the angles that kernels reduce
}

static void check_model(uint64_t seed, double *fast_worst) {
	CalModel *model = make_random(seed);
	States s = make_states(model, STATES, seed);
	double ignored = 0;
	CalBatch *cpu = make_batch(model, NULL), *exact = make_batch(model, &(CalBatchDevice){0});
	CalBatch *fast = make_batch(model, &(CalBatchDevice){.fast = 1});
	check_forward(seed, &s, cpu, exact, true, &ignored);
	check_forward(seed, &s, cpu, fast, false, fast_worst);
	check_rollouts(seed, &s, cpu, exact, true, &ignored);
	check_rollouts(seed, &s, cpu, fast, false, fast_worst);
	spoil(&s);
	check_forward(seed, &s, cpu, exact, true, &ignored);
	check_rollouts(seed, &s, cpu, exact, true, &ignored);
	if (seed % 5 == 0) {
		check_device_arrays(seed, model, &s, cpu, false);
		check_device_arrays(seed, model, &s, cpu, true);
	}
	cal_batch_destroy(cpu), cal_batch_destroy(exact), cal_batch_destroy(fast);
	free_states(&s);
	cal_model_destroy(model);
}

/* More links than a launch takes as parameters: through device memory. */
static void check_long_chain(void) {
	CalModel *model = make_chain(150);
	States s = make_states(model, STATES, 3);
	double ignored = 0;
	CalBatch *cpu = make_batch(model, NULL), *exact = make_batch(model, &(CalBatchDevice){.memory = (size_t)1 << 30});
	check_forward(150, &s, cpu, exact, true, &ignored);
	check_rollouts(150, &s, cpu, exact, true, &ignored);
	cal_batch_destroy(cpu), cal_batch_destroy(exact);
	free_states(&s);
	cal_model_destroy(model);
}

static void check_limits(void) {
	CalModel *model = make_chain(3);
	CalBatch *batch = make_batch(model, NULL);
	CalError error = {0};
	expect(cal_batch_to_device(batch, &(CalBatchDevice){.memory = 1000}, &error) == CAL_ERR_MEMORY, "memory limit");
	printf("%s\n", error.text);
	expect(cal_batch_to_device(batch, &(CalBatchDevice){.index = 99}, &error) == CAL_ERR_UNSUPPORTED, "device 99");
	printf("%s\n", error.text);
	expect(cal_batch_device(batch)[0] == 0, "a batch that was refused has a device");
	cal_batch_destroy(batch);
	cal_model_destroy(model);
}

int main(int argc, char **argv) {
	const int models = argc > 1 ? atoi(argv[1]) : 60;
	double fast_worst = 0;
	check_limits();
	for (int seed = 1; seed <= models; seed++)
		check_model((uint64_t)seed, &fast_worst);
	check_long_chain();
	printf("%d random trees of %d states, %d failures; exact: the processor's bits; fast: largest difference %.1e\n",
	       models, STATES, failures, fast_worst);
	return failures > 0;
}
