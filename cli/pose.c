// SPDX-License-Identifier: Apache-2.0
/*
 * pose.c — `calder pose`: joint coordinates at which nodes are where they are wanted, as a state of a model file, or along a path of the nodes
 * (pose_path.c).
 *
 * Starts are the state of the model and, where that is asked for, random ones within the limits; of those that get there, the one
 * whose coordinates are nearest to the state of the model is taken.
 */
#define _GNU_SOURCE // getopt_long

#include "pose.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "output.h"

static const char help[] =
	"usage: calder pose [OPTION]... --node NODE [--at X,Y,Z] [--rpy R,P,Y | --pointing X,Y,Z]... MODEL\n"
	"       calder pose [OPTION]... --node NODE... --path TABLE.csv|RUN.h5 [-o MOTION.csv] MODEL\n"
	"\n"
	"Finds joint coordinates at which nodes are where they are wanted, with loops closed and within the ranges of the\n"
	"model's limit devices, and prints them as the state of a model file. Several nodes may be given, each followed by what is\n"
	"wanted of it, in the frame of its group.\n"
	"      --node NODE        \"body\" or \"body/node\"\n"
	"      --at X,Y,Z         its place, with units or in m; - leaves a component free: --at 1,-,50cm\n"
	"      --rpy R,P,Y        its orientation: turns about fixed x, then y, then z, with units or in rad\n"
	"      --pointing X,Y,Z   direction of its z axis; it may turn about that\n"
	"      --path FILE        a path of the nodes: a table of the time and columns x y z, and qw qx qy qz or roll pitch yaw, or\n"
	"                         pose:NODE.x as calder run writes them; what has no column is free, or as --at and --rpy say\n"
	"  -o, --output FILE      coordinates along the path, for calder inverse (CSV; stdout)\n"
	"      --stream NAME      of an HDF5 file (its first)\n"
	"      --hold J,K...      joints that stay as they are in the state of the model\n"
	"      --no-limits        without the ranges of limit devices\n"
	"      --starts N         so many random starts besides the state of the model (0)\n"
	"      --seed N           of these (1)\n"
	"      --json             the result as JSON\n"
	"\n"
	"Exit code 4: not reached; what is printed is the nearest that was found.\n"
	"\n"
	"example: calder pose --node lower/tip --at 0.3,0,-0.6 examples/double_pendulum.yaml\n"
	"         calder pose --node lower/tip --path circle.csv -o motion.csv examples/double_pendulum.yaml\n";

/* ---- options ---------------------------------------------------------------------------------------------- */

/* Three quantities; "-" becomes NAN where that is allowed. */
static int read_triple(const char *option, const char *text, const char *unit, bool gaps, double out[3]) {
	char copy[200];
	CalError error = {0};
	int count = 0;
	snprintf(copy, sizeof copy, "%s", text);
	for (char *rest = copy, *part; (part = strsep(&rest, ",")) != NULL; count++) {
		if (count == 3)
			break;
		part += strspn(part, " ");
		out[count] = NAN;
		if (gaps && strcmp(part, "-") == 0)
			continue;
		if (cal_quantity_parse(part, unit, &out[count], &error) != CAL_OK || !isfinite(out[count]))
			return say_usage("pose", "--%s: %s", option, error.text[0] ? error.text : "a number must be finite");
	}
	return count == 3 && strlen(text) < sizeof copy
	           ? EXIT_OK
	           : say_usage("pose", "--%s takes three numbers, X,Y,Z, not '%s'", option, text);
}

CalMat3 pose_matrix_of_rpy(const double a[3]) {
	const double cr = cos(a[0]), sr = sin(a[0]), cp = cos(a[1]), sp = sin(a[1]), cy = cos(a[2]), sy = sin(a[2]);
	return (CalMat3){{{cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr},
	                  {sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr},
	                  {-sp, cp * sr, cp * cr}}};
}

