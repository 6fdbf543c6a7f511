// SPDX-License-Identifier: Apache-2.0
/*
 * test_model_file_modal_file.c — the key "modal" of a body: the same body as the C interface makes of the file, found
 * beside the model, and what is said about files that are missing, wrong, or of another mass.
 */
#include "support/fe_support.h"

#include "model_file_flex_support.h"

/* Two masses, two modes, a frame at each end. */
static const char *const boom_file =
	"calder_modal: 1\nname: two\nmass: 5\nmodes: 2\n"
	"stiffness: [[100, 10], [10, 400]]\ndamping: [0.5, 0.25]\n"
	"rigid: {mass: 1, com: [0.1, 0, 0], inertia: [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}\n"
	"nodes:\n"
	"  - {name: root, position: [0, 0, 0]}\n"
	"  - {name: mass1, kind: mass, position: [1, 0, 0], mass: 2, phi: [[0, 0.1], [1, 0], [0, 0.5]]}\n"
	"  - {name: tip, position: [2, 0.5, 0], orientation: [0.8, 0, 0.6, 0], mass: 2, inertia: [[0.1, 0, 0], [0, 0.1, 0],\n"
	"     [0, 0, 0.1]], phi: [[0, -0.2], [2, 0.3], [0, 1]], psi: [[0, 0], [0, 0.1], [0.7, 0]]}\n"
	"  - {name: seen, kind: display, position: [1, 1, 0], phi: [[0, 0], [1, 0], [0, 1]]}\n";

static void write_boom(void) { write_text("boom.json", boom_file); }

/* A model in the temporary folder, in whose folder the modal files are. */
static CalSetup *model_file(const char *text) {
	CalSetup *file = NULL;
	CalError error = {0};
	if (cal_model_file_read(write_text("model.yaml", text), NULL, &file, &error) != CAL_OK)
		fail_msg("%s", error.text);
	return file;
}

/* What the C interface makes of the file. */
static CalDesc *desc_of(const char *name, const char *body, double bound) {
	CalDesc *desc = NULL;
	CalError error = {0};
	CalModal *modal = modal_of(temp_path(name));
	assert_int_equal(cal_desc_create(NULL, &desc), CAL_OK);
	assert_int_equal(cal_modal_add(modal, desc, body, (CalGroupId){0}, bound, NULL, &error), CAL_OK);
	cal_modal_destroy(modal);
	return desc;
}

static void it_is_the_body_of_the_c_interface(void **state) {
	(void)state;
	write_boom();
	CalDesc *plain = desc_of("boom.json", "arm", 0), *bounded = desc_of("boom.json", "leg", 9);
	CalSetup *file = model_file("calder: 1\nbodies:\n  arm: {modal: boom.json}\n"
	                            "  leg: {modal: {file: boom.json, frequency_bound: 9 rad/s, mass: 5 kg}}\n");
	assert_same_body(cal_setup_desc(file), plain, "arm", 0);
	assert_same_body(cal_setup_desc(file), bounded, "leg", 0);
	CalBodyDef rigid;
	assert_int_equal(cal_flex_body(cal_setup_desc(file), cal_desc_find_body(cal_setup_desc(file), "arm"), &rigid, NULL),
	                 CAL_OK);
	assert_near(rigid.com.x, 0.1, 0);
	assert_near(rigid.inertia.m[2][2], 1, 0);
	assert_int_equal(cal_desc_find_node(cal_setup_desc(file), "arm/seen").value, 0); // only drawn
	cal_setup_destroy(file);
	cal_desc_destroy(plain);
	cal_desc_destroy(bounded);
}

