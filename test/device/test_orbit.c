// SPDX-License-Identifier: Apache-2.0
/*
 * test_orbit.c — worlds in orbit and worlds at the center of a planet, against Kepler's orbits and orbits around an oblate
 * planet that were computed with 34 digits (mpmath; Kepler by universal variables, oblateness by extrapolation of Stoermer's
 * rule, 1000 and 1600 steps of order 24 alike to 18 digits).
 */
#include "rig.h"

#include "device/kepler.h"

static const double mu = 3.986004418e14, earth = 6378137, j2 = 1.08262668e-3;

typedef struct Row {
	OrbitState start;
	double dt;
	OrbitState end;
} Row;

static const OrbitState start = {{7000e3, 0, 0}, {0, 5500, 6200}}; // eccentricity 0.21, period 8243 s
static const double ten_orbits = 82400;
static const OrbitState kepler_end = {{6997016.485025985, -148947.84287352697, -167904.8410574304},
                                      {220.27998579156682, 5497.656015761878, 6197.357690495208}};
static const OrbitState oblate_end = {{6936346.99343790503, 511985.209524488079, 879147.147670796516},
                                      {-991.668936998187073, 5477.27502782869077, 6126.32725556927469}};

static double away(CalVec3 a, CalVec3 b) {
	return sqrt((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y) + (a.z - b.z) * (a.z - b.z));
}

static double size(CalVec3 a) { return away(a, (CalVec3){0, 0, 0}); }

static void kepler_orbits_of_all_kinds_are_exact(void **state) {
	(void)state;
	const Row rows[] = {
		{start, ten_orbits, kepler_end},
		{start,
	     -1234.5,
	     {{1964454.764988122, -5172934.549063284, -5831308.037125885},
	      {6662.269445783916, 2054.776867697478, 2316.2939235862477}}},
		{{{7000e3, 1000e3, 0}, {500, 10500, 600}}, // a hair above the speed of escape
	     86400,
	     {{-177385033.99665606, 98613316.85005148, 7131602.070797396},
	      {-1383.9368649801822, 357.83517434708847, 31.96260070199837}}},
		{{{7000e3, 0, 0}, {0, 10671.730905260201, 0}}, // a parabola
	     50000,
	     {{-144209122.18771955, 65068082.96896528, 0}, {-2194.5291850555545, 472.173255902307, 0}}},
		{{{7000e3, 0, 0}, {0, 8000, 9000}}, // a hyperbola
	     20000,
	     {{-75527389.07261068, 74035494.53504065, 83289931.35192072},
	      {-3914.501277635417, 3095.725151083984, 3482.6907949694823}}},
		{{{7000e3, 0, 0}, {0, 8000, 9000}},
	     -20000,
	     {{-75527389.07261068, -74035494.53504065, -83289931.35192072},
	      {3914.501277635417, 3095.725151083984, 3482.6907949694823}}},
		{{{42164e3, 0, 0}, {0, 10, -300}}, // almost a fall
	     3600,
	     {{40694249.43433446, 35574.8208702503, -1067244.626107509},
	      {-826.1448159474845, 9.638955174556777, -289.16865523670333}}},
		{start, 0, start},
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		OrbitState end;
		assert_true(kepler_state(mu, rows[i].start, rows[i].dt, &end));
		check_near(away(end.r, rows[i].end.r) / size(rows[i].end.r), 0,
		           5e-14); // of 10 revolutions, 63 rad, the phase alone has 1e-14
		check_near(away(end.v, rows[i].end.v) / size(rows[i].end.v), 0, 5e-14);
	}
}

/* ---- ten orbits ------------------------------------------------------------------------------------------ */

typedef struct Run {
	double error, balance; // of the position [m]; of the energy, by the kinetic one
} Run;

