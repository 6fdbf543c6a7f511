// SPDX-License-Identifier: Apache-2.0
/*
 * identify_data.c — a recorded motion as states, accelerations and forces of a model.
 *
 * Columns are named as signals are: "q:elbow" (or "elbow"), "u:elbow", "udot:elbow", "force:elbow". Speeds and accelerations that
 * are not there come from polynomials through the samples around each.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "csv.h"
#include "identify.h"

enum { DEGREE = 4, LEAST_SAMPLES = 7 };

static const char *coordinate_unit(CalCoordinateKind kind, int derivative) {
	static const char *const angles[] = {"rad", "rad/s", "rad/s^2"}, *const lengths[] = {"m", "m/s", "m/s^2"};
	return kind == CAL_COORDINATE_ANGLE ? angles[derivative] : kind == CAL_COORDINATE_LENGTH ? lengths[derivative] : "";
}

/* Column "KIND:NAME", of coordinates also "NAME"; -1. */
static int find_column(const Csv *csv, const char *kind, const char *name) {
	const size_t length = strlen(kind);
	for (int i = 1; i < csv->column_count; i++) {
		const char *label = csv->columns[i].name;
		if (strncmp(label, kind, length) == 0 && label[length] == ':' && strcmp(label + length + 1, name) == 0)
			return i;
		if (strcmp(kind, "q") == 0 && strcmp(label, name) == 0)
			return i;
	}
	return -1;
}

/* One column in SI into to[row * stride], NAN where there is no value; false: its unit does not fit. */
static bool copy_column(const Csv *csv, int column, const char *unit, const char *path, double *to, size_t stride) {
	double scale = 1;
	if (unit[0] && !column_scale(&csv->columns[column], unit, path, &scale))
		return false;
	for (size_t i = 0; i < csv->count; i++)
		to[i * stride] = scale * csv->rows[i * (size_t)csv->column_count + (size_t)column];
	return true;
}

/* ---- which group ---------------------------------------------------------------------------------------------------- */

static bool has_force(const CalModel *model, const Csv *csv) {
	char name[160];
	for (int u = 0; u < cal_model_u_count(model); u++)
		if (cal_model_dof_name(model, u, name, sizeof name) > 0 && find_column(csv, "force", name) >= 0)
			return true;
	return false;
}

/* The first group with bodies, or with a column of a force. */
static int compile_group(const CalDesc *desc, const Csv *csv, const char *path, CalModel **model) {
	CalError error = {0};
	for (int g = 0; g < cal_desc_group_count(desc); g++) {
		const CalCompileOptions options = {.group = {(uint32_t)g + 1}};
		bool bodies = false;
		for (int b = 0; b < cal_desc_body_count(desc); b++)
			bodies |= cal_desc_body(desc, (CalBodyId){(uint32_t)b + 1})->group.value == options.group.value;
		if (!bodies)
			continue;
		const CalStatus status = cal_model_compile(desc, &options, model, &error);
		if (status != CAL_OK)
			return say_status(path, status, &error);
		if (cal_model_u_count(*model) > 0 && (!csv || has_force(*model, csv)))
			return EXIT_OK;
		cal_model_destroy(*model);
		*model = NULL;
	}
	say_error(path,
	          csv ? "there is no column of the force of a joint, \"force:JOINT\"" : "nothing of the model can move");
	return EXIT_INPUT;
}

/* ---- columns ---------------------------------------------------------------------------------------------------------- */

static int make_room(Recording *r, size_t rows) {
	const size_t nq = (size_t)r->nq, nu = (size_t)r->nu;
	r->time = calloc(rows + 1, sizeof(double));
	r->q = calloc(rows * nq + 1, sizeof(double)), r->u = calloc(rows * nu + 1, sizeof(double));
	r->udot = calloc(rows * nu + 1, sizeof(double)), r->tau = calloc(rows * nu + 1, sizeof(double));
	r->measured = calloc(nu + 1, 1), r->recorded = calloc(nu + 1, 1);
	const bool room = r->time && r->q && r->u && r->udot && r->tau && r->measured && r->recorded;
	return room ? EXIT_OK : say_status("identify", CAL_ERR_MEMORY, NULL);
}

static int say_missing(const char *path, const char *kind, const char *name, const char *why) {
	char text[400];
	snprintf(text, sizeof text, "there is no column \"%s:%.160s\"%s", kind, name, why);
	say_error(path, text);
	return EXIT_INPUT;
}

