// SPDX-License-Identifier: Apache-2.0
/*
 * test_fe_modal.c — SID and modal files: round trips keep every inertia term at any deflection, SID's integrals have
 * their textbook values, and files that are wrong are refused with their place.
 */
#include "support/fe_support.h"

enum { MAX_TERMS = 10 + 6 * 32 + 32 * 32 };

/* Two masses and a frame, two modes: small enough for integrals by hand. */
static const char *const small_file =
	"calder_modal: 1\nname: two\nboundary: held at the origin\nmass: 5\nmodes: 2\n"
	"stiffness: [[100, 10], [10, 400]]\ndamping: [0.5, 0.25]\n"
	"nodes:\n"
	"  - {name: base, position: [0, 0, 0]}\n"
	"  - {name: a, kind: mass, position: [1, 0, 0], mass: 2, phi: [[0, 0.1], [1, 0], [0, 0.5]]}\n"
	"  - {name: tip, position: [2, 0.5, 0], orientation: [0.8, 0, 0.6, 0], mass: 3,\n"
	"     phi: [[0, -0.2], [2, 0.3], [0, 1]], psi: [[0, 0], [0, 0.1], [0.7, 0]]}\n";

static CalModal *small_modal(void) { return modal_of(write_text("small.yaml", small_file)); }

static void same_body(const CalModal *a, const CalModal *b, double tolerance) {
	static double x[MAX_TERMS], y[MAX_TERMS];
	double eta[32];
	const CalModalInfo info = cal_modal_info(a);
	assert_int_equal(cal_modal_info(b).modes, info.modes);
	for (int k = 0; k < 3; k++) {
		for (int i = 0; i < info.modes; i++)
			eta[i] = k * 0.01 * sin(1.0 + 3 * i + k);
		const int count = inertia_at(a, eta, x);
		inertia_at(b, eta, y);
		for (int i = 0; i < count; i++)
			assert_near(y[i], x[i], tolerance);
	}
	for (int i = 0; i < info.modes * info.modes; i++)
		assert_near(cal_modal_info(b).stiffness[i], info.stiffness[i], 1e-12 * fabs(info.stiffness[i]));
}

static void modal_file_round_trip_is_exact(void **state) {
	(void)state;
	NEEDS_LIBYAML();
	CalError error = {0};
	CalModal *a = small_modal();
	assert_string_equal(cal_modal_info(a).name, "two");
	assert_near(cal_modal_info(a).damping[3], 0.25, 0);
	assert_int_equal(cal_modal_write(a, temp_path("again.json"), &error), CAL_OK);
	CalModal *b = modal_of(temp_path("again.json"));
	same_body(a, b, 0);
	CalModalNode x, y;
	assert_int_equal(cal_modal_node(a, 2, &x), CAL_OK);
	assert_int_equal(cal_modal_node(b, 2, &y), CAL_OK);
	assert_string_equal(y.name, "tip");
	assert_memory_equal(&x.placement, &y.placement, sizeof x.placement);
	assert_memory_equal(x.psi, y.psi, 6 * sizeof *x.psi);
	assert_near(cal_modal_info(b).damping[0], 0.5, 0);
	assert_string_equal(cal_modal_info(b).boundary, "held at the origin");
	cal_modal_destroy(a);
	cal_modal_destroy(b);
}