/* Where a body is after ten orbits: in a world around the planet, or resting at the origin of one in orbit. */
static Run ten_orbits_by(bool in_orbit, bool oblate, CalMethod method, double step, double rtol) {
	Rig rig = rig_new();
	const CalSimOptions options = {.method = {.method = method, .step = step, .rtol = rtol, .atol = 1e-13}};
	const CalGravityDef def = {.name = "earth",
	                           .mu = mu,
	                           .radius = earth,
	                           .j2 = oblate ? j2 : 0,
	                           .orbit = in_orbit,
	                           .position = in_orbit ? start.r : (CalVec3){0, 0, 0},
	                           .velocity = in_orbit ? start.v : (CalVec3){0, 0, 0}};
	const CalVec3 small = {1e-6, 1e-6, 1e-6}; // the gradient over half a meter would move it by 2e-5 m
	double origin[6];
	rig_body(&rig, (CalGroupId){0}, (CalBodyId){0}, "m", cal_joint_def(CAL_JOINT_FREE), 100, small);
	assert_int_equal(cal_sim_create(rig.desc, &options, &rig.sim, NULL), CAL_OK);
	rig_ok(cal_sim_add_gravity(rig.sim, &def, NULL, &rig_error));
	CalState *s = cal_sim_state(rig.sim, 0);
	if (!in_orbit) {
		memcpy(s->q, &start.r, sizeof start.r);
		memcpy(s->u, &start.v, sizeof start.v);
	}
	rig_advance(&rig, ten_orbits);
	assert_int_equal(cal_sim_device_outputs(rig.sim, 0, origin), CAL_OK);
	s = cal_sim_state(rig.sim, 0);
	const CalVec3 r = {origin[0] + s->q[0], origin[1] + s->q[1], origin[2] + s->q[2]};
	const CalSimBalance balance = rig_balance(&rig);
	assert_true(balance.complete);
	const Run run = {away(r, oblate ? oblate_end.r : kepler_end.r),
	                 fabs(balance.error) / (0.5 * 100 * size(start.v) * size(start.v))};
	rig_free(&rig);
	return run;
}

/* Bits are there to 1e-9 m; the energy of 1e9 J closes as the tolerance says. */
static void a_body_orbits_a_planet_at_the_origin(void **state) {
	(void)state;
	for (int oblate = 0; oblate < 2; oblate++) {
		const Run loose = ten_orbits_by(false, oblate, CAL_METHOD_DOPRI5, 0, 1e-9);
		const Run tight = ten_orbits_by(false, oblate, CAL_METHOD_DOPRI5, 0, 1e-12);
		check_near(loose.error, 0, 1);
		check_near(loose.balance, 0, 1e-9);
		check_near(tight.error, 0, 2e-4);
		check_near(tight.balance, 0, 2e-12);
	}
}

/* The world's origin is no worse than a body in its orbit, with any method: it is exact. */
static void a_world_in_orbit_is_as_accurate_as_a_body_in_orbit(void **state) {
	(void)state;
	const struct {
		CalMethod method;
		double step, rtol;
	} rows[] = {{CAL_METHOD_DOPRI5, 0, 1e-6},
	            {CAL_METHOD_DOPRI5, 0, 1e-9},
	            {CAL_METHOD_DOPRI5, 0, 1e-12},
	            {CAL_METHOD_RK4, 40, 0},
	            {CAL_METHOD_EULER_CROMER, 10, 0}};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		for (int oblate = 0; oblate < 2; oblate++) {
			const Run body = ten_orbits_by(false, oblate, rows[i].method, rows[i].step, rows[i].rtol);
			const Run world = ten_orbits_by(true, oblate, rows[i].method, rows[i].step, rows[i].rtol);
			printf("method %d, step %g, rtol %g, %s: body %.2e m, world %.2e m\n", (int)rows[i].method, rows[i].step,
			       rows[i].rtol, oblate ? "oblate" : "sphere", body.error, world.error);
			assert_true(world.error <= body.error);
			check_near(world.error, 0, 2e-6);
		}
}