static void a_sid_will_do_as_well(void **state) {
	(void)state;
	CalError error = {0};
	write_boom();
	CalModal *modal = modal_of(temp_path("boom.json"));
	assert_int_equal(cal_modal_write(modal, temp_path("boom.SID_FEM"), &error), CAL_OK);
	cal_modal_destroy(modal);
	CalDesc *desc = desc_of("boom.SID_FEM", "arm", 0);
	CalSetup *file = model_file("calder: 1\nbodies: {arm: {modal: boom.SID_FEM}}\n");
	assert_same_body(cal_setup_desc(file), desc, "arm", 0);
	cal_setup_destroy(file);
	cal_desc_destroy(desc);
}

/* State, joints at its nodes, signals and groups know the body. */
static void the_rest_of_the_file_knows_it(void **state) {
	(void)state;
	write_boom();
	CalSetup *file = model_file(
		"calder: 1\ngroups: {g: {gravity: [0, 0, -1]}}\n"
		"bodies: {arm: {modal: boom.json, group: g}, hand: {mass: 1, inertia: [1, 1, 1], group: g}}\n"
		"joints: {a: {type: revolute, to: arm/root}, b: {type: weld, from: arm/tip, to: hand}}\n"
		"state: {a: {eta: [0.1, 0.2]}}\nrun: {duration: 1, output: {signals: ['q:arm.eta1', 'deflection:arm/tip']}}\n");
	CalModel *model = model_of(file, "g");
	CalState at;
	CalError error = {0};
	const CalBodyInfo arm = body_of(model, "arm");
	assert_int_equal(arm.modes, 2);
	assert_int_equal(cal_state_create(model, &at), CAL_OK);
	assert_int_equal(cal_setup_apply_state(file, model, &at, &error), CAL_OK);
	assert_near(at.q[arm.q + 2], 0.2, 0);
	cal_state_destroy(&at);
	cal_model_destroy(model);
	cal_setup_destroy(file);
}

/* ---- mistakes ------------------------------------------------------------------------------------ */

typedef struct Wrong {
	const char *value;        // of the key "modal"
	const char *from, *to;    // change of the modal file; NULL: none
	CalStatus status;         //
	const char *at, *said[3]; // place in the model, parts of the message
} Wrong;

static void refuse(const Wrong *w) {
	char text[1000], start[300];
	CalSetup *file = NULL;
	CalError error = {0};
	write_boom();
	if (w->from)
		changed_copy(temp_path("boom.json"), "boom.json", w->from, w->to);
	snprintf(text, sizeof text, "calder: 1\nbodies:\n  arm: {modal: %s}\njoints:\n  a: {type: weld, to: arm/%s}\n",
	         w->value, strstr(w->at, "5:") == w->at ? "flange" : "root");
	const CalStatus status = cal_model_file_read(write_text("model.yaml", text), NULL, &file, &error);
	if (status != w->status || error.status != status)
		fail_msg("%s: status %d, %s", w->value, status, error.text);
	assert_null(file);
	snprintf(start, sizeof start, "%s:%s: error: ", temp_path("model.yaml"), w->at);
	if (strncmp(error.text, start, strlen(start)) != 0)
		fail_msg("\"%s\" does not begin with \"%s\"", error.text, start);
	assert_null(strstr(error.text + strlen(start), "error:"));
	for (int k = 0; k < 3 && w->said[k]; k++)
		if (!strstr(error.text, w->said[k]))
			fail_msg("\"%s\" does not say \"%s\"", error.text, w->said[k]);
}

