// SPDX-License-Identifier: Apache-2.0
/*
 * linearize_print.c — a linearized model as text and as JSON.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "linearize.h"

static const double two_pi = 6.283185307179586;

/* ---- text ------------------------------------------------------------------------------------------ */

static void print_names(const char *what, const CalSignalName *names, int count) {
	printf("  %-11s", what);
	for (int i = 0; i < count; i++)
		printf("%s%s [%s]", i ? ", " : " ", names[i].name, names[i].unit);
	printf("%s\n", count ? "" : " none");
}

/* Poles that are zero to round-off: rigid-body displacements, integrators. */
static double zero_below(const LinearModel *model) {
	double largest = 0;
	for (int i = 0; i < model->space.state_count; i++)
		largest = fmax(largest, model->poles[i].frequency);
	return 1e-6 * fmax(largest, 1e-3);
}

static void print_pole(const CalPole *pole, int number) {
	char imaginary[32] = "";
	if (pole->imag != 0)
		snprintf(imaginary, sizeof imaginary, "+- %.6gi", fabs(pole->imag));
	printf("  %4d  %12.6g %-14s", number, pole->real, imaginary);
	if (pole->imag != 0)
		printf("  %12.6g Hz  %10.4g", pole->frequency / two_pi, pole->damping + 0.0);
	else
		printf("  time constant %.6g s", 1 / fabs(pole->real));
	printf("%s\n", pole->real > 1e-9 * pole->frequency ? "  UNSTABLE" : "");
}

/* Of a pair the first one stands for both; those whose imaginary part is round-off are real. */
static void print_poles(const LinearModel *model) {
	const double zero = zero_below(model);
	int number = 0, zeros = 0;
	while (zeros < model->space.state_count && model->poles[zeros].frequency < zero)
		zeros++;
	printf("  pole   real [1/s] and imaginary part      frequency   damping ratio\n");
	if (zeros > 0)
		printf("     -  %d zero%s: displacements without stiffness, integrals\n", zeros, plural(zeros));
	for (int i = zeros; i < model->space.state_count; i++) {
		CalPole pole = model->poles[i];
		if (fabs(pole.imag) <= 1e-9 * pole.frequency)
			pole.imag = 0;
		if (pole.imag >= 0)
			print_pole(&pole, ++number);
	}
}

static void print_motion(const CalStateSpace *s) {
	double speed = 0, acceleration = 0;
	int moving = -1;
	for (int i = 0; i < s->state_count; i++) {
		if (s->places[i].kind == CAL_STATE_COORDINATE)
			speed = fmax(speed, fabs(s->rate[i]));
		else if (fabs(s->rate[i]) > acceleration) {
			acceleration = fabs(s->rate[i]);
			moving = i;
		}
	}
	if (moving >= 0 && acceleration > 1e-6)
		printf(
			"  note        no equilibrium: %s changes by %.3g per second; the matrices are those about this motion\n",
			s->states[moving].name, s->rate[moving]);
	else if (speed > 1e-9)
		printf("  note        in steady motion\n");
}

/* "-0.3 +- 2i", or a real number. */
static void print_root(const CalPole *root) {
	if (fabs(root->imag) <= 1e-9 * root->frequency)
		printf(" %.6g", root->real);
	else
		printf(" %.6g +- %.6gi", root->real, root->imag);
}

/* Of a pair the upper one stands for both. */
static void print_roots(const char *what, const CalPole *roots, int count, double zero) {
	int zeros = 0;
	printf("      %-6s", what);
	for (int i = 0; i < count; i++)
		zeros += roots[i].frequency < zero;
	if (zeros > 0)
		printf(zeros > 1 ? " 0 (%d times)" : " 0", zeros);
	for (int i = zeros; i < count; i++)
		if (roots[i].imag >= 0 || fabs(roots[i].imag) <= 1e-9 * roots[i].frequency)
			print_root(&roots[i]);
	printf("%s\n", count ? "" : " none");
}

/* Takes zeros within round-off of poles away with these, which do not show in the transfer function; returns how many. */
static int cancel(CalPole *zeros, int *zero_count, CalPole *poles, int *pole_count, double zero) {
	int cancelled = 0;
	for (int i = 0; i < *zero_count;) {
		int nearest = -1;
		double least = INFINITY;
		for (int k = 0; k < *pole_count; k++) {
			const double way = hypot(poles[k].real - zeros[i].real, poles[k].imag - zeros[i].imag);
			if (way < least)
				least = way, nearest = k;
		}
		if (nearest < 0 || !(least <= 1e-6 * poles[nearest].frequency + zero)) {
			i++;
			continue;
		}
		memmove(zeros + i, zeros + i + 1, (size_t)(--*zero_count - i) * sizeof *zeros);
		memmove(poles + nearest, poles + nearest + 1, (size_t)(--*pole_count - nearest) * sizeof *poles);
		cancelled++;
	}
	return cancelled;
}

static CalStatus print_transfer(const LinearModel *model, int input, int output, CalPole *zeros, CalPole *poles) {
	const CalStateSpace *s = &model->space;
	const double zero = zero_below(model);
	int zero_count = 0, pole_count = s->state_count;
	double gain = 0;
	const CalStatus status = cal_state_space_transfer(s, input, output, zeros, &zero_count, &gain);
	if (status != CAL_OK)
		return status;
	printf("  transfer    %s to %s: ", s->inputs[input].name, s->outputs[output].name);
	if (gain == 0) {
		printf("none\n");
		return CAL_OK;
	}
	memcpy(poles, model->poles, (size_t)s->state_count * sizeof *poles);
	const int cancelled = cancel(zeros, &zero_count, poles, &pole_count, zero);
	printf("gain %.9g, %d zero%s, %d pole%s", gain, zero_count, plural(zero_count), pole_count, plural(pole_count));
	if (cancelled > 0)
		printf("; %d zero%s at %s left out", cancelled, plural(cancelled), cancelled == 1 ? "a pole is" : "poles are");
	printf("\n");
	print_roots("zeros", zeros, zero_count, zero);
	print_roots("poles", poles, pole_count, zero);
	return CAL_OK;
}