/* Some frame whose z axis has the direction. */
static CalMat3 matrix_of_direction(const double d[3]) {
	const double n = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]), z[3] = {d[0] / n, d[1] / n, d[2] / n};
	const int least = fabs(z[0]) <= fabs(z[1]) && fabs(z[0]) <= fabs(z[2]) ? 0 : fabs(z[1]) <= fabs(z[2]) ? 1 : 2;
	double x[3] = {-z[least] * z[0], -z[least] * z[1], -z[least] * z[2]};
	x[least] += 1;
	const double s = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
	for (int k = 0; k < 3; k++)
		x[k] /= s;
	const double y[3] = {z[1] * x[2] - z[2] * x[1], z[2] * x[0] - z[0] * x[2], z[0] * x[1] - z[1] * x[0]};
	return (CalMat3){{{x[0], y[0], z[0]}, {x[1], y[1], z[1]}, {x[2], y[2], z[2]}}};
}

static int take_place(CalNodeTarget *t, const char *text) {
	double at[3] = {NAN, NAN, NAN};
	const int code = read_triple("at", text, "m", true, at);
	for (int k = 0; k < 3 && code == EXIT_OK; k++)
		t->translation |= isnan(at[k]) ? 0 : 1 << k;
	t->pose.r = (CalVec3){isnan(at[0]) ? 0 : at[0], isnan(at[1]) ? 0 : at[1], isnan(at[2]) ? 0 : at[2]};
	return code;
}

static int take_direction(CalNodeTarget *t, const char *text) {
	double d[3] = {0};
	const int code = read_triple("pointing", text, "", false, d);
	if (code != EXIT_OK)
		return code;
	if (!(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] > 0))
		return say_usage("pose", "--pointing takes a direction, not a vector of length 0");
	t->pose.R = matrix_of_direction(d);
	t->rotation = CAL_AXIS_X | CAL_AXIS_Y;
	return EXIT_OK;
}

static int take_turns(CalNodeTarget *t, const char *text) {
	double angles[3] = {0};
	const int code = read_triple("rpy", text, "rad", false, angles);
	t->pose.R = pose_matrix_of_rpy(angles);
	t->rotation = CAL_AXIS_XYZ;
	return code;
}

static int take_held(Request *r, const char *text) {
	free(r->held_text);
	r->held_text = strdup(text);
	r->held_count = 0;
	for (char *rest = r->held_text, *name; rest && (name = strsep(&rest, ",")) != NULL;) {
		if (r->held_count == POSE_HELD)
			return say_usage("pose", "--hold takes at most %d names", POSE_HELD);
		r->held[r->held_count++] = name + strspn(name, " ");
	}
	return EXIT_OK;
}

static int take_option(Request *r, int option) {
	CalNodeTarget *last = r->count ? &r->wanted[r->count - 1].target : NULL;
	switch (option) {
	case 'n':
		if (r->count == POSE_NODES)
			return say_usage("pose", "at most %d nodes", POSE_NODES);
		r->wanted[r->count++] = (Wanted){.node = optarg};
		return EXIT_OK;
	case 'a':
	case 'r':
	case 'p':
		if (!last)
			return say_usage("pose", "--node comes first, then what is wanted of it");
		return option == 'a'   ? take_place(last, optarg)
		       : option == 'r' ? take_turns(last, optarg)
		                       : take_direction(last, optarg);
	case 'H':
		return take_held(r, optarg);
	case 's':
		return option_quantity("pose", "starts", optarg, "", &r->starts);
	case 'd':
		return option_quantity("pose", "seed", optarg, "", &r->seed);
	case 'l':
		r->no_limits = true;
		return EXIT_OK;
	case 'w':
		r->way = optarg;
		return EXIT_OK;
	case 'o':
		r->output = optarg;
		return EXIT_OK;
	case 'm':
		r->stream = optarg;
		return EXIT_OK;
	default:
		r->json = true;
		return EXIT_OK;
	}
}

static int check_request(const Request *r) {
	if (r->count == 0)
		return say_usage("pose", "name a node with --node, and where it is wanted");
	if (!r->way && (r->output || r->stream))
		return say_usage("pose", "--output and --stream need --path");
	if (r->way && r->json)
		return say_usage("pose", "--path writes a table; --json is for a single pose");
	for (int i = 0; i < r->count && !r->way; i++)
		if (!r->wanted[i].target.translation && !r->wanted[i].target.rotation)
			return say_usage("pose", "what is wanted of node '%s'? Give --at, --rpy or --pointing after it",
			                 r->wanted[i].node);
	if (!(r->starts <= 1e6))
		return say_usage("pose", "--starts takes a number up to 1000000");
	return -1;
}