/* A run that is saved within an orbit and resumed in another simulation is bit-identical: the segment of the orbit is a state. */
static CalSim *oblate_world(Rig *rig) {
	const CalGravityDef def = {
		.name = "earth", .mu = mu, .radius = earth, .j2 = j2, .orbit = 1, .position = start.r, .velocity = start.v};
	*rig = rig_new();
	rig_body(rig, (CalGroupId){0}, (CalBodyId){0}, "m", cal_joint_def(CAL_JOINT_FREE), 100, (CalVec3){10, 20, 30});
	rig_sim(rig, CAL_METHOD_DOPRI5, 0);
	rig_ok(cal_sim_add_gravity(rig->sim, &def, NULL, &rig_error));
	cal_sim_state(rig->sim, 0)->q[0] = 2;
	return rig->sim;
}

static void an_orbit_resumes_with_the_same_bits(void **state) {
	(void)state;
	Rig whole, saved, resumed;
	double one[6], other[6];
	uint8_t *bytes = NULL;
	oblate_world(&whole), oblate_world(&saved), oblate_world(&resumed);
	rig_advance(&whole, 12000), rig_advance(&whole, 20000);
	rig_advance(&saved, 12000);
	const size_t length = cal_checkpoint_size(saved.sim);
	bytes = malloc(length);
	assert_non_null(bytes);
	assert_int_equal(cal_checkpoint_take(saved.sim, bytes, length, NULL), CAL_OK);
	assert_int_equal(cal_checkpoint_restore(resumed.sim, bytes, length, NULL), CAL_OK);
	rig_advance(&resumed, 20000);
	assert_int_equal(cal_sim_device_outputs(whole.sim, 0, one), CAL_OK);
	assert_int_equal(cal_sim_device_outputs(resumed.sim, 0, other), CAL_OK);
	assert_memory_equal(one, other, sizeof one);
	assert_memory_equal(cal_sim_state(whole.sim, 0)->q, cal_sim_state(resumed.sim, 0)->q, 7 * sizeof(double));
	free(bytes);
	rig_free(&whole), rig_free(&saved), rig_free(&resumed);
}

/* ---- around the planet ------------------------------------------------------------------------------------ */

/* Gravity gradient in both worlds: a satellite of two bodies swings alike, 7000 km from the origin as beside it. */
static void pitch_after(bool in_orbit, double t, double w[3], double *hinge) {
	Rig rig = rig_new();
	const double r = 7e6, n = sqrt(mu / (r * r * r));
	const CalVec3 place = {0, 0, r}, velocity = {n * r, 0, 0}, none = {0, 0, 0};
	const CalGravityDef def = {.name = "earth",
	                           .mu = mu,
	                           .orbit = in_orbit,
	                           .position = in_orbit ? place : none,
	                           .velocity = in_orbit ? velocity : none};
	const CalBodyId bus =
		rig_body(&rig, (CalGroupId){0}, (CalBodyId){0}, "m", cal_joint_def(CAL_JOINT_FREE), 100, (CalVec3){80, 75, 9});
	rig_body(&rig, (CalGroupId){0}, bus, "arm", rig_joint(CAL_JOINT_REVOLUTE, 0, 1, 0), 3, (CalVec3){1, 20, 20});
	rig_sim(&rig, CAL_METHOD_DOPRI5, 0);
	rig_ok(cal_sim_add_gravity(rig.sim, &def, NULL, &rig_error));
	CalState *s = cal_sim_state(rig.sim, 0);
	if (!in_orbit) {
		memcpy(s->q, &place, sizeof place);
		memcpy(s->u, &velocity, sizeof velocity);
	}
	s->q[3] = cos(0.2), s->q[5] = sin(0.2); // pitch
	s->q[7] = 0.1;
	rig_advance(&rig, t);
	s = cal_sim_state(rig.sim, 0);
	memcpy(w, s->u + 3, 3 * sizeof *w);
	*hinge = s->q[7];
	check_near(rig_balance(&rig).error / (0.5 * 103 * n * r * n * r), 0, 1e-9);
	rig_free(&rig);
}

