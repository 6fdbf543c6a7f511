// SPDX-License-Identifier: Apache-2.0
/*
 * component_machine.h — machines for the tests of components: the same one flat and of components, and how far two are apart.
 */
#ifndef CALDER_TEST_SIM_COMPONENT_MACHINE_H
#define CALDER_TEST_SIM_COMPONENT_MACHINE_H

#include <math.h>

#include <calder/calder.h>

#include "support/model_file_support.h"
#include "support/thread_ranks.h"

typedef struct Machine {
	CalSetup *setup;
	CalSim *sim;
	CalScenario *scenario;
} Machine;

static inline CalStatus machine_try(const char *text, const CalSimOptions *options, Machine *m, CalError *error) {
	*m = (Machine){.setup = file_of(text)};
	return cal_setup_simulate(m->setup, options, &m->sim, &m->scenario, error);
}

static inline Machine machine_of(const char *text, const CalSimOptions *options) {
	Machine m;
	CalError error;
	if (machine_try(text, options, &m, &error) != CAL_OK)
		fail_msg("%s", error.text);
	return m;
}

static inline void machine_free(Machine *m) {
	cal_scenario_destroy(m->scenario);
	cal_sim_destroy(m->sim);
	cal_setup_destroy(m->setup);
}

static inline void advance(Machine *m, double t) {
	CalError error;
	if (cal_sim_advance(m->sim, t, &error) != CAL_OK)
		fail_msg("%s", error.text);
}

static inline CalSimOptions precise(void) {
	return (CalSimOptions){.method = {.method = CAL_METHOD_DOPRI5, .rtol = 1e-10, .atol = 1e-11}};
}

/* Pose, velocity and acceleration of a node, whichever group it is in now. */
typedef struct Motion {
	double of[12 + 6 + 6];
} Motion;

static inline Motion motion_of(CalSim *sim, const char *path) {
	for (int g = 0; g < cal_sim_group_count(sim); g++) {
		const int node = cal_model_find_node(cal_sim_model(sim, g), path);
		CalSimView view;
		CalPose pose;
		CalSpatial V, A;
		Motion m;
		if (node < 0)
			continue;
		assert_int_equal(cal_sim_observe(sim, g, &view), CAL_OK);
		assert_int_equal(cal_node_pose(view.model, view.work, node, &pose), CAL_OK);
		assert_int_equal(cal_node_velocity(view.model, view.work, node, &V), CAL_OK);
		assert_int_equal(cal_node_acceleration(view.model, view.work, node, &A), CAL_OK);
		memcpy(m.of, &pose, 12 * sizeof(double));
		memcpy(m.of + 12, &V, 6 * sizeof(double));
		memcpy(m.of + 18, &A, 6 * sizeof(double));
		return m;
	}
	fail_msg("there is no node %s", path);
	return (Motion){0};
}

/* The largest difference of numbers [from, to) of the motions of nodes, relative to the largest of them. */
static inline double apart(CalSim *a, CalSim *b, const char *const *paths, int from, int to) {
	double worst = 0, scale = 1;
	for (int i = 0; paths[i]; i++) {
		const Motion x = motion_of(a, paths[i]), y = motion_of(b, paths[i]);
		for (int k = from; k < to; k++) {
			worst = fmax(worst, fabs(x.of[k] - y.of[k]));
			scale = fmax(scale, fabs(x.of[k]));
		}
	}
	return worst / scale;
}

#define AGREE(a, b, paths, from, to, tolerance)                                  \
	do {                                                                         \
		const double off_ = apart((a).sim, (b).sim, paths, from, to);            \
		if (!(off_ <= (tolerance)))                                              \
			fail_msg("line %d: apart by %g, not %g", __LINE__, off_, tolerance); \
	} while (0)

/* ---- the machine of the examples ---------------------------------------------------------------------------------- */

/* One or two arms on a carriage; how each is kept, how its parts are, and modes of the booms. */
static inline void machine_text(char *text, size_t size, const char *outer, const char *inner, int modes, int arms) {
	char set[600], arm[1500], right[2000] = "";
	snprintf(
		set, sizeof set,
		"set: {subsystems.shoulder.component: %s, subsystems.boom.component: %s, subsystems.gripper.component: %s, "
		"subsystems.boom.set: {bodies.boom.beam.modes: %d, bodies.boom.beam.elements: 3}}",
		inner, inner, inner, modes);
	snprintf(arm, sizeof arm, "file: " SOURCE_DIR "/examples/components/arm.yaml, component: %s, %s", outer, set);
	if (arms > 1)
		snprintf(right, sizeof right, "  right: {%s, attach: {to: carriage/right}}\n", arm);
	snprintf(text, size,
	         "calder: 1\ngravity: [0, 0, -9.81]\nbodies:\n"
	         "  carriage: {mass: 120, box: [2, 1, 0.4], nodes: {left: [0.5, 0.4, 0.2],\n"
	         "             right: {at: [-0.5, -0.4, 0.2], orientation: {z: 180 deg}}}}\n"
	         "joints:\n  rail: {type: prismatic, to: carriage, inboard: {orientation: {y: 90 deg}},\n"
	         "         dof: {stiffness: 3000, damping: 60}}\n"
	         "subsystems:\n  left: {%s, attach: {to: carriage/left}}\n%s"
	         "state: {rail: {u: 0.5}, left/shoulder/turn: {q: -5 deg, u: 0.4}}\n",
	         arm, right);
}