/* Exit code, or -1 to continue. */
static int parse_options(Request *r, int argc, char **argv) {
	static const struct option long_options[] = {
		{"node", required_argument, NULL, 'n'},   {"at", required_argument, NULL, 'a'},
		{"rpy", required_argument, NULL, 'r'},    {"pointing", required_argument, NULL, 'p'},
		{"hold", required_argument, NULL, 'H'},   {"starts", required_argument, NULL, 's'},
		{"seed", required_argument, NULL, 'd'},   {"no-limits", no_argument, NULL, 'l'},
		{"json", no_argument, NULL, 'j'},         {"path", required_argument, NULL, 'w'},
		{"output", required_argument, NULL, 'o'}, {"stream", required_argument, NULL, 'm'},
		{"help", no_argument, NULL, 'h'},         {0},
	};
	*r = (Request){.seed = 1};
	for (int option; (option = getopt_long(argc, argv, "o:h", long_options, NULL)) != -1;) {
		if (option == 'h') {
			fputs(help, stdout);
			return EXIT_OK;
		}
		if (option == '?' || option == ':')
			return option_wrong("pose", argv, long_options);
		const int code = take_option(r, option);
		if (code != EXIT_OK)
			return code;
	}
	if (argc - optind != 1)
		return say_usage("pose", "name one model");
	r->path = argv[optind];
	return check_request(r);
}

/* ---- the search ---------------------------------------------------------------------------------------------- */

static int find_targets(Search *s, const Request *r, CalSim *sim) {
	char text[300];
	int group = -1;
	for (int g = 0; g < cal_sim_group_count(sim) && group < 0; g++)
		group = cal_model_find_node(cal_sim_model(sim, g), r->wanted[0].node) >= 0 ? g : -1;
	s->model = group >= 0 ? cal_sim_model(sim, group) : NULL;
	for (int i = 0; i < r->count; i++) {
		s->targets[i] = r->wanted[i].target;
		s->targets[i].node = s->model ? cal_model_find_node(s->model, r->wanted[i].node) : -1;
		if (s->targets[i].node >= 0)
			continue;
		snprintf(text, sizeof text, "there is no node \"%.160s\"%s; calder info lists them", r->wanted[i].node,
		         s->model ? " in the group of the first" : "");
		say_error(r->path, text);
		return -1;
	}
	s->count = r->count;
	return group;
}

/* The joint of a degree of freedom and the place of it there; false: it is a mode. */
static bool joint_of(const Search *s, int u, CalBodyInfo *body, int *index) {
	CalDofInfo info;
	if (cal_model_dof(s->model, u, &info) != CAL_OK || cal_model_body(s->model, info.body, body) != CAL_OK)
		return false;
	*index = u - body->u;
	return *index < body->nu;
}

/* No limits; what is prescribed, and modes, stay as they are. */
static void clear_limits(Search *s) {
	for (int u = 0; u < s->nu; u++) {
		CalDofInfo info;
		CalBodyInfo body;
		int index;
		s->lower[u] = -INFINITY, s->upper[u] = INFINITY;
		s->frozen[u] =
			!joint_of(s, u, &body, &index) || (cal_model_dof(s->model, u, &info) == CAL_OK && info.prescribed);
	}
}

static void take_limit(Search *s, const CalLimitDef *limit) {
	for (int u = 0; u < s->nu; u++) {
		CalBodyInfo body;
		int index;
		if (!joint_of(s, u, &body, &index) || body.joint_id.value != limit->joint.value || index != limit->dof)
			continue;
		s->lower[u] = fmax(s->lower[u], limit->lower);
		s->upper[u] = fmin(s->upper[u], limit->upper);
	}
}

static bool hold(Search *s, const char *name) {
	bool found = false;
	for (int u = 0; u < s->nu; u++) {
		CalBodyInfo body;
		char text[160] = "";
		int index;
		cal_model_dof_name(s->model, u, text, sizeof text);
		if (strcmp(text, name) == 0 || (joint_of(s, u, &body, &index) && strcmp(body.joint, name) == 0))
			s->frozen[u] = found = true;
	}
	return found;
}

