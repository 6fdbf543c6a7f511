// SPDX-License-Identifier: Apache-2.0
/*
 * quantity_list.c — the list of quantities. A new one is its entry here, its function (quantity_values.c, or beside it) and
 * a row in test/quantity/test_quantity.c; `calder signals` and the tables of docs/format.md and docs/expressions.md follow.
 */
#include <string.h>

#include "base/error.h"
#include "quantity/quantity.h"

#define COUNT(texts) ((int)(sizeof(texts) / sizeof(texts)[0]))
#define COMPONENTS(names, measured) .component_count = COUNT(names), .components = (names), .units = (measured)

static const char *const pose_names[] = {"x", "y", "z", "qw", "qx", "qy", "qz"};
static const char *const pose_units[] = {"m", "m", "m", "1", "1", "1", "1"};
static const char *const velocity_names[] = {"vx", "vy", "vz", "wx", "wy", "wz"};
static const char *const velocity_units[] = {"m/s", "m/s", "m/s", "rad/s", "rad/s", "rad/s"};
static const char *const rate_names[] = {"wx", "wy", "wz"};
static const char *const rate_units[] = {"rad/s", "rad/s", "rad/s"};
static const char *const acceleration_names[] = {"ax", "ay", "az", "alx", "aly", "alz"};
static const char *const acceleration_units[] = {"m/s^2", "m/s^2", "m/s^2", "rad/s^2", "rad/s^2", "rad/s^2"};
static const char *const node_names[] = {"x", "y", "z", "qw", "qx", "qy", "qz", "vx", "vy", "vz", "wx", "wy", "wz"};
static const char *const node_units[] = {"m",   "m",   "m",   "1",     "1",     "1",    "1",
                                         "m/s", "m/s", "m/s", "rad/s", "rad/s", "rad/s"};
static const char *const wrench_names[] = {"mx", "my", "mz", "fx", "fy", "fz"};
static const char *const wrench_units[] = {"N m", "N m", "N m", "N", "N", "N"};
static const char *const deflection_names[] = {"dx", "dy", "dz", "rx", "ry", "rz"};
static const char *const deflection_units[] = {"m", "m", "m", "rad", "rad", "rad"};
static const char *const energy_names[] = {"kinetic", "gravity", "elastic", "total"};
static const char *const energy_units[] = {"J", "J", "J", "J"};
static const char *const momentum_names[] = {"px", "py", "pz", "Lx", "Ly", "Lz"};
static const char *const momentum_units[] = {"kg m/s", "kg m/s", "kg m/s", "kg m^2/s", "kg m^2/s", "kg m^2/s"};
static const char *const balance_names[] = {"groups", "stored", "dissipated", "supplied", "error"};
static const char *const formulation_names[] = {"updates", "error", "mean_error", "missing", "removed"};
static const char *const formulation_units[] = {"1", "1", "1", "J", "J"};
static const char *const balance_units[] = {"J", "J", "J", "J", "J"};
static const char *const single[] = {""};
static const char *const meter[] = {"m"}, *const meter_per_second[] = {"m/s"}, *const radian[] = {"rad"},
						 *const number[] = {"1"};

/* Of the quaternion in a pose. */
static const Quantity half_turn = {.info = {.word = "pose",
                                            .about = CAL_ABOUT_NODE,
                                            .object = "NODE",
                                            .relative = 1,
                                            COMPONENTS(pose_names, pose_units)},
                                   .read = read_side,
                                   .course = course_side};

