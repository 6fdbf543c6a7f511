// SPDX-License-Identifier: Apache-2.0
/*
 * small_system.c — see small_system.h.
 */
#include "support/small_system.h"

#include <math.h>
#include <stdio.h>

System system_begin(void) {
	System s = {0};
	check_ok(0, cal_desc_create(NULL, &s.desc));
	return s;
}

void system_start(System *s, const CalSimCapacity *capacity) {
	const CalSimOptions options = {.method = {.method = CAL_METHOD_RK4, .step = 1e-3}};
	if (cal_sim_create(s->desc, &options, &s->sim, &s->error) != CAL_OK ||
	    cal_sim_reserve(s->sim, s->desc, capacity, &s->error) != CAL_OK || cal_sim_restart(s->sim, &s->error) != CAL_OK)
		fail_msg("%s", s->error.text);
}

void system_end(System *s) {
	cal_sim_destroy(s->sim);
	cal_desc_destroy(s->desc);
}

CalBodyId add_box(System *s, const char *name, uint32_t group, double mass) {
	CalBodyDef def = cal_body_def();
	CalBodyId id;
	def.name = name;
	def.group.value = group;
	def.mass = mass;
	for (int i = 0; i < 3; i++)
		def.inertia.m[i][i] = mass * (1 + 0.1 * i) / 12;
	check_ok(0, cal_desc_add_body(s->desc, &def, &id, &s->error));
	return id;
}

CalNodeId add_node(System *s, CalBodyId body, const char *name, CalVec3 position) {
	CalNodeDef def = cal_node_def();
	CalNodeId id;
	def.name = name;
	def.placement.position = position;
	check_ok(0, cal_desc_add_node(s->desc, body, &def, &id, &s->error));
	return id;
}

CalJointId join(System *s, CalNodeId a, CalJointType type, const char *name, CalNodeId b) {
	CalJointDef def = cal_joint_def(type);
	CalJointId id;
	def.name = name;
	if (cal_desc_attach(s->desc, a, &def, b, &id, &s->error) != CAL_OK)
		fail_msg("%s", s->error.text);
	return id;
}

CalGroupId add_group(System *s, const char *name) {
	CalGroupId id;
	check_ok(0, cal_desc_add_group(s->desc, &(CalGroupDef){.name = name}, &id, &s->error));
	return id;
}

void small_flex(SmallFlex *flex) {
	*flex = (SmallFlex){.def = {.modes = 3, .node_count = 5}};
	for (int n = 0; n < 5; n++) {
		flex->position[n] = (CalVec3){0.2 + 0.2 * n, 0.1 * (n % 2), -0.1 * (n % 3)};
		flex->nodes[n] = (CalFlexNode){.mass = 0.2 + 0.1 * n, .phi = flex->phi[n], .psi = flex->psi[n]};
		for (int k = 0; k < 9; k++) {
			flex->phi[n][k] = 0.5 * sin(1 + 5 * n + k * k);
			flex->psi[n][k] = 0.3 * cos(2 + 3 * n + k * k);
		}
	}
	for (int k = 0; k < 3; k++)
		flex->stiffness[4 * k] = 100 * (k + 1);
	flex->def.nodes = flex->nodes;
	flex->def.stiffness = flex->stiffness;
}

CalBodyId add_flexible_box(System *s, const char *name, uint32_t group, double mass, CalNodeId *nodes) {
	const CalBodyId id = add_box(s, name, group, mass);
	SmallFlex flex;
	small_flex(&flex);
	for (int n = 0; n < 5; n++) {
		char node[16];
		snprintf(node, sizeof node, "n%d", n);
		flex.nodes[n].node = add_node(s, id, node, flex.position[n]);
		if (nodes)
			nodes[n] = flex.nodes[n].node;
	}
	if (cal_desc_set_flexible(s->desc, id, &flex.def, &s->error) != CAL_OK)
		fail_msg("%s", s->error.text);
	return id;
}

CalMomentum momentum(CalSim *sim, double *kinetic) {
	CalMomentum sum = {0};
	*kinetic = 0;
	for (int g = 0; g < cal_sim_group_count(sim); g++) {
		CalSimMonitor m;
		check_ok(0, cal_sim_monitor(sim, g, &m));
		*kinetic += m.energy.kinetic;
		for (int i = 0; i < 3; i++) {
			(&sum.linear.x)[i] += (&m.momentum.linear.x)[i];
			(&sum.angular_origin.x)[i] += (&m.momentum.angular_origin.x)[i];
		}
	}
	return sum;
}
