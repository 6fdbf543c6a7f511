// SPDX-License-Identifier: Apache-2.0
/*
 * linearize_print.c — a linearized model as text and as JSON.
 */
#include <math.h>

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

void linearize_print(const LinearModel *model) {
	const CalStateSpace *s = &model->space;
	printf("%s: linear at t = %g s, %d state%s, %d input%s, %d output%s\n", input_name(model->path), s->time,
	       s->state_count, plural(s->state_count), s->input_count, plural(s->input_count), s->output_count,
	       plural(s->output_count));
	print_names("states", s->states, s->state_count);
	print_names("inputs", s->inputs, s->input_count);
	print_names("outputs", s->outputs, s->output_count);
	print_motion(s);
	print_poles(model);
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

static void json_poles(const LinearModel *model) {
	printf(",\n \"poles\": [");
	for (int i = 0; i < model->space.state_count; i++) {
		const CalPole *p = &model->poles[i];
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

void linearize_json(const LinearModel *model) {
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
	json_poles(model);
	printf(",\n \"warning\": ");
	json_string(stdout, s->warning);
	printf("}\n");
}