static const Quantity quantities[] = {
	{.info = {.word = "q",
              .doc = "coordinates of the joints, and modal coordinates of the bodies that they carry",
              .about = CAL_ABOUT_COORDINATE,
              .object = "JOINT",
              .of_all = 1,
              .formula_count = -1},
     .phase = PHASE_MOTION,
     .order = ORDER_Q,
     .element = element_q,
     .read = read_q,
     .course = course_q},
	{.info = {.word = "u",
              .doc = "speeds of the joints, and modal speeds",
              .about = CAL_ABOUT_COORDINATE,
              .object = "JOINT",
              .of_all = 1,
              .formula_count = -1},
     .phase = PHASE_MOTION,
     .order = ORDER_U,
     .element = element_u,
     .read = read_u,
     .course = course_u},
	{.info = {.word = "udot",
              .doc = "accelerations: rates of the speeds",
              .about = CAL_ABOUT_COORDINATE,
              .object = "JOINT",
              .of_all = 1},
     .phase = PHASE_OBSERVE,
     .order = ORDER_UDOT,
     .element = element_udot},
	{.info = {.word = "force",
              .doc = "generalized forces of loads and devices, and what driven degrees of freedom need",
              .about = CAL_ABOUT_COORDINATE,
              .object = "JOINT",
              .of_all = 1},
     .phase = PHASE_OBSERVE,
     .order = ORDER_FORCE,
     .element = element_force},
	{.info = {.word = "energy",
              .doc = "energy of each group",
              .about = CAL_ABOUT_GROUP,
              .object = "GROUP",
              .of_all = 1,
              COMPONENTS(energy_names, energy_units)},
     .phase = PHASE_OWN,
     .values = values_energy},
	{.info = {.word = "momentum",
              .doc = "momentum of each group: linear, and angular about the world's origin",
              .about = CAL_ABOUT_GROUP,
              .object = "GROUP",
              .of_all = 1,
              COMPONENTS(momentum_names, momentum_units)},
     .phase = PHASE_OWN,
     .values = values_momentum},
	{.info = {.word = "pose",
              .doc = "position and quaternion (`qw` >= 0) of a node, in the world or seen from a second node",
              .about = CAL_ABOUT_NODE,
              .object = "NODE",
              .of_all = 1,
              .relative = 1,
              .formula_count = -1,
              COMPONENTS(pose_names, pose_units)},
     .phase = PHASE_MOTION,
     .values = values_pose,
     .read = read_pose,
     .course = course_pose,
     .side = &half_turn,
     .first_sided = 3},
	{.info = {.word = "velocity",
              .doc = "velocity and angular velocity of a node, in the world or seen from a second node",
              .about = CAL_ABOUT_NODE,
              .object = "NODE",
              .of_all = 1,
              .relative = 1,
              .formula_count = -1,
              COMPONENTS(velocity_names, velocity_units)},
     .phase = PHASE_MOTION,
     .values = values_velocity,
     .read = read_velocity,
     .course = course_velocity},
	{.info =
         {.word = "body_rate",
          .doc =
              "angular velocity of a node in its own axes, as a rate gyro measures it; relative to the world or to a "
              "second node",
          .about = CAL_ABOUT_NODE,
          .object = "NODE",
          .relative = 1,
          .formula_count = -1,
          COMPONENTS(rate_names, rate_units)},
     .phase = PHASE_MOTION,
     .values = values_body_rate,
     .read = read_body_rate,
     .course = course_body_rate},
	{.info = {.word = "acceleration",
              .doc = "acceleration and angular acceleration of a node, world axes",
              .about = CAL_ABOUT_NODE,
              .object = "NODE",
              .of_all = 1,
              COMPONENTS(acceleration_names, acceleration_units)},
     .phase = PHASE_OBSERVE,
     .values = values_acceleration},
	{.info = {.word = "node",
              .doc = "pose and velocity of a node",
              .about = CAL_ABOUT_NODE,
              .object = "NODE",
              COMPONENTS(node_names, node_units)},
     .phase = PHASE_MOTION,
     .values = values_node},
	{.info = {.word = "wrench",
              .doc = "moment and force that loads and devices apply at a node, world axes",
              .about = CAL_ABOUT_NODE,
              .object = "NODE",
              COMPONENTS(wrench_names, wrench_units)},
     .phase = PHASE_OBSERVE,
     .values = values_wrench},
	{.info = {.word = "deflection",
              .doc =
                  "displacement and rotation vector of a node of a flexible body from its undeformed place, body axes",
              .about = CAL_ABOUT_NODE,
              .object = "NODE",
              COMPONENTS(deflection_names, deflection_units)},
     .phase = PHASE_MOTION,
     .values = values_deflection},
	{.info = {.word = "distance",
              .doc = "distance of two nodes",
              .about = CAL_ABOUT_NODES,
              .object = "A,B",
              .formula_count = -1,
              COMPONENTS(single, meter)},
     .phase = PHASE_CONTEXT,
     .values = values_distance,
     .read = read_distance,
     .course = course_distance},
	{.info = {.word = "range_rate",
              .doc = "rate of the distance of two nodes",
              .about = CAL_ABOUT_NODES,
              .object = "A,B",
              .formula_count = -1,
              COMPONENTS(single, meter_per_second)},
     .phase = PHASE_CONTEXT,
     .values = values_range_rate,
     .read = read_range_rate,
     .course = course_range_rate},
	{.info = {.word = "angle",
              .doc = "angle of the rotation between the axes of two nodes, 0 to pi",
              .about = CAL_ABOUT_NODES,
              .object = "A,B",
              .formula_count = -1,
              COMPONENTS(single, radian)},
     .phase = PHASE_CONTEXT,
     .values = values_angle,
     .read = read_angle,
     .course = course_angle},
	{.info = {.word = "reaction",
              .doc = "moment and force through a joint on its outboard body at that body's node, world axes",
              .about = CAL_ABOUT_JOINT,
              .object = "JOINT",
              .of_all = 1,
              COMPONENTS(wrench_names, wrench_units)},
     .phase = PHASE_REACTION,
     .values = values_reaction},
	{.info =
         {.word = "loop",
          .doc =
              "moment and force of a loop on its second side at the origin of frame B, world axes; a knife's on its first",
          .about = CAL_ABOUT_LOOP,
          .object = "LOOP",
          COMPONENTS(wrench_names, wrench_units)},
     .phase = PHASE_OBSERVE,
     .values = values_loop},
	{.info = {.word = "residual",
              .doc = "residuals of the constraint equations of a loop: how far they are from zero",
              .about = CAL_ABOUT_LOOP,
              .object = "LOOP",
              .of_all = 1},
     .phase = PHASE_RESIDUAL,
     .element = element_row},
	{.info = {.word = "multiplier",
              .doc =
                  "Lagrange multipliers of the constraint equations of a loop; of a driven one the force of its drive",
              .about = CAL_ABOUT_LOOP,
              .object = "LOOP",
              .of_all = 1},
     .phase = PHASE_MULTIPLIER,
     .element = element_row},
	{.info = {.word = "device",
              .doc = "outputs of a device; in formulas 0 while it is inactive",
              .about = CAL_ABOUT_DEVICE,
              .object = "DEVICE",
              .of_all = 1,
              .formula_count = -1},
     .phase = PHASE_CONTEXT,
     .values = values_device,
     .read = read_device,
     .course = course_device},
	{.info = {.word = "event",
              .doc = "how often an event has happened so far",
              .about = CAL_ABOUT_EVENT,
              .object = "EVENT",
              .of_all = 1,
              COMPONENTS(single, number)},
     .phase = PHASE_OWN,
     .values = values_event},
	{.info =
         {.word = "balance",
          .doc =
              "energy of all groups and devices: in groups, stored, dissipated and supplied since the start, and the error of "
              "their sum; NaN where something acts whose work is not known",
          .about = CAL_ABOUT_SYSTEM,
          .object = "",
          .of_all = 1,
          COMPONENTS(balance_names, balance_units)},
     .phase = PHASE_OWN,
     .values = values_balance},
	{.info = {.word = "total_momentum",
              .doc = "momentum of all groups and devices: linear, and angular about the world's origin",
              .about = CAL_ABOUT_SYSTEM,
              .object = "",
              .of_all = 1,
              COMPONENTS(momentum_names, momentum_units)},
     .phase = PHASE_OWN,
     .values = values_total_momentum},
	{.info =
         {.word = "formulation",
          .doc =
              "with `formulation: system`: updates so far, error of the accelerations of retained modes before the last one "
              "and before all (root mean square), energy of deflections that other modes have not got (the largest), energy "
              "of their motion that was removed",
          .about = CAL_ABOUT_SYSTEM,
          .object = "",
          .of_all = 1,
          COMPONENTS(formulation_names, formulation_units)},
     .phase = PHASE_OWN,
     .values = values_formulation},
};

