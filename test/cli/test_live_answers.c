// SPDX-License-Identifier: Apache-2.0
/*
 * test_live_answers.c — a live run answers at once, also within a step that takes long: here the page speaks while a device is
 * evaluated, in the middle of a step. The web server and the clock are played, so that nothing depends on wall time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../cli/clock.h"
#include "../../cli/live.h"
#include "../../cli/page.h"
#include "../../cli/server.h"

/* ---- the server and the clock ------------------------------------------------------------------------- */

struct Server {
	ServerOptions options;
	char said[64][1024]; // the last texts
	int said_count;
	char queue[16][SERVER_COMMAND_SIZE];
	int queued, taken;
};

static Server server;
static double wall;
static void (*while_asleep)(void); // NULL: nothing happens

static void send_command(const char *command) {
	if (!server.options.at_once(server.options.at_once_user, command))
		strcpy(server.queue[server.queued++ % 16], command);
}

static const char *last_said(const char *key) {
	for (int i = server.said_count - 1; i >= 0 && i >= server.said_count - 64; i--)
		if (strstr(server.said[i % 64], key))
			return server.said[i % 64];
	return "";
}

Server *server_start(const ServerOptions *options, char *message, size_t size) {
	(void)message, (void)size;
	server = (Server){.options = *options};
	return &server;
}
void server_stop(Server *s) { (void)s; }
int server_port(const Server *s) { return (void)s, 0; }
int server_clients(Server *s) { return (void)s, 1; }
bool server_set_document(Server *s, const char *document) { return (void)s, document[0] == '{'; }
void server_tick(Server *s, const void *bytes) { (void)s, (void)bytes; }
void server_say(Server *s, const char *text) { snprintf(s->said[s->said_count++ % 64], 1024, "%s", text); }
bool server_command(Server *s, char *text) {
	if (s->taken == s->queued)
		return false;
	strcpy(text, s->queue[s->taken++ % 16]);
	return true;
}
double clock_now(void) { return wall += 1e-4; }
void clock_sleep_until(double when) {
	wall = when > wall ? when : wall;
	if (while_asleep)
		while_asleep();
}
void clock_pause(double seconds) { clock_sleep_until(clock_now() + seconds); }
const char *page_text(void) { return "<html>"; }
size_t page_length(void) { return 6; }
void page_open(int port, int browser) { (void)port, (void)browser; }

/* ---- a device that takes long ---------------------------------------------------------------------------- */

static void (*within_step)(void); // called once, in the middle of the next step

static int slow_evaluate(const CalDevice *device, CalEvalContext *context, double *xdot) {
	(void)device, (void)context, (void)xdot;
	if (within_step) {
		void (*speak)(void) = within_step;
		within_step = NULL;
		speak();
	}
	return 0;
}

/* ---- a run ----------------------------------------------------------------------------------------------- */

typedef struct LiveRun {
	CalDesc *desc;
	CalSetup *setup;
	CalSim *sim;
	CalSampler *sampler;
	Live *live;
} LiveRun;

static LiveRun run;