static void mistakes_have_their_places(void **state) {
	(void)state;
	static const Wrong list[] = {
		{"none.json", NULL, NULL, CAL_ERR_IO, "3:16", {"body \"arm\": ", "none.json: the file could not be opened"}},
		{"none.sid", NULL, NULL, CAL_ERR_IO, "3:16", {"none.sid: ", "opened"}},
		{"{file: none.json}", NULL, NULL, CAL_ERR_IO, "3:23", {"none.json"}},
		{"{mass: 5}", NULL, NULL, CAL_ERR_INPUT, "3:16", {"\"file\" is missing (see \"modal\""}},
		{"{file: boom.json, bound: 3}", NULL, NULL, CAL_ERR_INPUT, "3:34", {"unknown key \"bound\""}},
		{"{file: boom.json, mass: 5 m}", NULL, NULL, CAL_ERR_INPUT, "3:40", {"wrong unit", "a mass"}},
		{"[boom.json]", NULL, NULL, CAL_ERR_INPUT, "3:16", {"expected a map"}},
		{"boom.inp", NULL, NULL, CAL_ERR_INPUT, "3:16", {"finite element model", "calder modes boom.inp --write"}},
		{"model.yaml", NULL, NULL, CAL_ERR_INPUT, "3:16", {"model.yaml:1:1: not a modal file"}},
		{"boom.json", "modes: 2", "modes: 3", CAL_ERR_INPUT, "3:16", {"boom.json:5:12: stiffness must have 3 rows"}},
		{"boom.json", "[10, 400]", "[10, x]", CAL_ERR_INPUT, "3:16", {"boom.json:5:", "finite number"}},
		{"boom.json",
	     "[[100, 10], [10, 400]]",
	     "[0, 400]",
	     CAL_ERR_INPUT,
	     "3:16",
	     {"boom.json:5:12: the stiffness is singular: mode 1 has none"}},
		{"boom.json",
	     "[[100, 10], [10, 400]]",
	     "[[100, 300], [300, 400]]",
	     CAL_ERR_INPUT,
	     "3:16",
	     {"boom.json:5:12: the stiffness is indefinite", "check the signs"}},
		{"boom.json", "name: root", "name: tip", CAL_ERR_INPUT, "3:16", {"boom.json:11:5: two nodes have the name"}},
		{"boom.json",
	     "mass: 5",
	     "mass: 5000",
	     CAL_ERR_INPUT,
	     "3:16",
	     {"boom.json:3:7: the mass is stated as 5000 kg", "units are probably off"}},
		{"boom.json",
	     "mass: 5",
	     "mass: 6",
	     CAL_ERR_INPUT,
	     "3:16",
	     {"boom.json:3:7: ", "check the masses of the nodes"}},
		{"{file: boom.json, mass: 5000 kg}",
	     NULL,
	     NULL,
	     CAL_ERR_INPUT,
	     "3:40",
	     {"holds 5 kg, 5000 kg were expected (0.001 times as much)", "units are probably off"}},
		{"{file: boom.json, mass: 6 kg}", NULL, NULL, CAL_ERR_INPUT, "3:40", {"same part?"}},
		{"boom.json", NULL, NULL, CAL_ERR_INPUT, "5:23", {"\"arm\" has no node \"flange\"; its nodes are root, tip"}},
	};
	for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
		refuse(&list[i]);
}

static void keys_beside_it_are_refused(void **state) {
	(void)state;
	static const char *const keys[] = {"mass: 5",        "nodes: {}",      "flexible: {}", "beam: {}",
	                                   "idealized: yes", "com: [0, 0, 1]", "panel: {}"};
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
		char model[300];
		CalSetup *file = NULL;
		CalError error = {0};
		write_boom();
		snprintf(model, sizeof model, "calder: 1\nbodies:\n  arm: {modal: boom.json, %s}\n", keys[i]);
		const CalStatus status = cal_model_file_read(write_text("model.yaml", model), NULL, &file, &error);
		assert_int_equal(status, CAL_ERR_INPUT);
		assert_non_null(strstr(error.text, "model.yaml:3:"));
		assert_non_null(strstr(error.text, "gives this body its mass, nodes and modes; remove \""));
		if (i == 0)
			assert_non_null(strstr(error.text, "{file: ..., mass: ...}"));
	}
}

int main(void) {
	NEEDS_YAML();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_the_body_of_the_c_interface), cmocka_unit_test(a_sid_will_do_as_well),
		cmocka_unit_test(the_rest_of_the_file_knows_it),     cmocka_unit_test(mistakes_have_their_places),
		cmocka_unit_test(keys_beside_it_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