static CalStatus print_transfers(const LinearModel *model) {
	const CalStateSpace *s = &model->space;
	CalPole *roots = calloc(2 * (size_t)s->state_count + 1, sizeof *roots);
	CalStatus status = roots ? CAL_OK : CAL_ERR_MEMORY;
	for (int k = 0; k < s->output_count * s->input_count && status == CAL_OK; k++)
		status = print_transfer(model, k % s->input_count, k / s->input_count, roots, roots + s->state_count);
	free(roots);
	return status;
}

CalStatus linearize_print(const LinearModel *model) {
	const CalStateSpace *s = &model->space;
	printf("%s: linear at t = %g s, %d state%s, %d input%s, %d output%s\n", input_name(model->path), s->time,
	       s->state_count, plural(s->state_count), s->input_count, plural(s->input_count), s->output_count,
	       plural(s->output_count));
	print_names("states", s->states, s->state_count);
	print_names("inputs", s->inputs, s->input_count);
	print_names("outputs", s->outputs, s->output_count);
	print_motion(s);
	print_poles(model);
	return model->transfer ? print_transfers(model) : CAL_OK;
}

/* ---- JSON -------------------------------------------------------------------------------------------- */

static void json_names(const char *key, const CalSignalName *names, int count) {
	printf(",\n \"%s\": [", key);
	for (int i = 0; i < count; i++) {
		fputs(i ? ", {\"name\": " : "{\"name\": ", stdout);
		json_string(stdout, names[i].name);
		fputs(", \"unit\": ", stdout);
		json_string(stdout, names[i].unit);
		putchar('}');
	}
	putchar(']');
}

static void json_row(const double *row, int count) {
	putchar('[');
	for (int i = 0; i < count; i++) {
		fputs(i ? ", " : "", stdout);
		json_number(stdout, row[i]);
	}
	putchar(']');
}

static void json_matrix(const char *key, const double *matrix, int rows, int columns) {
	printf(",\n \"%s\": [", key);
	for (int i = 0; i < rows; i++) {
		fputs(i ? ",\n  " : "", stdout);
		json_row(matrix + (size_t)i * (size_t)columns, columns);
	}
	putchar(']');
}

static void json_roots(const char *key, const CalPole *roots, int count) {
	printf("\"%s\": [", key);
	for (int i = 0; i < count; i++) {
		const CalPole *p = &roots[i];
		const struct {
			const char *key;
			double value;
		} members[] = {{"real", p->real},
		               {"imag", p->imag},
		               {"frequency_hz", p->frequency / two_pi},
		               {"damping_ratio", p->damping}};
		fputs(i ? ",\n  {" : "{", stdout);
		for (int k = 0; k < 4; k++) {
			printf("%s\"%s\": ", k ? ", " : "", members[k].key);
			json_number(stdout, members[k].value);
		}
		putchar('}');
	}
	putchar(']');
}

static CalStatus json_transfers(const LinearModel *model) {
	const CalStateSpace *s = &model->space;
	CalPole *zeros = calloc((size_t)s->state_count + 1, sizeof *zeros);
	CalStatus status = zeros ? CAL_OK : CAL_ERR_MEMORY;
	printf(",\n \"transfer\": [");
	for (int k = 0; k < s->output_count * s->input_count && status == CAL_OK; k++) {
		const int input = k % s->input_count, output = k / s->input_count;
		int count = 0;
		double gain = 0;
		status = cal_state_space_transfer(s, input, output, zeros, &count, &gain);
		printf("%s{\"input\": ", k ? ",\n  " : "\n  ");
		json_string(stdout, s->inputs[input].name);
		printf(", \"output\": ");
		json_string(stdout, s->outputs[output].name);
		printf(", \"gain\": ");
		json_number(stdout, gain);
		printf(", ");
		json_roots("zeros", zeros, count);
		putchar('}');
	}
	putchar(']');
	free(zeros);
	return status;
}

CalStatus linearize_json(const LinearModel *model) {
	const CalStateSpace *s = &model->space;
	printf("{\"time\": ");
	json_number(stdout, s->time);
	json_names("states", s->states, s->state_count);
	json_names("inputs", s->inputs, s->input_count);
	json_names("outputs", s->outputs, s->output_count);
	json_matrix("A", s->A, s->state_count, s->state_count);
	json_matrix("B", s->B, s->state_count, s->input_count);
	json_matrix("C", s->C, s->output_count, s->state_count);
	json_matrix("D", s->D, s->output_count, s->input_count);
	printf(",\n \"rate\": ");
	json_row(s->rate, s->state_count);
	printf(",\n \"value\": ");
	json_row(s->value, s->output_count);
	printf(",\n ");
	json_roots("poles", model->poles, s->state_count);
	const CalStatus status = model->transfer ? json_transfers(model) : CAL_OK;
	printf(",\n \"warning\": ");
	json_string(stdout, s->warning);
	printf("}\n");
	return status;
}
