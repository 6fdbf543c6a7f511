// SPDX-License-Identifier: Apache-2.0
/*
 * test_model_file_errors.c — every kind of mistake in a file is refused with its place, the object and a remedy.
 *
 * Each row replaces one part of a good file; `said` must all occur in the message, which begins with the place.
 */
#include "support/model_file_support.h"

typedef struct Row {
	const char *text;  // the whole file, or what comes after "calder: 1" in line 1
	const char *place; // "line:col"
	const char *said[3];
} Row;

static void refuse_all(const char *prefix, const Row *rows, size_t count) {
	for (size_t i = 0; i < count; i++) {
		char text[2000], place[64];
		CalSetup *file = (CalSetup *)&text; // must be cleared
		CalError error;
		memset(&error, 0x5a, sizeof error);
		snprintf(text, sizeof text, "%s%s", prefix, rows[i].text);
		const CalStatus status = cal_model_file_parse(text, strlen(text), "t.yaml", NULL, &file, &error);
		if (status == CAL_OK)
			fail_msg("accepted: %s", rows[i].text);
		assert_null(file);
		assert_int_equal(error.status, status);
		assert_true(status == CAL_ERR_INPUT || status == CAL_ERR_MODEL);
		assert_int_equal(error.count, 1);
		snprintf(place, sizeof place, "t.yaml:%s: error: ", rows[i].place);
		if (strncmp(error.text, place, strlen(place)) != 0)
			fail_msg("row %zu: \"%s\" does not begin with \"%s\"", i, error.text, place);
		for (int k = 0; k < 3 && rows[i].said[k]; k++) {
			if (!strstr(error.text, rows[i].said[k]))
				fail_msg("row %zu: \"%s\" does not say \"%s\"", i, error.text, rows[i].said[k]);
		}
	}
}

#define REFUSE_ALL(prefix, rows) refuse_all(prefix, rows, sizeof(rows) / sizeof((rows)[0]))

static void mistakes_in_the_file(void **state) {
	(void)state;
	static const Row rows[] = {
		{"[1, 2]", "1:1", {"not a Calder file", "calder: 1"}},
		{"just text", "1:1", {"not a Calder file"}},
		{"bodies: {}", "1:1", {"\"calder\" is missing", "docs/format.md"}},
		{"calder: 2\nbodies: {}", "1:9", {"format version 2", "reads version 1"}},
		{"calder: 1", "1:1", {"\"bodies\" is missing"}},
		{"calder: 1\nbodies: 3", "2:9", {"map of bodies by name", "\"name\""}},
		{"calder: 1\nbodys: {}", "2:1", {"unknown key \"bodys\"", "did you mean \"bodies\"?"}},
		{"calder: 1\nlinks: {}", "2:1", {"did you mean \"bodies\"?"}},
		{"calder: 1\nqqqqqq: {}", "2:1", {"unknown key \"qqqqqq\"", "the keys of this map are calder, title"}},
		{"calder: 1\ngravity: -9.81\nbodies: {}", "2:10", {"list of three numbers", "9.81 m/s^2"}},
		{"calder: 1\ngravity: [0, 0, -9.81 m]\nbodies: {}", "2:17", {"wrong unit", "an acceleration"}},
		{"calder: 1\ntitle:\nbodies: {}", "2:7", {"\"title\" has no value"}},
		{"calder: 1\ntitle: [a]\nbodies: {}", "2:8", {"expected a text"}},
		{"calder: 1\ngroups: {main: }\nbodies: {}", "2:10", {"group \"main\"", "always there"}},
		{"calder: 1\ngroups: {a: {grav: [0,0,0]}}\nbodies: {}", "2:14", {"did you mean \"gravity\"?"}},
	};
	REFUSE_ALL("", rows);
}