static void sid_round_trip_keeps_every_inertia_term(void **state) {
	(void)state;
	NEEDS_LIBYAML();
	CalError error = {0};
	CalModal *a = small_modal();
	assert_int_equal(cal_modal_write(a, temp_path("small.SID_FEM"), &error), CAL_OK);
	CalModal *b = modal_of(temp_path("small.SID_FEM"));
	same_body(a, b, 1e-12);
	assert_string_equal(cal_modal_info(b).notes, "");
	assert_string_equal(cal_modal_info(b).boundary, "all shapes vanish at \"node1\"");
	CalModalNode x, y;
	assert_int_equal(cal_modal_node(a, 2, &x), CAL_OK);
	assert_int_equal(cal_modal_node(b, 1, &y), CAL_OK); // the second that is no mass point
	assert_near(y.placement.orientation.y, x.placement.orientation.y, 1e-15);
	for (int i = 0; i < 6; i++) {
		assert_near(y.phi[i], x.phi[i], 1e-15);
		assert_near(y.psi[i], x.psi[i], 1e-15);
	}
	assert_near(cal_modal_info(b).damping[3], 0.25, 0);
	assert_int_equal(cal_modal_write(b, temp_path("twice.SID_FEM"), &error), CAL_OK); // and once more
	CalModal *c = modal_of(temp_path("twice.SID_FEM"));
	same_body(a, c, 1e-11);
	cal_modal_destroy(a);
	cal_modal_destroy(b);
	cal_modal_destroy(c);
}

/*
 * Shapes in one direction only: phi_k x phi_i vanishes, and what the two files make of it differs by round-off alone,
 * which is no geometric stiffness.
 */
static void a_panel_survives_its_sid(void **state) {
	(void)state;
	CalDesc *desc = NULL;
	CalError error = {0};
	CalPanelDef panel = cal_panel_def();
	CalBodyId id;
	CalModal *a = NULL;
	panel.name = "panel", panel.length = 3, panel.width = 1, panel.cover_mass = 2, panel.choice.modes = 7,
	panel.choice.boundary = CAL_FLEX_FREE;
	panel.rib_x = panel.rib_y = (CalSection){.EA = 1e6, .GJ = 200, .EIy = 300, .EIz = 300, .rhoA = 0.4, .rhoIy = 0.1};
	assert_int_equal(cal_desc_create(NULL, &desc), CAL_OK);
	assert_int_equal(cal_panel_add(desc, &panel, &id, &error), CAL_OK);
	assert_int_equal(cal_flex_modal(desc, id, 0, NULL, &a, &error), CAL_OK);
	cal_desc_destroy(desc);
	assert_int_equal(cal_modal_write(a, temp_path("panel.SID_FEM"), &error), CAL_OK);
	CalModal *b = modal_of(temp_path("panel.SID_FEM"));
	same_body(a, b, 1e-12);
	assert_string_equal(cal_modal_info(b).notes, "");
	cal_modal_destroy(a);
	cal_modal_destroy(b);
}

/* The entry "m0(i, j)" or "m1(i, k, j)" of a matrix in a SID file; 0 if it is not written. */
static double sid_entry(const char *text, const char *matrix, const char *entry) {
	char start[32], stop[32];
	snprintf(start, sizeof start, "\n          %s\n", matrix);
	snprintf(stop, sizeof stop, "end %s\n", matrix);
	const char *at = strstr(text, start), *end = at ? strstr(at, stop) : NULL;
	assert_non_null(end);
	at = strstr(at, entry);
	if (!at || at > end)
		return 0;
	char number[40];
	snprintf(number, sizeof number, "%.30s", strchr(at, '=') + 1);
	*strchr(number, 'D') = 'e';
	return strtod(number, NULL);
}