static int read_coordinates(Recording *r, const Csv *csv, const char *path) {
	for (int q = 0; q < r->nq; q++) {
		char name[160];
		CalCoordinateInfo info;
		cal_model_q_name(r->model, q, name, sizeof name);
		cal_model_coordinate(r->model, q, &info);
		const int column = find_column(csv, "q", name);
		if (column < 0)
			return say_missing(path, "q", name,
			                   ": all coordinates of the group must be recorded; weld joints that stand still");
		if (!copy_column(csv, column, coordinate_unit(info.kind, 0), path, r->q + q, (size_t)r->nq))
			return EXIT_INPUT;
	}
	return EXIT_OK;
}

/* Rates of samples: of order 1 from x to rate, and of order 2 to acceleration; either may be NULL. Strided. */
static int estimate(const Recording *r, const double *x, size_t stride, double *rate, double *acceleration) {
	const size_t n = r->count, to = (size_t)r->nu;
	double *copy = calloc(3 * n + 1, sizeof *copy);
	if (!copy)
		return say_status("identify", CAL_ERR_MEMORY, NULL);
	for (size_t i = 0; i < n; i++)
		copy[i] = x[i * stride];
	const CalStatus status = cal_estimate_rates((int)n, r->time, copy, r->window, DEGREE, NULL, rate ? copy + n : NULL,
	                                            acceleration ? copy + 2 * n : NULL);
	for (size_t i = 0; i < n && status == CAL_OK; i++) {
		if (rate)
			rate[i * to] = copy[n + i];
		if (acceleration)
			acceleration[i * to] = copy[2 * n + i];
	}
	free(copy);
	return say_status("identify", status, NULL);
}

/* Speed and acceleration of one degree of freedom, from its columns as far as they are there. */
static int read_rates(Recording *r, const Csv *csv, int u, const char *path) {
	char name[160];
	CalCoordinateInfo info;
	CalDofInfo dof = {.q = -1};
	cal_model_dof_name(r->model, u, name, sizeof name);
	cal_model_speed(r->model, u, &info);
	cal_model_dof(r->model, u, &dof);
	const int speed = find_column(csv, "u", name), acceleration = find_column(csv, "udot", name);
	const size_t stride = (size_t)r->nu;
	if (speed < 0 && dof.q < 0)
		return say_missing(path, "u", name,
		                   ", and the coordinates of a joint with a quaternion do not give its speeds");
	if (speed >= 0 && !copy_column(csv, speed, coordinate_unit(info.kind, 1), path, r->u + u, stride))
		return EXIT_INPUT;
	if (acceleration >= 0 && !copy_column(csv, acceleration, coordinate_unit(info.kind, 2), path, r->udot + u, stride))
		return EXIT_INPUT;
	if (speed >= 0 && acceleration >= 0)
		return EXIT_OK;
	r->estimated = true;
	if (speed >= 0)
		return estimate(r, r->u + u, stride, r->udot + u, NULL);
	return estimate(r, r->q + dof.q, (size_t)r->nq, r->u + u, acceleration < 0 ? r->udot + u : NULL);
}

static int read_forces(Recording *r, const Csv *csv, const IdentifyRequest *request) {
	for (int u = 0; u < r->nu; u++) {
		char name[160];
		CalCoordinateInfo info;
		cal_model_dof_name(r->model, u, name, sizeof name);
		cal_model_speed(r->model, u, &info);
		const int column = find_column(csv, "force", name);
		r->recorded[u] = column >= 0;
		const char *unit = info.kind == CAL_COORDINATE_LENGTH ? "N" : info.kind == CAL_COORDINATE_ANGLE ? "N m" : "";
		if (column >= 0 && !copy_column(csv, column, unit, request->data, r->tau + u, (size_t)r->nu))
			return EXIT_INPUT;
	}
	const int code = choose_dofs("--unactuated", &request->unactuated, r->model, request->path, r->measured);
	const bool loops = cal_model_loop_count(r->model) > 0; // where every force must be known
	for (int u = 0; u < r->nu && code == EXIT_OK; u++) {
		if (r->measured[u] && r->recorded[u]) {
			char name[160], text[400];
			cal_model_dof_name(r->model, u, name, sizeof name);
			snprintf(text, sizeof text, "it has a column \"force:%s\", and --unactuated says that nothing acts there",
			         name);
			say_error(request->data, text);
			return EXIT_INPUT;
		}
		r->measured[u] |= r->recorded[u] || loops;
	}
	return code;
}