static void mistakes_in_bodies(void **state) {
	(void)state;
	static const Row rows[] = {
		{"  a: {mas: 1}", "3:7", {"body \"a\"", "unknown key \"mas\"", "did you mean \"mass\"?"}},
		{"  a: 5", "3:6", {"body \"a\"", "expected a map"}},
		{"  a: {mass: [1]}", "3:13", {"body \"a\"", "expected a mass", "1.5 kg"}},
		{"  a: {mass: 5 m}", "3:13", {"body \"a\"", "wrong unit", "expected a mass"}},
		{"  a: {mass: heavy}", "3:13", {"body \"a\"", "not a number: \"heavy\""}},
		{"  a: {mass: .nan}", "3:13", {"body \"a\"", "not a number"}},
		{"  a: {mass: 1e999}", "3:13", {"body \"a\"", "too large"}},
		{"  a: {mass: 1, com: [1, 2]}", "3:21", {"three numbers"}},
		{"  a: {mass: 1, inertia: 3}", "3:25", {"[xx, yy, zz]"}},
		{"  a: {mass: 1, inertia: [1, 2, 3, 4, 5, 6]}", "3:25", {"[xx, yy, zz]"}},
		{"  a: {mass: 1, inertia: {xx: 1, yy: 1}}", "3:25", {"\"zz\" is missing"}},
		{"  a: {mass: 1, inertia: [[1, 2, 0], [3, 1, 0], [0, 0, 1]]}", "3:25", {"not symmetric", "row 2 column 1"}},
		{"  a: {mass: 1, inertia: [1, 1, 1], box: [1, 1, 1]}", "3:25", {"only one of"}},
		{"  a: {box: [1, 1, 1]}", "3:12", {"\"mass\" or \"density\""}},
		{"  a: {mass: 1, density: 1, box: [1, 1, 1]}", "3:33", {"\"mass\" or \"density\""}},
		{"  a: {density: 1}", "3:16", {"density needs a shape"}},
		{"  a: {density: 1, rod: {length: 1}}", "3:24", {"no volume"}},
		{"  a: {mass: 1, box: [1, -1, 1]}", "3:21", {"not be negative"}},
		{"  a: {mass: 1, sphere: 0}", "3:24", {"greater than zero"}},
		{"  a: {mass: 1, sphere: 2 kg}", "3:24", {"expected a length"}},
		{"  a: {mass: 1, cylinder: {length: 1}}", "3:26", {"\"radius\" is missing"}},
		{"  a: {mass: 1, cylinder: {radius: 1}}", "3:26", {"\"length\"", "\"from\" and \"to\""}},
		{"  a: {mass: 1, cylinder: {radius: 1, inner_radius: 2, length: 1}}", "3:26", {"inner radius"}},
		{"  a: {mass: 1, rod: {from: [0,0,0], length: 1}}", "3:21", {"\"from\" and \"to\""}},
		{"  a: {mass: 1, rod: {from: [0,0,0], to: [0,0,0]}}", "3:21", {"same point"}},
		{"  a: {mass: 1, com: [1,0,0], rod: {from: [0,0,0], to: [0,0,1]}}", "3:35", {"remove \"com\""}},
		{"  a: {mass: 1, group: mian}", "3:23", {"unknown group \"mian\"", "did you mean \"main\"?"}},
		{"  a: {mass: 1, idealized: 7}", "3:27", {"true or false"}},
		{"  a: {mass: 1, nodes: {n: {att: [0,0,0]}}}", "3:28", {"node \"a/n\"", "did you mean \"at\"?"}},
		{"  a: {mass: 1, nodes: {n: 3}}", "3:27", {"node \"a/n\"", "expected a map"}},
		{"  a: {mass: 1, nodes: {head: [0,0,0]}}", "3:24", {"node \"head\"", "reserved"}},
		{"  a: {mass: 1, nodes: {n/m: [0,0,0]}}", "3:24", {"\"n/m\"", "rename it"}},
		{"  a: {mass: 1, nodes: {n: {orientation: {w: 3}}}}", "3:42", {"unknown key \"w\""}},
		{"  a: {mass: 1, nodes: {n: {orientation: {x: 30 mm}}}}", "3:45", {"expected an angle", "30 deg"}},
		{"  a: {mass: 1, nodes: {n: {orientation: {x: 1, y: 2}}}}", "3:41", {"one rotation is", "as a list"}},
		{"  a: {mass: 1, nodes: {n: {orientation: {axis: z}}}}", "3:41", {"one rotation is"}},
		{"  a: {mass: 1, nodes: {n: {orientation: {axis: [0,0,0], angle: 1}}}}", "3:48", {"axis cannot be zero"}},
		{"  a: {mass: 1, nodes: {n: {orientation: [2, 0, 0, 0]}}}", "3:41", {"norm 2", "must be 1"}},
		{"  a: {mass: 1, nodes: {n: {orientation: [1, 0, 0]}}}", "3:41", {"quaternion [w, x, y, z]"}},
		{"  - {mass: 1}", "3:5", {"needs the key \"name\""}},
		{"  - {name: a}\n  - {name: a}", "4:5", {"body \"a\"", "already in use", "t.yaml:3:5"}},
		{"  a: {name: b}", "3:13", {"body \"a\"", "besides"}},
		{"  ground: {mass: 1}", "3:3", {"body \"ground\"", "reserved"}},
		{"  '': {mass: 1}", "3:3", {"a name is empty"}},
		{"  a: {mass: 1}\n  a: {mass: 2}", "4:3", {"\"a\" is given twice", "line 3"}},
	};
	REFUSE_ALL("calder: 1\nbodies:\n", rows);
}