/* Ranges of the model's limit devices, and what is held. */
static int find_limits(Search *s, const Request *r, const CalSetup *setup) {
	const char *type;
	const void *def;
	char text[300];
	clear_limits(s);
	for (int i = 0; !r->no_limits && cal_setup_device(setup, i, &type, NULL, &def) == CAL_OK; i++)
		if (strcmp(type, "limit") == 0)
			take_limit(s, def);
	for (int i = 0; i < r->held_count; i++) {
		if (hold(s, r->held[i]))
			continue;
		snprintf(text, sizeof text, "--hold: there is no joint \"%.160s\"; calder info lists them", r->held[i]);
		say_error(r->path, text);
		return EXIT_INPUT;
	}
	return EXIT_OK;
}

/* Numbers in [0, 1) of a counter: SplitMix64. */
static double random_number(uint64_t *counter) {
	uint64_t z = *counter += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

/* A start anywhere within the limits; where there is none, within half a turn, or a meter. */
static void move_start(Search *s, uint64_t *counter) {
	for (int u = 0; u < s->nu; u++) {
		CalDofInfo info;
		const double part = random_number(counter);
		(void)cal_model_dof(s->model, u, &info);
		const double at = info.q >= 0 ? s->start.q[info.q] : 0, reach = 3.14159265358979323846;
		const double low = info.q >= 0 && isfinite(s->lower[u]) ? s->lower[u] - at : -reach;
		const double high = info.q >= 0 && isfinite(s->upper[u]) ? s->upper[u] - at : reach;
		s->way[u] = s->frozen[u] ? 0 : low + part * (high - low);
	}
	cal_config_integrate(s->model, s->start.q, s->way, s->state.q);
}

static double distance_moved(Search *s) {
	double sum = 0;
	cal_config_difference(s->model, s->start.q, s->state.q, s->way);
	for (int u = 0; u < s->nu; u++)
		sum += s->way[u] * s->way[u];
	return sqrt(sum);
}

static double error_of(const CalReach *reach) { return fmax(reach->distance, reach->angle); }

static CalStatus try_start(Search *s, bool first) {
	const CalReachOptions options = {.lower = s->lower, .upper = s->upper, .frozen = s->frozen};
	CalReach reach = {0};
	const CalStatus status =
		cal_inverse_kinematics(s->model, &s->state, s->targets, s->count, &options, s->work, &reach);
	if (status < 0)
		return status;
	const bool reached = status == CAL_OK;
	const double moved = distance_moved(s);
	const bool better =
		first || (reached && !s->reached) ||
		(reached == s->reached && (reached ? moved < s->moved : error_of(&reach) < error_of(&s->reach)));
	if (!better)
		return CAL_OK;
	cal_state_copy(s->model, &s->state, &s->best);
	s->reach = reach, s->reached = reached, s->moved = moved;
	return CAL_OK;
}

CalStatus pose_search(Search *s, const Request *r, const CalState *start, int starts) {
	uint64_t counter = (uint64_t)r->seed * UINT64_C(0x2545f4914f6cdd1d);
	cal_state_copy(s->model, start, &s->start);
	CalStatus status = CAL_OK;
	for (int i = 0; i <= starts && status == CAL_OK; i++) {
		cal_state_copy(s->model, &s->start, &s->state);
		if (i > 0)
			move_start(s, &counter);
		status = try_start(s, i == 0);
	}
	return status;
}

/* ---- what is printed ---------------------------------------------------------------------------------------------- */

static void print_numbers(const double *q, int count, bool json) {
	const bool list = json || count > 1;
	printf("%s", list ? "[" : "");
	for (int i = 0; i < count; i++) {
		printf("%s", i ? ", " : "");
		json_number(stdout, q[i]);
	}
	printf("%s", list ? "]" : "");
}

static void print_state(const Search *s, bool json) {
	int said = 0;
	printf(json ? ",\n \"state\": {" : "state:\n");
	for (int b = 0; b < cal_model_body_count(s->model); b++) {
		CalBodyInfo body;
		if (cal_model_body(s->model, b, &body) != CAL_OK || body.nq == 0)
			continue;
		printf("%s", json ? said++ ? ",\n  " : "\n  " : "  ");
		json_string(stdout, body.joint);
		printf(json ? ": " : ": {q: ");
		print_numbers(s->best.q + body.q, body.nq, json);
		printf(json ? "" : "}\n");
	}
	printf(json ? "}}\n" : "");
}

static void print_result(const Search *s, const Request *r) {
	if (r->json) {
		printf("{\"reached\": %s, \"distance\": ", s->reached ? "true" : "false");
		json_number(stdout, s->reach.distance);
		printf(", \"angle\": ");
		json_number(stdout, s->reach.angle);
		printf(", \"at_limit\": %d", s->reach.at_limit);
	} else {
		printf("# %s: %s, %.3g m and %.3g rad from the target%s; %d joint%s at a limit\n", r->path,
		       s->reached ? "reached" : "not reached", s->reach.distance, s->reach.angle, plural(s->count),
		       s->reach.at_limit, plural(s->reach.at_limit));
	}
	print_state(s, r->json);
}

/* ---- the command ------------------------------------------------------------------------------------------------------ */

static CalStatus make_room(Search *s) {
	s->nu = cal_model_u_count(s->model);
	s->lower = calloc((size_t)s->nu + 1, 3 * sizeof(double));
	s->frozen = calloc((size_t)s->nu + 1, 1);
	if (!s->lower || !s->frozen)
		return CAL_ERR_MEMORY;
	s->upper = s->lower + s->nu + 1, s->way = s->upper + s->nu + 1;
	CalStatus status = cal_work_create(s->model, &s->work);
	CalState *const states[] = {&s->start, &s->state, &s->best};
	for (int i = 0; i < 3 && status == CAL_OK; i++)
		status = cal_state_create(s->model, states[i]);
	return status;
}

static void release(Search *s) {
	free(s->lower), free(s->frozen);
	cal_work_destroy(s->work);
	cal_state_destroy(&s->start), cal_state_destroy(&s->state), cal_state_destroy(&s->best);
}

static int find_pose(const Request *r, Loaded *loaded) {
	Search s = {0};
	const int group = find_targets(&s, r, loaded->sim);
	if (group < 0)
		return EXIT_INPUT;
	int code = say_status(r->path, make_room(&s), NULL);
	if (code == EXIT_OK && s.upper)
		code = find_limits(&s, r, loaded->setup);
	if (code == EXIT_OK && r->way) {
		code = pose_follow(&s, r, loaded->sim, group);
		release(&s);
		return code;
	}
	if (code == EXIT_OK)
		code = say_status(r->path, pose_search(&s, r, cal_sim_state(loaded->sim, group), (int)r->starts), NULL);
	if (code == EXIT_OK) {
		print_result(&s, r);
		code = s.reached ? EXIT_OK : EXIT_NUMERICS;
	}
	if (code == EXIT_NUMERICS)
		say_warning(r->path, r->starts > 0
		                         ? "not reached from any start; the state printed is the nearest that was found"
		                         : "not reached from the state of the model; give --starts 100, or another state");
	release(&s);
	return code;
}

static int spare_files(const Request *r, const CalSetup *setup) {
	const Written motion = {r->output, "-o"};
	const int code = output_spares_model("pose", motion, r->path, setup);
	return code == EXIT_OK ? output_spares("pose", motion, r->way, "the path") : code;
}

int command_pose(int argc, char **argv) {
	Request r;
	CalSetup *setup = NULL;
	Loaded loaded = {0};
	int code = parse_options(&r, argc, argv);
	if (code < 0) {
		code = input_open(r.path, &setup);
		if (code == EXIT_OK)
			code = spare_files(&r, setup);
		if (code == EXIT_OK) {
			code = loaded_at(&loaded, setup, r.path, 0);
			setup = NULL; // loaded owns it
		}
		if (code == EXIT_OK)
			code = find_pose(&r, &loaded);
	}
	cal_setup_destroy(setup);
	loaded_destroy(&loaded);
	free(r.held_text);
	return code;
}