/* m = 2 at (1, 0, 0), m = 3 at (2, 0.5, 0); shapes as in small_file. */
static void sid_integrals_have_their_textbook_values(void **state) {
	(void)state;
	NEEDS_LIBYAML();
	CalError error = {0};
	CalModal *modal = small_modal();
	assert_int_equal(cal_modal_write(modal, temp_path("small.sid"), &error), CAL_OK);
	char *text = text_of(temp_path("small.sid"));
	assert_near(sid_entry(text, "mdCM", "m0(   1,   1)"), 2 * 1 + 3 * 2, 1e-14);
	assert_near(sid_entry(text, "mdCM", "m1(   2,   1,   1)"), 2 * 1 + 3 * 2, 1e-14);
	assert_near(sid_entry(text, "J", "m0(   3,   3)"), 2 * 1 + 3 * 4.25, 1e-14);
	assert_near(sid_entry(text, "J", "m0(   1,   2)"), -3 * 2 * 0.5, 1e-14);
	assert_near(sid_entry(text, "J", "m1(   3,   1,   3)"), 2 * 3 * 0.5 * 2, 1e-14); // 2 sum m y phi_y
	assert_near(sid_entry(text, "Ct", "m0(   2,   3)"), 2 * 0.5 + 3 * 1, 1e-14);
	assert_near(sid_entry(text, "Cr", "m0(   1,   3)"), 2 * 1 * 1 + 3 * 2 * 2, 1e-14);        // x phi_y
	assert_near(sid_entry(text, "Cr", "m1(   2,   1,   1)"), 2 * 1 * 0.5 + 3 * 2 * 1, 1e-14); // (phi_1 x phi_2)_x
	assert_near(sid_entry(text, "Me", "m0(   2,   2)"), 2 * 0.26 + 3 * (0.04 + 0.09 + 1), 1e-14);
	assert_near(sid_entry(text, "Me", "m0(   1,   2)"), 3 * 2 * 0.3, 1e-14);
	assert_near(sid_entry(text, "Gr", "m0(   1,   1)"), 2 * 3 * 0.5 * 2, 1e-14);       // 2 sum m (y phi_y + z phi_z)
	assert_near(sid_entry(text, "Gr", "m0(   2,   1)"), -2 * (2 * 1 + 3 * 4), 1e-14);  // -2 sum m phi_y x
	assert_near(sid_entry(text, "Ge", "m0(   2,   1)"), 2 * (2 * 0.5 + 3 * 2), 1e-14); // 2 (phi_1 x phi_2)_x
	assert_near(sid_entry(text, "Oe", "m0(   1,   1)"), -3 * 2 * 0.5, 1e-14);          // -(phi_y y)
	assert_near(sid_entry(text, "Oe", "m0(   1,   4)"), 2 * 1 * 1 + 3 * 2 * 2, 1e-14); // phi_y x + phi_x y
	assert_near(sid_entry(text, "Oe", "m1(   1,   1,   1)"), -(2 * 1 + 3 * 4), 1e-14); // -phi_y phi_y
	assert_near(sid_entry(text, "Ke", "m0(   1,   2)"), 10, 0);
	free(text);
	cal_modal_destroy(modal);
}

/* Without Gr's M1 the body is the same at rest and to first order in q. */
static void sid_of_first_order_is_met_to_first_order(void **state) {
	(void)state;
	NEEDS_LIBYAML();
	CalError error = {0};
	static double x0[MAX_TERMS], y0[MAX_TERMS], x[MAX_TERMS], y[MAX_TERMS];
	CalModal *a = small_modal();
	assert_int_equal(cal_modal_write(a, temp_path("small.SID_FEM"), &error), CAL_OK);
	char *text = text_of(temp_path("small.SID_FEM"));
	char *gr = strstr(text, "\n          Gr\n"), *end = strstr(gr, "end Gr");
	for (char *m1; (m1 = strstr(gr, "m1(")) && m1 < end;)
		memmove(m1, strchr(m1, '\n') + 1, strlen(strchr(m1, '\n') + 1) + 1), end = strstr(gr, "end Gr");
	char *order = strstr(gr, "= 1");
	order[2] = '0';
	CalModal *b = modal_of(write_text("first.SID_FEM", text));
	free(text);
	assert_non_null(strstr(cal_modal_info(b).notes, "exact to first order"));
	const double zero[2] = {0, 0};
	const int count = inertia_at(a, zero, x0);
	inertia_at(b, zero, y0);
	for (int i = 0; i < count; i++)
		assert_near(y0[i], x0[i], 1e-12);
	const double h = 1e-5;
	for (int k = 0; k < 2; k++) {
		const double eta[2] = {k == 0 ? h : 0, k == 1 ? h : 0};
		inertia_at(a, eta, x);
		inertia_at(b, eta, y);
		for (int i = 0; i < 10; i++)
			assert_near((y[i] - y0[i]) / h, (x[i] - x0[i]) / h, 1e-3); // h^2 terms are free
	}
	cal_modal_destroy(a);
	cal_modal_destroy(b);
}