/* ---- rows ----------------------------------------------------------------------------------------------------------------- */

/* Of several rows at one time the last is that after an event. */
static int drop_repeated_times(Csv *csv, const char *path) {
	const size_t width = (size_t)csv->column_count;
	size_t kept = 0;
	for (size_t i = 0; i < csv->count; i++) {
		kept += !(kept && csv->rows[(kept - 1) * width] == csv->rows[i * width]);
		memmove(csv->rows + (kept - 1) * width, csv->rows + i * width, width * sizeof *csv->rows);
	}
	csv->count = kept;
	if (kept > LEAST_SAMPLES)
		return EXIT_OK;
	say_error(path, "the recording has fewer than 8 rows of different times");
	return EXIT_INPUT;
}

/* Rows with a gap in a coordinate have no rates around them: they may not be there at all. */
static int check_gaps(const Recording *r, const char *path) {
	char text[200];
	for (size_t i = 0; i < r->count; i++)
		for (int q = 0; q < r->nq; q++)
			if (!isfinite(r->q[i * (size_t)r->nq + (size_t)q])) {
				snprintf(text, sizeof text, "a coordinate has no value at t = %.9g s", r->time[i]);
				say_error(path, text);
				return EXIT_INPUT;
			}
	return EXIT_OK;
}

static bool is_usable(const Recording *r, size_t row) {
	const double reach = r->estimated ? 0.5 * r->window * (1 - 1e-9) : 0, t = r->time[row];
	if (t - r->time[0] < reach || r->time[r->count - 1] - t < reach)
		return false;
	for (size_t u = 0; u < (size_t)r->nu; u++) {
		const size_t at = row * (size_t)r->nu + u;
		if (!isfinite(r->u[at]) || !isfinite(r->udot[at]) || (r->measured[u] && !isfinite(r->tau[at])))
			return false;
	}
	return true;
}

static void keep_usable(Recording *r) {
	const size_t nq = (size_t)r->nq, nu = (size_t)r->nu;
	size_t kept = 0, *rows = malloc((r->count + 1) * sizeof *rows);
	for (size_t i = 0; rows && i < r->count; i++)
		if (is_usable(r, i))
			rows[kept++] = i;
	for (size_t k = 0; k < kept; k++) {
		const size_t i = rows[k];
		r->time[k] = r->time[i];
		memmove(r->q + k * nq, r->q + i * nq, nq * sizeof(double));
		memmove(r->u + k * nu, r->u + i * nu, nu * sizeof(double));
		memmove(r->udot + k * nu, r->udot + i * nu, nu * sizeof(double));
		memmove(r->tau + k * nu, r->tau + i * nu, nu * sizeof(double));
	}
	r->left_out = r->count - kept;
	r->count = kept;
	free(rows);
}

static int read_table(Recording *r, const IdentifyRequest *request, Csv *csv) {
	double scale = 1;
	int code = drop_repeated_times(csv, request->data);
	if (code == EXIT_OK)
		code = make_room(r, csv->count);
	if (code != EXIT_OK)
		return code;
	r->count = csv->count;
	if (!column_scale(&csv->columns[0], "s", request->data, &scale))
		return EXIT_INPUT;
	for (size_t i = 0; i < r->count; i++)
		r->time[i] = scale * csv->rows[i * (size_t)csv->column_count];
	r->window = request->window > 0 ? request->window
	                                : LEAST_SAMPLES * (r->time[r->count - 1] - r->time[0]) / (double)(r->count - 1);
	code = read_coordinates(r, csv, request->data);
	if (code == EXIT_OK)
		code = check_gaps(r, request->data);
	for (int u = 0; u < r->nu && code == EXIT_OK; u++)
		code = read_rates(r, csv, u, request->data);
	if (code == EXIT_OK)
		code = read_forces(r, csv, request);
	if (code == EXIT_OK)
		keep_usable(r);
	return code;
}