static int open_run(void **state) {
	(void)state;
	static const CalDeviceOps slow = {.type = "slow", .evaluate = slow_evaluate};
	const CalDeviceDef device = {.name = "slow", .ops = &slow, .accounts = 1};
	CalBodyDef ball = cal_body_def();
	CalJointDef rail = cal_joint_def(CAL_JOINT_PRISMATIC);
	CalBodyId body;
	CalJointId joint;
	ball.name = "ball", ball.mass = 2;
	ball.inertia = (CalMat3){{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
	rail.name = "rail", rail.dof[0].stiffness = 30;
	run = (LiveRun){0};
	wall = 0, while_asleep = within_step = NULL;
	assert_int_equal(cal_setup_create(NULL, &run.setup), CAL_OK);
	CalDesc *desc = cal_setup_edit_desc(run.setup);
	assert_int_equal(cal_desc_add_body(desc, &ball, &body, NULL), CAL_OK);
	assert_int_equal(cal_desc_attach(desc, (CalNodeId){0}, &rail, cal_desc_body_node(desc, body), &joint, NULL),
	                 CAL_OK);
	const CalSimOptions options = {.method = {.method = CAL_METHOD_RK4, .step = 0.01}};
	assert_int_equal(cal_sim_create(desc, &options, &run.sim, NULL), CAL_OK);
	assert_int_equal(cal_sim_add_device(run.sim, &device, NULL, NULL), CAL_OK);
	cal_sim_state(run.sim, 0)->q[0] = 0.3;
	assert_int_equal(live_create(&run.live, run.setup, run.sim, NULL, "test"), EXIT_OK);
	assert_int_equal(cal_sim_restart(run.sim, NULL), CAL_OK);
	assert_int_equal(cal_sampler_create(NULL, &run.sampler, NULL), CAL_OK);
	assert_int_equal(live_open(run.live, run.sampler, run.sim, "title", 0, false, false, "test"), EXIT_OK);
	return 0;
}

static int close_run(void **state) {
	(void)state;
	live_destroy(run.live);
	cal_sampler_destroy(run.sampler);
	cal_sim_destroy(run.sim);
	cal_setup_destroy(run.setup);
	return 0;
}

static void take_step(void) { assert_int_equal(live_step(run.live, run.sim, 1e9, NULL), CAL_OK); }

static double parameter(const char *name) {
	CalParameter p;
	assert_int_equal(cal_sim_parameter(run.sim, cal_sim_find_parameter(run.sim, name), &p), CAL_OK);
	return p.value;
}

static void send_parameter(const char *name, double value) {
	char text[200];
	snprintf(text, sizeof text, "{\"command\":\"parameter\",\"parameter\":%d,\"value\":%g}",
	         cal_sim_find_parameter(run.sim, name), value);
	send_command(text);
}

/* ---- tests ------------------------------------------------------------------------------------------------- */

static double paused_at;

static void pause_and_look(void) {
	send_command("{\"command\":\"pause\"}");
	assert_non_null(strstr(last_said("\"state\""), "\"running\":false"));
	assert_non_null(strstr(last_said("\"state\""), "\"busy\":true"));
	send_command("{\"command\":\"speed\",\"value\":3}");
	assert_non_null(strstr(last_said("\"state\""), "\"speed\":3"));
}

static int naps;

static void resume_at_last(void) {
	if (++naps > 20) // it has been resumed
		return;
	assert_true(cal_sim_time(run.sim) == paused_at);
	if (naps == 20)
		send_command("{\"command\":\"resume\"}");
}

static void a_pause_is_answered_within_the_step(void **state) {
	(void)state;
	within_step = pause_and_look;
	take_step();
	assert_null(within_step);
	paused_at = cal_sim_time(run.sim);
	assert_true(paused_at > 0);
	naps = 0;
	while_asleep = resume_at_last;
	take_step(); // waits until somebody resumes
	assert_int_equal(naps >= 20, 1);
	assert_true(cal_sim_time(run.sim) > paused_at);
	assert_non_null(strstr(last_said("\"state\""), "\"busy\":false"));
}

static void change_the_spring(void) {
	send_parameter("joint:rail.stiffness", 70);
	assert_true(parameter("joint:rail.stiffness") == 30); // not within the step
}

static void what_changes_the_model_waits_for_the_end_of_the_step(void **state) {
	(void)state;
	within_step = change_the_spring;
	take_step();
	take_step();
	assert_true(parameter("joint:rail.stiffness") == 70);
	assert_non_null(strstr(last_said("\"parameter\""), "\"value\":70"));
}

static void steps_while_paused_end_where_they_shall(void **state) {
	(void)state;
	take_step();
	send_command("{\"command\":\"pause\"}");
	send_command("{\"command\":\"step\",\"count\":3}"); // 3/60 s, in steps of 0.01 s
	const double from = cal_sim_time(run.sim);
	for (int i = 0; i < 5; i++)
		take_step();
	assert_true(cal_sim_time(run.sim) >= from + 3.0 / 60 - 1e-12 && cal_sim_time(run.sim) < from + 3.0 / 60 + 0.01);
}

static void a_reset_brings_back_every_bit(void **state) {
	(void)state;
	double first[2], again[2];
	CalState *now = cal_sim_state(run.sim, 0);
	for (int i = 0; i < 20; i++)
		take_step();
	first[0] = now->q[0], first[1] = now->u[0];
	send_parameter("joint:rail.stiffness", 5);
	send_parameter("body:ball.mass", 9);
	for (int i = 0; i < 7; i++)
		take_step();
	send_command("{\"command\":\"reset\"}");
	take_step(); // goes back, and takes none
	assert_true(cal_sim_time(run.sim) == 0);
	assert_true(parameter("joint:rail.stiffness") == 30 && parameter("body:ball.mass") == 2);
	for (int i = 0; i < 20; i++)
		take_step();
	now = cal_sim_state(run.sim, 0);
	again[0] = now->q[0], again[1] = now->u[0];
	assert_memory_equal(first, again, sizeof first);
}

static void kept_moments_can_be_returned_to_until_they_are_forgotten(void **state) {
	(void)state;
	for (int i = 0; i < 4; i++)
		take_step();
	send_command("{\"command\":\"keep\"}");
	take_step();
	const double kept = cal_sim_time(run.sim) - 0.01;
	assert_non_null(strstr(last_said("\"moments\""), "\"moment\":1"));
	take_step();
	send_command("{\"command\":\"return\",\"moment\":1}");
	take_step();
	assert_true(fabs(cal_sim_time(run.sim) - kept) < 1e-12);
	send_command("{\"command\":\"forget\",\"moment\":1}");
	take_step();
	const double then = cal_sim_time(run.sim);
	send_command("{\"command\":\"return\",\"moment\":1}");
	take_step();
	assert_true(cal_sim_time(run.sim) > then);
	assert_non_null(strstr(last_said("\"error\""), "not kept"));
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_pause_is_answered_within_the_step, open_run, close_run),
		cmocka_unit_test_setup_teardown(what_changes_the_model_waits_for_the_end_of_the_step, open_run, close_run),
		cmocka_unit_test_setup_teardown(steps_while_paused_end_where_they_shall, open_run, close_run),
		cmocka_unit_test_setup_teardown(a_reset_brings_back_every_bit, open_run, close_run),
		cmocka_unit_test_setup_teardown(kept_moments_can_be_returned_to_until_they_are_forgotten, open_run, close_run),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