static void reduced_body_survives_both_files(void **state) {
	(void)state;
	NEEDS_LIBYAML();
	CalError error = {0};
	const CalFeReduction how = {.modes = 4, .damping_ratio = 0.01, .display_count = 5};
	CalModal *a = reduced(FIXTURE("rod.inp"), &how);
	double fa[6], fb[6];
	const CalFlexReport report = frequencies_of(a, fa, NULL, 6);
	assert_int_equal(report.modes, 10);
	for (int i = 0; i < 2; i++) {
		const char *path = temp_path(i ? "rod.SID_FEM" : "rod.json");
		assert_int_equal(cal_modal_write(a, path, &error), CAL_OK);
		CalModal *b = modal_of(path);
		frequencies_of(b, fb, NULL, 6);
		for (int k = 0; k < 6; k++)
			assert_near(fb[k] / fa[k], 1, 1e-10);
		same_body(a, b, 1e-10);
		cal_modal_destroy(b);
	}
	cal_modal_destroy(a);
}

/* ---- files that are wrong ---------------------------------------------------------------------- */

typedef struct Wrong {
	const char *from, *to;
	CalStatus status;
	const char *place, *what;
} Wrong;

static void expect_error(const char *path, const Wrong *w) {
	CalModal *modal = NULL;
	CalError error = {0};
	const CalStatus status = cal_modal_read(path, NULL, NULL, &modal, &error);
	if (status != w->status || !strstr(error.text, w->place) || !strstr(error.text, w->what))
		fail_msg("\"%s\" to \"%s\": status %d, %s", w->from, w->to, status, error.text);
	assert_null(modal);
}

static void modal_file_errors_have_places(void **state) {
	(void)state;
	NEEDS_LIBYAML();
	static const Wrong list[] = {
		{"calder_modal: 1", "calder: 1", CAL_ERR_INPUT, "bad.yaml:1:1:", "not a modal file"},
		{"calder_modal: 1", "calder_modal: 2", CAL_ERR_INPUT, "bad.yaml:1:", "version 1"},
		{"modes: 2", "modes: 2.5", CAL_ERR_INPUT, "bad.yaml:5:", "whole number"},
		{"modes: 2", "modes: 3", CAL_ERR_INPUT, "bad.yaml:6:", "stiffness must have 3 rows; it has 2"},
		{"mass: 5\n", "mass: 5000\n", CAL_ERR_INPUT, "bad.yaml:4:", "stated as 5000 kg, but the nodes sum up to 5 kg"},
		{"[10, 400]", "[10, 400, 1]", CAL_ERR_INPUT, "bad.yaml:6:", "list of 2 numbers; it has 3"},
		{"[10, 400]", "[10, many]", CAL_ERR_INPUT, "bad.yaml:6:", "finite number"},
		{"[10, 400]", "[20, 400]", CAL_ERR_INPUT, "bad.yaml", "not symmetric"},
		{"[[100, 10], [10, 400]]", "[[100, 200], [200, 400]]", CAL_ERR_INPUT, "bad.yaml:6:12:", "singular"},
		{"[[100, 10], [10, 400]]", "[[100, 250], [250, 400]]", CAL_ERR_INPUT, "bad.yaml:6:12:", "indefinite"},
		{"[[100, 10], [10, 400]]", "[100, 0]", CAL_ERR_INPUT, "bad.yaml:6:12:", "singular: mode 2 has none"},
		{"kind: mass", "kind: heavy", CAL_ERR_INPUT, "bad.yaml:10:", "frame, mass or display"},
		{"mass: 2,", "mass: -2,", CAL_ERR_INPUT, "bad.yaml", "stated as 5"},
		{"phi: [[0, 0.1], [1, 0], [0, 0.5]]", "phi: [[0, 0.1], [1, 0]]", CAL_ERR_INPUT,
	     "bad.yaml:10:", "phi must have 3 rows"},
		{"name: base, ", "", CAL_ERR_INPUT, "bad.yaml:9:", "name and a position"},
		{"name: base", "name: tip", CAL_ERR_INPUT, "bad.yaml:11:5:", "two nodes have the name \"tip\""},
		{"damping:", "dampnig:", CAL_ERR_INPUT, "bad.yaml:7:1:", "unknown key: dampnig"},
		{"[0.8, 0, 0.6, 0]", "[0, 0, 0, 0]", CAL_ERR_INPUT, "bad.yaml:11:", "quaternion is zero"},
		{"nodes:\n", "nodes: []\nmore:\n", CAL_ERR_INPUT, "bad.yaml:9:", "unknown key: more"},
	};
	for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
		write_text("good.yaml", small_file);
		expect_error(changed_copy(temp_path("good.yaml"), "bad.yaml", list[i].from, list[i].to), &list[i]);
	}
}