static void gravity_gradients_are_the_same_in_both_worlds(void **state) {
	(void)state;
	double w[2][3], hinge[2];
	for (int i = 0; i < 2; i++)
		pitch_after(i, 5000, w[i], &hinge[i]);
	assert_true(fabs(w[0][1]) > 1e-4); // it swings
	for (int k = 0; k < 3; k++)
		check_near(w[0][k], w[1][k], 1e-10);
	check_near(hinge[0], hinge[1], 1e-7);
}

/* A body at the center is refused when it is there, by name; a world at the center without an orbit is not. */
static void a_body_at_the_center_is_named(void **state) {
	(void)state;
	CalError error = {0};
	Rig rig = rig_new();
	rig_body(&rig, (CalGroupId){0}, (CalBodyId){0}, "probe", cal_joint_def(CAL_JOINT_FREE), 1, (CalVec3){1, 1, 1});
	rig_sim(&rig, CAL_METHOD_DOPRI5, 0);
	const CalGravityDef def = {.name = "earth", .mu = mu};
	CalGravityDef orbit = def;
	orbit.orbit = 1, orbit.velocity = (CalVec3){1, 0, 0};
	assert_int_equal(cal_sim_add_gravity(rig.sim, &orbit, NULL, &error), CAL_ERR_ARGUMENT);
	assert_non_null(strstr(error.text, "an orbit needs the position"));
	rig_ok(cal_sim_add_gravity(rig.sim, &def, NULL, &rig_error));
	assert_true(cal_sim_advance(rig.sim, 1, &error) != CAL_OK);
	assert_non_null(strstr(error.text, "body \"probe\" is at the center of the planet"));
	rig_free(&rig);
}

/* A fall from rest ends at the center, at t = pi/2 sqrt(r^3/(2 mu)), with the names of device and body, by every adaptive
 * method, of a rigid body and beside another body that does not fall. */
static void a_fall_into_the_center_is_named(void **state) {
	(void)state;
	static const CalMethod methods[] = {CAL_METHOD_DOPRI5, CAL_METHOD_CVODE_ADAMS, CAL_METHOD_CVODE_BDF};
	const double r = 7e6, end = 0.5 * acos(-1) * sqrt(r * r * r / (2 * mu));
	for (int k = 0; k < 3; k++) {
		CalError error = {0};
		Rig rig = rig_new();
		rig_body(&rig, (CalGroupId){0}, (CalBodyId){0}, "moon", cal_joint_def(CAL_JOINT_FREE), 1, (CalVec3){1, 1, 1});
		rig_body(&rig, (CalGroupId){0}, (CalBodyId){0}, "probe", cal_joint_def(CAL_JOINT_FREE), 1, (CalVec3){1, 1, 1});
		rig_sim(&rig, methods[k], 0);
		rig_ok(cal_sim_add_gravity(rig.sim, &(CalGravityDef){.name = "earth", .mu = mu}, NULL, &rig_error));
		CalState *s = cal_sim_state(rig.sim, 0);
		s->q[0] = 4e8, s->q[7] = r;
		assert_int_equal(cal_sim_advance(rig.sim, 2000, &error), CAL_STEP_TOO_SMALL);
		check_near(cal_sim_time(rig.sim), end, 1e-3);
		assert_non_null(strstr(error.text, "device \"earth\" (gravity)"));
		assert_non_null(strstr(error.text, "body \"probe\" falls into the center of the planet"));
		rig_free(&rig);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kepler_orbits_of_all_kinds_are_exact),
		cmocka_unit_test(a_body_orbits_a_planet_at_the_origin),
		cmocka_unit_test(a_world_in_orbit_is_as_accurate_as_a_body_in_orbit),
		cmocka_unit_test(an_orbit_resumes_with_the_same_bits),
		cmocka_unit_test(gravity_gradients_are_the_same_in_both_worlds),
		cmocka_unit_test(a_body_at_the_center_is_named),
		cmocka_unit_test(a_fall_into_the_center_is_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