static const char *const bodies = "calder: 1\n"
								  "ground: {nodes: {hook: [0, 0, 1]}}\n"
								  "bodies: {upper: {mass: 1, nodes: {tip: [0, 0, 1]}}, lower: {mass: 1}}\n";

static void mistakes_in_joints(void **state) {
	(void)state;
	static const Row rows[] = {
		{"joints: {j: {to: upper}}", "4:13", {"joint \"j\"", "\"type\" is missing"}},
		{"joints: {j: {type: revolute}}", "4:13", {"joint \"j\"", "\"to\" is missing"}},
		{"joints: {j: {type: revolut, to: upper}}", "4:20", {"unknown type of joint \"revolut\"", "\"revolute\""}},
		{"joints: {j: {type: user, to: upper}}", "4:20", {"C functions"}},
		{"joints: {j: {type: weld, to: uper}}", "4:30", {"unknown body \"uper\"", "did you mean \"upper\"?"}},
		{"joints: {j: {type: weld, to: upper/tpi}}", "4:30", {"no node \"tpi\"", "did you mean \"tip\"?"}},
		{"joints: {j: {type: weld, to: lower, from: ground/hok}}",
	     "4:43",
	     {"no node \"hok\"", "did you mean \"hook\"?"}},
		{"joints: {j: {type: weld, to: ground}}", "4:10", {"joint \"j\"", "ground"}},
		{"joints: {j: {type: weld, to: upper, parent: lower}}", "4:37", {"did you mean \"from\"?"}},
		{"joints: {j: {type: weld, to: upper, axis: x}}", "4:43", {"a weld joint has no \"axis\""}},
		{"joints: {j: {type: revolute, to: upper, pitch: 1}}", "4:48", {"a revolute joint has no \"pitch\""}},
		{"joints: {j: {type: screw, to: upper}}", "4:13", {"a screw joint needs the key \"pitch\""}},
		{"joints: {j: {type: screw, to: upper, pitch: 5 mm}}", "4:45", {"expected a pitch", "5 mm/rev"}},
		{"joints: {j: {type: revolute, to: upper, axis: w}}", "4:47", {"\"w\" is no axis", "-x"}},
		{"joints: {j: {type: revolute, to: upper, axis: [0,0,0]}}", "4:47", {"cannot be zero"}},
		{"joints: {j: {type: sequence, to: upper}}", "4:13", {"a sequence joint needs the key \"elements\""}},
		{"joints: {j: {type: sequence, to: upper, elements: 3}}", "4:51", {"list of elements"}},
		{"joints: {j: {type: sequence, to: upper, elements: [{type: free}]}}", "4:59", {"revolute, prismatic, screw"}},
		{"joints: {j: {type: sequence, to: upper, elements: [{type: spherical}, {type: spherical}, {type: revolute}]}}",
	     "4:71",
	     {"more than 6 degrees of freedom"}},
		{"joints: {j: {type: sequence, to: upper, elements: [{type: screw}]}}", "4:52", {"a screw needs it"}},
		{"joints: {j: {type: revolute, to: upper, dof: [{}, {}]}}", "4:46", {"has 1 degree of freedom", "describes 2"}},
		{"joints: {j: {type: universal, to: upper, dof: {damping: 1}}}",
	     "4:47",
	     {"has 2 degrees of freedom", "describes 1"}},
		{"joints: {j: {type: revolute, to: upper, dof: {stiffness: 3 N/m}}}",
	     "4:58",
	     {"an angular stiffness", "N*m/rad"}},
		{"joints: {j: {type: prismatic, to: upper, dof: {stiffness: 3 N*m/rad}}}", "4:59", {"a stiffness", "N/m"}},
		{"joints: {j: {type: revolute, to: upper, dof: {damping: -1}}}", "4:56", {"\"damping\" must not be negative"}},
		{"joints: {j: {type: revolute, to: upper, dof: {friction: 1}}}", "4:47", {"did you mean \"damping\"?"}},
		{"joints: {j: {type: weld, to: upper, inboard: 3}}", "4:46", {"expected a map", "placement"}},
		{"joints: [{name: j, type: weld, to: upper}, {name: j, type: weld, to: lower}]",
	     "4:44",
	     {"joint \"j\"", "already in use", "t.yaml:4:10"}},
	};
	REFUSE_ALL(bodies, rows);
}