static void sid_errors_have_places(void **state) {
	(void)state;
	NEEDS_LIBYAML();
	static const Wrong list[] = {
		{"2 2 :", "2 3 :", CAL_ERR_INPUT, "bad.SID_FEM:6:", "nelastq is \"2\"; the first line says 3"},
		{"2 2 :", "3 2 :", CAL_ERR_INPUT, "bad.SID_FEM:", "there are 2 nodes; the first line says 3"},
		{"2 2 :", "nodes :", CAL_ERR_INPUT, "bad.SID_FEM:1:", "numbers of nodes and of modes"},
		{"= 5.0000000000000000D+00", "= 5.0000000000000000D-03", CAL_ERR_INPUT, "bad.SID_FEM",
	     "is the mass in other units"},
		{"= 5.0000000000000000D+00", "= five", CAL_ERR_INPUT, "bad.SID_FEM:5:", "positive number"},
		{"nrow                      = 3", "nrow                      = 4", CAL_ERR_INPUT,
	     "bad.SID_FEM:", "it must be 3 x 1"},
		{"m0(   1,   1)           = 2.0", "m0(   4,   1)           = 2.0", CAL_ERR_INPUT,
	     "bad.SID_FEM:", "outside of this 3 x 1 matrix"},
		{"= 1.0000000000000000D+02", "= 0.0", CAL_ERR_INPUT, "bad.SID_FEM:281:", "singular: mode 1 has none"},
		{"          mdCM\n", "          mdcm\n", CAL_ERR_INPUT, "bad.SID_FEM:", "\"mdcm\" is no part of a SID file"},
		{"     end modal\nend part\n", "", CAL_ERR_INPUT, "bad.SID_FEM:", "\"end part\" is missing"},
		{"          ksigma\n               order                     = 0",
	     "          ksigma\n               order                     = 2", CAL_ERR_UNSUPPORTED,
	     "bad.SID_FEM:", "terms of order 2"},
		{"          end ksigma", "               m0(1,1) = 3.0\n          end ksigma", CAL_ERR_UNSUPPORTED,
	     "bad.SID_FEM", "reference stress, ksigma"},
		{"          psi\n               order                     = 0\n               nrow                      = 3\n"
	     "               ncol                      = 2\n               nq                        = 0\n",
	     "          psi\n order = 1\n nrow = 3\n ncol = 2\n nq = 2\n m1(1,1,1) = 5.0\n", CAL_ERR_UNSUPPORTED,
	     "bad.SID_FEM", "the M1 of a node's psi"},
	};
	CalModal *modal = small_modal();
	CalError error = {0};
	assert_int_equal(cal_modal_write(modal, temp_path("good.SID_FEM"), &error), CAL_OK);
	cal_modal_destroy(modal);
	for (size_t i = 0; i < sizeof list / sizeof *list; i++)
		expect_error(changed_copy(temp_path("good.SID_FEM"), "bad.SID_FEM", list[i].from, list[i].to), &list[i]);
}