enum { QUANTITY_COUNT = sizeof quantities / sizeof quantities[0] };

/* Short forms for formulas: x(A) is pose(A.x). */
static const struct {
	const char *name; // which is the component too
	const char *word;
} short_forms[] = {{"x", "pose"},      {"y", "pose"},      {"z", "pose"},      {"qw", "pose"},     {"qx", "pose"},
                   {"qy", "pose"},     {"qz", "pose"},     {"vx", "velocity"}, {"vy", "velocity"}, {"vz", "velocity"},
                   {"wx", "velocity"}, {"wy", "velocity"}, {"wz", "velocity"}};

static bool is_text(const char *text, size_t length, const char *word) {
	return strlen(word) == length && memcmp(text, word, length) == 0;
}

const Quantity *quantity_at(int quantity) {
	return quantity >= 0 && quantity < QUANTITY_COUNT ? &quantities[quantity] : NULL;
}

const Quantity *quantity_of_word(const char *text, size_t length) {
	for (int i = 0; i < QUANTITY_COUNT; i++)
		if (is_text(text, length, quantities[i].info.word))
			return &quantities[i];
	return NULL;
}

const Quantity *quantity_of_short(const char *text, size_t length, const char **component) {
	for (size_t i = 0; i < sizeof short_forms / sizeof short_forms[0]; i++)
		if (is_text(text, length, short_forms[i].name)) {
			*component = short_forms[i].name;
			return quantity_of_word(short_forms[i].word, strlen(short_forms[i].word));
		}
	return NULL;
}