static void mistakes_in_state_loads_and_run(void **state) {
	(void)state;
	static const Row rows[] = {
		{"state: {hing: {q: 1}}", "5:9", {"unknown joint \"hing\"", "did you mean \"hinge\"?"}},
		{"state: [1]", "5:8", {"map by names of joints"}},
		{"state: {hinge: {q: 5 mm}}", "5:20", {"state of joint \"hinge\"", "expected an angle", "30 deg"}},
		{"state: {hinge: {u: 5 deg}}", "5:20", {"an angular speed", "10 deg/s"}},
		{"state: {hinge: {q: [1, 2]}}", "5:20", {"\"q\" of this joint takes 1 number"}},
		{"state: {hinge: {angle: 1}}", "5:17", {"unknown key \"angle\"", "\"q\""}},
		{"state: {hinge: {at: [0,0,0]}}", "5:16", {"free and spherical joints"}},
		{"state: {float: {q: [0,0,0, 2,0,0,0]}}", "5:20", {"norm 2"}},
		{"state: {float: {q: [0,0,0, 1,0,0,0], at: [0,0,0]}}", "5:16", {"not both"}},
		{"state: {float: {q: [0,0,0, 1 m,0,0,0]}}", "5:28", {"without unit"}},
		{"loads: {a: 1}", "5:8", {"list of loads"}},
		{"loads: [{effort: 1}]", "5:9", {"either a \"joint\" or a \"node\""}},
		{"loads: [{joint: hinge, node: upper, effort: 1}]", "5:9", {"either a \"joint\" or a \"node\""}},
		{"loads: [{joint: hinge}]", "5:9", {"\"effort\", \"acceleration\" or \"lock\""}},
		{"loads: [{joint: hinge, torque: 1}]", "5:24", {"did you mean \"effort\"?"}},
		{"loads: [{joint: hinge, effort: 3 N}]", "5:32", {"expected a torque"}},
		{"loads: [{joint: float, effort: 3}]", "5:32", {"joint \"float\"", "each of its 6 degrees of freedom"}},
		{"loads: [{joint: hinge, force: [1,0,0]}]", "5:9", {"belong to a load on a node", "\"effort\""}},
		{"loads: [{joint: hinge, lock: true, acceleration: 1}]", "5:30", {"give one of"}},
		{"loads: [{joint: hinge, lock: maybe}]", "5:30", {"true or false"}},
		{"loads: [{joint: hing, effort: 1}]", "5:17", {"did you mean \"hinge\"?"}},
		{"loads: [{node: uper, force: [1,0,0]}]", "5:16", {"did you mean \"upper\"?"}},
		{"loads: [{node: ground/hook, force: [1,0,0]}]", "5:16", {"moves nothing"}},
		{"loads: [{node: upper}]", "5:9", {"\"force\", \"moment\" or both"}},
		{"loads: [{node: upper, effort: 1}]", "5:9", {"belong to a load on a joint"}},
		{"loads: [{node: upper, force: [1,0,0], frame: body}]", "5:46", {"write world or node"}},
		{"loads: [{node: upper, force: [1,0,0], start: 2, end: 1}]", "5:9", {"ends (1 s) before it starts (2 s)"}},
		{"loads: [{node: upper, force: [1 kg,0,0]}]", "5:31", {"expected a force"}},
		{"run: {method: rk4}", "5:6", {"\"duration\" is missing"}},
		{"run: {duration: -1}", "5:17", {"must not be negative"}},
		{"run: {duration: 1, method: rk5}", "5:28", {"unknown method \"rk5\"", "did you mean \"rk4\"?"}},
		{"run: {duration: 1, method: gauss}", "5:28", {"euler-cromer, rk4, implicit, implicit-midpoint"}},
		{"run: {duration: 1, method: rk4}", "5:28", {"fixed step", "\"step\""}},
		{"run: {duration: 1, dt: 1}", "5:20", {"did you mean \"step\"?"}},
		{"run: {duration: 1 m}", "5:17", {"expected a time"}},
		{"run: {duration: 1, rtol: 0}", "5:26", {"greater than zero"}},
		{"run: {duration: 1, projection: 0}", "5:32", {"number of steps from one projection", "or none"}},
		{"run: {duration: 1, projection: 2.5}", "5:32", {"a whole number from 1 to 1e9"}},
		{"run: {duration: 1, projection: never}", "5:32", {"\"never\""}},
		{"run: {duration: 1, output: {signals: q}}", "5:38", {"list of signals"}},
		{"run: {duration: 1, output: {signals: [\"u:hing\"]}}", "5:39", {"joint", "\"hinge\""}},
		{"run: {duration: 1, output: {signals: [enrgy]}}", "5:39", {"unknown signal \"enrgy\"", "\"energy\""}},
		{"run: {duration: 1, output: {signals: [color]}}", "5:39", {"node:BODY/NODE"}},
		{"run: {duration: 1, output: {signals: ['node:upper/tap']}}", "5:39", {"no node \"tap\"", "\"tip\""}},
		{"run: {duration: 1, output: {signals: ['reaction:hinges']}}", "5:39", {"unknown joint", "\"hinge\""}},
		{"run: {duration: 1, output: {signals: ['deflection:upper/tap']}}", "5:39", {"no node \"tap\"", "\"tip\""}},
		{"run: {duration: 1, output: {signals: ['node:upper/tap.x']}}", "5:39", {"no node \"tap\"", "\"tip\""}},
		{"run: {duration: 1, output: {signals: ['u:float.6']}}",
	     "5:39",
	     {"joint \"float\" has no speed \"6\"; it has vx, vy, vz, wx, wy, wz"}},
		{"run: {duration: 1, output: {signals: ['q:upper.eta0']}}", "5:39", {"unknown joint \"upper.eta0\""}},
		{"run: {duration: 1, output: {signals: [node]}}", "5:39", {"unknown signal \"node\"", "node:BODY/NODE"}},
	};
	char prefix[600];
	snprintf(prefix, sizeof prefix, "%sjoints: {hinge: {type: revolute, to: upper}, float: {type: free, to: lower}}\n",
	         bodies);
	REFUSE_ALL(prefix, rows);
}