static const char *const machine_nodes[] = {"carriage/left",
                                            "left/base/top",
                                            "left/shoulder/flange/tip",
                                            "left/boom/boom/tip",
                                            "left/gripper/finger/pad",
                                            "left/gripper/rocker/out",
                                            NULL};

typedef struct Layout {
	const char *outer, *inner;
	int threads, euclidean; // projections in the Euclidean metric
} Layout;

static const Layout layouts[] = {{"true", "false", 1, 0},
                                 {"true", "true", 2, 0},
                                 {"false", "true", 1, 0},
                                 {"true", "true", 1, 1},
                                 {"true", "false", 2, 0}};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

static inline Machine layout_machine(Layout layout, int modes, int arms) {
	char text[5000];
	CalSimOptions options = precise();
	options.method.euclidean = layout.euclidean;
	options.threads = layout.threads;
	options.branches = layout.threads;
	options.branches_forced = layout.threads > 1;
	options.not_pinned = 1;
	machine_text(text, sizeof text, layout.outer, layout.inner, modes, arms);
	return machine_of(text, &options);
}

/* ---- a free-flying arm, by hand ------------------------------------------------------------------------------------- */

/* A hub that flies, an arm of two links on it, a load that flies beside; the arm in the hub's group or in its own. */
#define SPACE(arm_group, groups, mount, ties, more)                                                                       \
	"calder: 1\n" groups "bodies:\n"                                                                                      \
	"  hub: {mass: 40, box: [1, 1.2, 0.8], nodes: {port: {at: [0.5, 0.1, 0], orientation: {y: 20 deg}},\n"                \
	"        out: {at: [0.96984632, 0.1, -0.17101007166283436], orientation: {y: 20 deg}}}}\n"                            \
	"  upper: {mass: 5, box: [1, 0.2, 0.1]" arm_group ", nodes: {in: [-0.5, 0, 0], out: [0.5, 0, 0]}}\n"                  \
	"  fore: {mass: 3, box: [0.8, 0.1, 0.2]" arm_group ", nodes: {in: [-0.4, 0, 0], tip: [0.4, 0, 0]}}\n"                 \
	"  load: {mass: 7, box: [0.4, 0.5, 0.6], group: load}\n"                                                              \
	"joints:\n  flight: {type: free, to: hub}\n" mount                                                                    \
	"  elbow: {type: revolute, from: upper/out, to: fore/in, inboard: {orientation: {x: 50 deg}}, dof: {damping: 0.2}}\n" \
	"  drift: {type: free, to: load}\n" ties                                                                              \
	"state: {flight: {u: [0.1, 0.2, -0.1, 0.2, -0.3, 0.1]}, elbow: {q: 0.7, u: -0.6},\n"                                  \
	"        drift: {u: [0.3, -0.1, 0.2, 0.1, 0.2, -0.4]}}\n" more
#define SPACE_FLAT(more) \
	SPACE("", "groups: {load: }\n", "  mount: {type: weld, from: hub/port, to: upper/in}\n", "", more)
#define SPACE_TIED(ties, more)                                                                  \
	SPACE(", group: arm", "groups: {load: , arm: }\n", "  mount: {type: free, to: upper/in}\n", \
	      "subsystems:\n  arm: {component: true, attach: " ties "}\n", more)
#define SPACE_PARTS(more) SPACE_TIED("{node: upper/in, to: hub/port}", more)

static const char *const space_nodes[] = {"hub/port", "upper/out", "fore/tip", "load", NULL};

static inline CalNodeId node_id(const Machine *m, const char *path) {
	CalNodeId id = {0};
	assert_true(cal_sim_find_node(m->sim, path, &id));
	return id;
}

/* ---- ranks ----------------------------------------------------------------------------------------------------------- */

enum { RANKS = 4 };

typedef struct RankRuns {
	CalStatus status[RANKS];
	CalError error[RANKS];
	Machine machine[RANKS];
} RankRuns;

#endif