/* An entry of a matrix in a SID file, replaced by what it was and `more`. */
static const char *with_more(const char *matrix, const char *entry, double more) {
	char *text = text_of(temp_path("good.SID_FEM")), start[32], number[40];
	snprintf(start, sizeof start, "\n          %s\n", matrix);
	char *at = strchr(strstr(strstr(text, start), entry), '=') + 2;
	const double value = sid_entry(text, matrix, entry) + more;
	snprintf(number, sizeof number, "%23.16e", value);
	memcpy(at, number, strlen(number) - (at[0] == '-' ? 0 : 1));
	const char *path = write_text("stiff.SID_FEM", text);
	free(text);
	return path;
}

/* Matrix k of the geometric stiffness of mode 1. */
static double geometric_of(const char *path, int k) {
	CalModal *modal = modal_of(path);
	const CalModalInfo info = cal_modal_info(modal);
	assert_non_null(info.geometric);
	const double value = info.geometric[4 * k];
	cal_modal_destroy(modal);
	return value;
}

/*
 * K(a, W) = a.K_t + al.K_r + (w_x w_x, ...).K_w with W = [al]x + w w' - w.w 1: what a term of the file is in matrices
 * of W.
 */
static void terms_of_a_sid_are_geometric_stiffness(void **state) {
	(void)state;
	NEEDS_LIBYAML();
	enum { XX = 3, YY = 7, ZZ = 11 };
	CalModal *modal = small_modal();
	CalError error = {0};
	assert_int_equal(cal_modal_write(modal, temp_path("good.SID_FEM"), &error), CAL_OK);
	cal_modal_destroy(modal);
	const char *path = with_more("Oe", "m1(   1,   1,   1)", 4);
	assert_near(geometric_of(path, XX), 2, 1e-12); // w_x w_x: W_yy = W_zz = -1
	assert_near(geometric_of(path, YY), -2, 1e-12);
	assert_near(geometric_of(path, ZZ), -2, 1e-12);
	const CalModalOptions ignore = {.ignore_geometric_stiffness = 1};
	assert_int_equal(cal_modal_read(path, &ignore, NULL, &modal, &error), CAL_OK);
	assert_non_null(strstr(cal_modal_info(modal).notes, "left out: geometric stiffness"));
	assert_null(cal_modal_info(modal).geometric);
	cal_modal_destroy(modal);
	path = changed_copy(temp_path("good.SID_FEM"), "stiff.SID_FEM",
	                    "          Ct\n               order                     = 0\n"
	                    "               nrow                      = 2\n               ncol                      = 3\n"
	                    "               nq                        = 0\n",
	                    "          Ct\n order = 1\n nrow = 2\n ncol = 3\n nq = 2\n m1(1,1,2) = 5.0\n");
	assert_near(geometric_of(path, 1), 5, 1e-15);
	path = changed_copy(temp_path("good.SID_FEM"), "stiff.SID_FEM", "          end Cr",
	                    "               m1(1,1,2) = 3.0\n          end Cr");
	assert_near(geometric_of(path, 3 + 2), 1.5, 1e-12); // about y: W_xz = 1, W_zx = -1
	assert_near(geometric_of(path, 3 + 6), -1.5, 1e-12);
	path = changed_copy(temp_path("good.SID_FEM"), "stiff.SID_FEM",
	                    "          ksigma\n               order                     = 0\n"
	                    "               nrow                      = 2\n               ncol                      = 1\n"
	                    "               nq                        = 0\n",
	                    "          ksigma\n order = 1\n nrow = 2\n ncol = 1\n nq = 2\n m1(2,2,1) = 6.0\n");
	modal = modal_of(path);
	assert_near(cal_modal_info(modal).stiffness[3], 406, 1e-12);
	cal_modal_destroy(modal);
}