/* What only the whole model shows is found at compile, and carries the place in the file. */
static void mistakes_in_the_model_carry_their_place(void **state) {
	(void)state;
	static const struct {
		const char *text, *said[3];
	} rows[] = {
		{"calder: 1\nbodies:\n  a: {mass: -1}\njoints: {j: {type: weld, to: a}}\n",
	     {"t.yaml:3:3", "body \"a\"", "negative"}},
		{"calder: 1\nbodies:\n  a: {mass: 1, inertia: [1, 1, 3]}\njoints: {j: {type: weld, to: a}}\n",
	     {"t.yaml:3:3", "body \"a\"", "triangle inequality"}},
		{"calder: 1\nbodies:\n  a: {mass: 1}\n", {"t.yaml:3:3", "body \"a\"", ""}},
		{"calder: 1\nbodies: {a: {mass: 1}}\njoints:\n  j: {type: revolute, to: a}\n",
	     {"t.yaml:4:3", "joint \"j\"", "has inertia along"}},
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		CalSetup *file = file_of(rows[i].text);
		CalModel *model;
		CalError error;
		assert_int_equal(cal_model_compile(cal_setup_desc(file), &(CalCompileOptions){0}, &model, &error),
		                 CAL_ERR_MODEL);
		for (int k = 0; k < 3; k++) {
			if (!strstr(error.text, rows[i].said[k]))
				fail_msg("\"%s\" does not say \"%s\"", error.text, rows[i].said[k]);
		}
		cal_setup_destroy(file);
	}
}

int main(void) {
	NEEDS_YAML();
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mistakes_in_the_file),
		cmocka_unit_test(mistakes_in_bodies),
		cmocka_unit_test(mistakes_in_joints),
		cmocka_unit_test(mistakes_in_state_loads_and_run),
		cmocka_unit_test(mistakes_in_the_model_carry_their_place),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