int recording_read(Recording *r, const IdentifyRequest *request, const CalDesc *desc) {
	Csv csv = {0};
	*r = (Recording){0};
	int code = cal_results_is_hdf5(request->data) ? csv_from_hdf5(request->data, request->stream, &csv)
	                                              : csv_read(request->data, &csv);
	if (code == EXIT_OK)
		code = compile_group(desc, &csv, request->data, &r->model);
	if (code == EXIT_OK) {
		r->nq = cal_model_q_count(r->model), r->nu = cal_model_u_count(r->model);
		code = read_table(r, request, &csv);
	}
	csv_free(&csv);
	return code;
}

/* ---- without a recording ------------------------------------------------------------------------------------------------------ */

/* Numbers in -1 ... 1 that look random, the same everywhere. */
static double scattered(uint64_t *state) {
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (double)(*state >> 11) / 4503599627370496.0 - 1;
}

int recording_random(Recording *r, const CalDesc *desc, const char *path) {
	*r = (Recording){0};
	int code = compile_group(desc, NULL, path, &r->model);
	if (code != EXIT_OK)
		return code;
	if (cal_model_loop_count(r->model) > 0) {
		say_error(path, "a model with loops needs a recording: states at random do not close them");
		return EXIT_INPUT;
	}
	r->nq = cal_model_q_count(r->model), r->nu = cal_model_u_count(r->model);
	const size_t nq = (size_t)r->nq, nu = (size_t)r->nu, rows = 40 + 10 * (size_t)cal_model_body_count(r->model);
	CalState neutral = {0};
	CalWork *work = NULL;
	uint64_t state = 1;
	code = make_room(r, rows);
	if (code == EXIT_OK)
		code = say_status(path, cal_state_create(r->model, &neutral), NULL);
	if (code == EXIT_OK)
		code = say_status(path, cal_work_create(r->model, &work), NULL);
	for (; code == EXIT_OK && r->count < rows; r->count++) {
		for (size_t u = 0; u < nu; u++) {
			const size_t at = r->count * nu + u;
			r->u[at] = 3 * scattered(&state), r->udot[at] = 10 * scattered(&state);
			r->tau[at] = 2 * scattered(&state); // the way from the neutral configuration, for now
		}
		memcpy(r->q + r->count * nq, neutral.q, nq * sizeof(double));
		cal_config_integrate(r->model, neutral.q, r->tau + r->count * nu, r->q + r->count * nq);
		const CalState at = recording_state(r, r->count);
		code = say_status(
			path, cal_inverse_dynamics(r->model, &at, r->udot + r->count * nu, NULL, work, r->tau + r->count * nu),
			NULL);
	}
	for (int u = 0; code == EXIT_OK && u < r->nu; u++)
		r->measured[u] = 1;
	cal_state_destroy(&neutral);
	cal_work_destroy(work);
	return code;
}

/* ---- either ---------------------------------------------------------------------------------------------------------------------- */

CalState recording_state(const Recording *r, size_t row) {
	return (CalState){.t = r->time[row], .q = r->q + row * (size_t)r->nq, .u = r->u + row * (size_t)r->nu};
}

void recording_free(Recording *r) {
	cal_model_destroy(r->model);
	free(r->time), free(r->q), free(r->u), free(r->udot), free(r->tau), free(r->measured), free(r->recorded);
	*r = (Recording){0};
}

/* Whether degree of freedom u of a joint goes by this name: its own, or that of its joint. */
static bool goes_by(const CalModel *model, int u, const char *name) {
	char own[160];
	CalDofInfo dof;
	CalBodyInfo body;
	if (cal_model_dof(model, u, &dof) != CAL_OK || dof.body < 0 || cal_model_body(model, dof.body, &body) != CAL_OK)
		return false;
	cal_model_dof_name(model, u, own, sizeof own);
	return strcmp(name, "all") == 0 || strcmp(name, own) == 0 || (body.joint && strcmp(name, body.joint) == 0);
}

int choose_dofs(const char *option, const NameList *names, const CalModel *model, const char *path, uint8_t *chosen) {
	char text[300];
	for (int i = 0; i < names->count; i++) {
		bool found = false;
		for (int u = 0; u < cal_model_u_count(model); u++)
			if (goes_by(model, u, names->names[i])) {
				chosen[u] = 1;
				found = true;
			}
		if (found)
			continue;
		snprintf(text, sizeof text, "%s: the group has no joint \"%.160s\"; calder info lists them", option,
		         names->names[i]);
		say_error(path, text);
		return EXIT_INPUT;
	}
	return EXIT_OK;
}