int quantity_component(const Quantity *quantity, const char *name) {
	for (int i = 0; i < quantity->info.component_count; i++)
		if (strcmp(quantity->info.components[i], name) == 0)
			return i;
	return -1;
}

/* ---- public ------------------------------------------------------------------------------------------------- */

int cal_quantity_count(void) { return QUANTITY_COUNT; }

CalStatus cal_quantity(int quantity, CalQuantityInfo *info) {
	const Quantity *entry = quantity_at(quantity);
	if (!entry || !info)
		return CAL_ERR_ARGUMENT;
	*info = entry->info;
	return CAL_OK;
}

/* Of a short form: what it is short for. */
int cal_quantity_find(const char *word) {
	const char *component;
	const Quantity *entry = word ? quantity_of_word(word, strlen(word)) : NULL;
	if (word && !entry)
		entry = quantity_of_short(word, strlen(word), &component);
	return entry ? (int)(entry - quantities) : -1;
}

/* Before the component: a dot, in earlier versions a colon. NULL: the name has no component. */
static const char *component_mark(const Quantity *quantity, const char *rest) {
	const char *colon = strrchr(rest, ':'), *dot = strrchr(rest, '.');
	if (quantity->info.component_count == 1)
		return NULL; // of events and distances
	const bool listed = quantity->info.component_count > 1;
	if (dot && (!colon || dot > colon) && (!listed || quantity_component(quantity, dot + 1) >= 0))
		return dot;
	if (colon && (!listed || quantity_component(quantity, colon + 1) >= 0))
		return colon;
	return NULL;
}

CalStatus cal_quantity_split(const char *name, CalQuantityName *parts) {
	if (!name || !parts)
		return CAL_ERR_ARGUMENT;
	const size_t length = strcspn(name, ":@");
	const Quantity *quantity = quantity_of_word(name, length);
	*parts = (CalQuantityName){.quantity = quantity ? (int)(quantity - quantities) : -1};
	if (!quantity || !name[length])
		return CAL_OK;
	const char *rest = name + length + 1, *mark = component_mark(quantity, rest);
	if (!mark && quantity_component(quantity, rest) >= 0) { // of the system, or of the only group
		parts->component = rest;
		return CAL_OK;
	}
	parts->object = rest;
	parts->object_length = (int)(mark ? (size_t)(mark - rest) : strlen(rest));
	parts->component = mark ? mark + 1 : NULL;
	return CAL_OK;
}