static void same_geometric(const CalModal *a, const CalModal *b, double tolerance) {
	const CalModalInfo x = cal_modal_info(a), y = cal_modal_info(b);
	const int square = x.modes * x.modes;
	double size = 0;
	assert_non_null(x.geometric);
	assert_non_null(y.geometric);
	for (int i = 0; i < CAL_FLEX_GEOMETRIC * square; i++)
		size = fmax(size, fabs(x.geometric[i]));
	for (int i = 0; i < CAL_FLEX_GEOMETRIC * square; i++)
		assert_near(y.geometric[i], x.geometric[i], tolerance * size);
	CalModalNode p, q;
	assert_int_equal(cal_modal_node(a, 5, &p), CAL_OK);
	assert_int_equal(cal_modal_node(b, 5, &q), CAL_OK);
	assert_non_null(p.phi2);
	assert_non_null(q.phi2);
	for (int i = 0; i < 3 * square; i++)
		assert_near(q.phi2[i], p.phi2[i], tolerance);
}

static void geometric_stiffness_goes_through_both_files(void **state) {
	(void)state;
	NEEDS_LIBYAML();
	CalDesc *desc = NULL;
	CalError error = {0};
	CalPanelDef panel = cal_panel_def();
	CalBodyId id;
	CalModal *a = NULL;
	panel.name = "panel", panel.length = 3, panel.width = 1, panel.cover_mass = 2, panel.choice.modes = 5;
	panel.second_order = 1, panel.in_plane = 1;
	panel.rib_x = panel.rib_y = (CalSection){.EA = 1e6, .GJ = 200, .EIy = 300, .EIz = 300, .rhoA = 0.4, .rhoIy = 0.1};
	assert_int_equal(cal_desc_create(NULL, &desc), CAL_OK);
	assert_int_equal(cal_panel_add(desc, &panel, &id, &error), CAL_OK);
	assert_int_equal(cal_flex_modal(desc, id, 0, NULL, &a, &error), CAL_OK);
	cal_desc_destroy(desc);
	static const char *const names[] = {"panel.json", "panel.SID_FEM"};
	for (int i = 0; i < 2; i++) {
		assert_int_equal(cal_modal_write(a, temp_path(names[i]), &error), CAL_OK);
		CalModal *b = modal_of(temp_path(names[i]));
		same_body(a, b, 1e-11);
		same_geometric(a, b, i ? 1e-11 : 0);
		assert_string_equal(cal_modal_info(b).notes, "");
		cal_modal_destroy(b);
	}
	cal_modal_destroy(a);
}

static void files_that_cannot_be_written_are_reported(void **state) {
	(void)state;
	NEEDS_LIBYAML();
	CalModal *modal = small_modal();
	CalError error = {0};
	assert_int_equal(cal_modal_write(modal, "no/such/folder/x.sid", &error), CAL_ERR_IO);
	assert_int_equal(cal_modal_write(modal, "no/such/folder/x.json", &error), CAL_ERR_IO);
	assert_int_equal(cal_modal_write(NULL, "x.json", &error), CAL_ERR_ARGUMENT);
	cal_modal_destroy(modal);
	assert_int_equal(cal_modal_read("no/such/file.sid", NULL, NULL, &modal, &error), CAL_ERR_IO);
	assert_null(modal);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(modal_file_round_trip_is_exact),
		cmocka_unit_test(sid_round_trip_keeps_every_inertia_term),
		cmocka_unit_test(a_panel_survives_its_sid),
		cmocka_unit_test(sid_integrals_have_their_textbook_values),
		cmocka_unit_test(sid_of_first_order_is_met_to_first_order),
		cmocka_unit_test(reduced_body_survives_both_files),
		cmocka_unit_test(modal_file_errors_have_places),
		cmocka_unit_test(sid_errors_have_places),
		cmocka_unit_test(terms_of_a_sid_are_geometric_stiffness),
		cmocka_unit_test(geometric_stiffness_goes_through_both_files),
		cmocka_unit_test(files_that_cannot_be_written_are_reported),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
