// SPDX-License-Identifier: Apache-2.0
/*
 * importer.c — a small importer of functional mock-up units, which knows nothing of Calder: it reads modelDescription.xml, loads the
 * shared object that it names, and steps it.
 *
 *   importer FOLDER --end T --step H [--pd JOINT KP KD REFERENCE] [--set NAME VALUE]... [--at T NAME VALUE] [--check]
 *
 * FOLDER is an unpacked unit. Prints a row at each communication point: the time and all outputs, by the names of the header. --set sets a variable before the
 * start, --at at a communication point; --pd holds
 * force:JOINT at KP (REFERENCE - q) - KD u from one point to the next. --check goes back to a state in the middle of the run, in this instance
 * and in a second one from its bytes, and demands the same bits; and compares directional derivatives with differences.
 */
#include <dlfcn.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fmu/fmi2_interface.h"
#include "fmu/fmi3_interface.h"

enum { MOST = 4096, NAME = 200 };

typedef struct Description {
	int version;
	char identifier[NAME], token[NAME];
	char names[MOST][NAME];
	unsigned reference[MOST];
	int is_input[MOST], is_output[MOST];
	int count;
	int has_derivatives;
} Description;

static void stop(const char *format, ...) {
	va_list args;
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

/* ---- the description ----------------------------------------------------------------------------------------- */

static char *read_text(const char *path) {
	FILE *file = fopen(path, "rb");
	char *text = calloc(1, 1 << 22);
	if (!file || !text || fread(text, 1, (1 << 22) - 1, file) == 0)
		stop("%s cannot be read", path);
	fclose(file);
	return text;
}

/* An attribute within the tag at `at`, with the five entities of XML; 0: it has none. */
static int attribute(const char *at, const char *name, char value[NAME]) {
	static const char *const entities[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&apos;"};
	char key[60];
	snprintf(key, sizeof key, " %s=\"", name);
	const char *end = strchr(at, '>'), *from = strstr(at, key);
	if (!from || !end || from > end)
		return 0;
	from += strlen(key);
	size_t length = 0;
	while (*from != '"' && length + 1 < NAME) {
		value[length] = *from;
		size_t taken = 1;
		for (int i = 0; *from == '&' && i < 5; i++)
			if (strncmp(from, entities[i], strlen(entities[i])) == 0)
				value[length] = "&<>\"'"[i], taken = strlen(entities[i]);
		from += taken, length++;
	}
	value[length] = 0;
	return 1;
}

static Description *read_description(const char *folder) {
	char path[2000], text[NAME];
	snprintf(path, sizeof path, "%s/modelDescription.xml", folder);
	char *xml = read_text(path);
	Description *d = calloc(1, sizeof *d);
	const char *root = strstr(xml, "<fmiModelDescription"), *interface = strstr(xml, "<CoSimulation");
	if (!d || !root || !interface || !attribute(root, "fmiVersion", text))
		stop("%s is no description", path);
	d->version = text[0] - '0';
	const char *derivatives = d->version == 3 ? "providesDirectionalDerivatives" : "providesDirectionalDerivative";
	d->has_derivatives = attribute(interface, derivatives, text) && strcmp(text, "true") == 0;
	if (!attribute(root, d->version == 3 ? "instantiationToken" : "guid", d->token) ||
	    !attribute(interface, "modelIdentifier", d->identifier))
		stop("%s lacks a token or an identifier", path);
	const char *tag = d->version == 3 ? "<Float64" : "<ScalarVariable";
	for (const char *at = xml; (at = strstr(at, tag)) && d->count < MOST; at++, d->count++) {
		if (!attribute(at, "name", d->names[d->count]) || !attribute(at, "valueReference", text))
			stop("a variable without name or number");
		d->reference[d->count] = (unsigned)strtoul(text, NULL, 10);
		attribute(at, "causality", text);
		d->is_input[d->count] = strcmp(text, "input") == 0;
		d->is_output[d->count] = strcmp(text, "output") == 0;
	}
	free(xml);
	return d;
}

static int find(const Description *d, const char *name) {
	for (int i = 0; i < d->count; i++)
		if (strcmp(d->names[i], name) == 0)
			return i;
	stop("there is no variable %s", name);
	return -1;
}

/* ---- the unit --------------------------------------------------------------------------------------------------- */

static void *library;
static int version;

static void *symbol(const char *name) {
	char full[80];
	snprintf(full, sizeof full, "fmi%d%s", version, name);
	void *found = dlsym(library, full);
	if (!found)
		stop("the unit has no function %s", full);
	return found;
}

/* A function of the unit in a variable of its type. */
#define FUNCTION(number, name)                       \
	__typeof__(&fmi##number##name) name##number;     \
	do {                                             \
		void *found = symbol(#name);                 \
		memcpy(&name##number, &found, sizeof found); \
	} while (0)

static void say_2(fmi2ComponentEnvironment environment, fmi2String name, fmi2Status status, fmi2String category,
                  fmi2String message, ...) {
	va_list args;
	(void)environment;
	va_start(args, message);
	fprintf(stderr, "%s: %s %d: ", name, category, (int)status);
	vfprintf(stderr, message, args);
	fputc('\n', stderr);
	va_end(args);
}

static void say_3(fmi3InstanceEnvironment environment, fmi3Status status, fmi3String category, fmi3String message) {
	(void)environment;
	fprintf(stderr, "unit: %s %d: %s\n", category, (int)status, message);
}

static void *instantiate(const Description *d, const char *folder) {
	static fmi2CallbackFunctions callbacks = {.logger = say_2};
	char path[2100];
	void *unit;
	if (version == 2) {
		FUNCTION(2, Instantiate);
		snprintf(path, sizeof path, "file://%s/resources", folder);
		unit = Instantiate2("unit", fmi2CoSimulation, d->token, path, &callbacks, 0, 1);
	} else {
		FUNCTION(3, InstantiateCoSimulation);
		snprintf(path, sizeof path, "%s/resources/", folder);
		unit = InstantiateCoSimulation3("unit", d->token, path, 0, 1, 0, 0, NULL, 0, NULL, say_3, NULL);
	}
	if (!unit)
		stop("the unit could not be instantiated");
	return unit;
}

static void check(int status, const char *what) {
	if (status != 0)
		stop("%s: status %d", what, status);
}

static void initialize(void *unit) {
	if (version == 2) {
		FUNCTION(2, SetupExperiment);
		FUNCTION(2, EnterInitializationMode);
		FUNCTION(2, ExitInitializationMode);
		check(SetupExperiment2(unit, 0, 0, 0, 0, 0), "setup");
		check(EnterInitializationMode2(unit), "initialization");
		check(ExitInitializationMode2(unit), "end of initialization");
	} else {
		FUNCTION(3, EnterInitializationMode);
		FUNCTION(3, ExitInitializationMode);
		check(EnterInitializationMode3(unit, 0, 0, 0, 0, 0), "initialization");
		check(ExitInitializationMode3(unit), "end of initialization");
	}
}

static double get(void *unit, unsigned reference) {
	double value = NAN;
	if (version == 2) {
		FUNCTION(2, GetReal);
		check(GetReal2(unit, &reference, 1, &value), "getting a variable");
	} else {
		FUNCTION(3, GetFloat64);
		check(GetFloat643(unit, &reference, 1, &value, 1), "getting a variable");
	}
	return value;
}

static void set(void *unit, unsigned reference, double value) {
	if (version == 2) {
		FUNCTION(2, SetReal);
		check(SetReal2(unit, &reference, 1, &value), "setting a variable");
	} else {
		FUNCTION(3, SetFloat64);
		check(SetFloat643(unit, &reference, 1, &value, 1), "setting a variable");
	}
}

/* Returns 0 where the unit wants the simulation to end; *last: how far it came. */
static int step(void *unit, double t, double h, double *last) {
	if (version == 2) {
		FUNCTION(2, DoStep);
		FUNCTION(2, GetBooleanStatus);
		FUNCTION(2, GetRealStatus);
		fmi2Boolean ended = 0;
		const fmi2Status status = DoStep2(unit, t, h, 1);
		*last = t + h;
		if (status == fmi2Discard) {
			check(GetBooleanStatus2(unit, fmi2Terminated, &ended), "status");
			check(GetRealStatus2(unit, fmi2LastSuccessfulTime, last), "status");
		}
		check(status == fmi2Discard && ended ? 0 : (int)status, "step");
		return !ended;
	}
	FUNCTION(3, DoStep);
	fmi3Boolean event, ended = 0, early;
	check(DoStep3(unit, t, h, 1, &event, &ended, &early, last), "step");
	return !ended;
}

static void *take_state(void *unit) {
	void *state = NULL;
	if (version == 2) {
		FUNCTION(2, GetFMUstate);
		check(GetFMUstate2(unit, &state), "taking a state");
	} else {
		FUNCTION(3, GetFMUState);
		check(GetFMUState3(unit, &state), "taking a state");
	}
	return state;
}

static void set_state(void *unit, void *state) {
	if (version == 2) {
		FUNCTION(2, SetFMUstate);
		check(SetFMUstate2(unit, state), "setting a state");
	} else {
		FUNCTION(3, SetFMUState);
		check(SetFMUState3(unit, state), "setting a state");
	}
}

static void free_state(void *unit, void **state) {
	if (version == 2) {
		FUNCTION(2, FreeFMUstate);
		check(FreeFMUstate2(unit, state), "freeing a state");
	} else {
		FUNCTION(3, FreeFMUState);
		check(FreeFMUState3(unit, state), "freeing a state");
	}
}

/* A state of `to` by the bytes of a state of `from`. */
static void *carry_state(void *from, void *state, void *to) {
	size_t size = 0;
	void *other = NULL;
	if (version == 2) {
		FUNCTION(2, SerializedFMUstateSize);
		FUNCTION(2, SerializeFMUstate);
		FUNCTION(2, DeSerializeFMUstate);
		check(SerializedFMUstateSize2(from, state, &size), "size of a state");
		char *bytes = malloc(size);
		check(SerializeFMUstate2(from, state, bytes, size), "serializing");
		check(DeSerializeFMUstate2(to, bytes, size, &other), "deserializing");
		free(bytes);
	} else {
		FUNCTION(3, SerializedFMUStateSize);
		FUNCTION(3, SerializeFMUState);
		FUNCTION(3, DeserializeFMUState);
		check(SerializedFMUStateSize3(from, state, &size), "size of a state");
		unsigned char *bytes = malloc(size);
		check(SerializeFMUState3(from, state, bytes, size), "serializing");
		check(DeserializeFMUState3(to, bytes, size, &other), "deserializing");
		free(bytes);
	}
	return other;
}

static double derivative(void *unit, unsigned output, unsigned input) {
	const double seed = 2;
	double sensitivity = NAN;
	if (version == 2) {
		FUNCTION(2, GetDirectionalDerivative);
		check(GetDirectionalDerivative2(unit, &output, 1, &input, 1, &seed, &sensitivity), "derivative");
	} else {
		FUNCTION(3, GetDirectionalDerivative);
		check(GetDirectionalDerivative3(unit, &output, 1, &input, 1, &seed, 1, &sensitivity, 1), "derivative");
	}
	return sensitivity / seed;
}

static void end(void *unit, int stepped) {
	if (version == 2) {
		FUNCTION(2, Terminate);
		FUNCTION(2, FreeInstance);
		if (stepped)
			check(Terminate2(unit) > fmi2Warning, "the end");
		FreeInstance2(unit);
	} else {
		FUNCTION(3, Terminate);
		FUNCTION(3, FreeInstance);
		if (stepped)
			check(Terminate3(unit) > fmi3Warning, "the end");
		FreeInstance3(unit);
	}
}

/* ---- the run ------------------------------------------------------------------------------------------------------ */

typedef struct Control {
	const char *joint;
	double kp, kd, reference;
} Control;

static unsigned reference_of(const Description *d, const char *word, const char *object) {
	char name[NAME];
	snprintf(name, sizeof name, "%s:%s", word, object);
	return d->reference[find(d, name)];
}

static void apply(const Description *d, void *unit, const Control *c) {
	if (c->joint)
		set(unit, reference_of(d, "force", c->joint),
		    c->kp * (c->reference - get(unit, reference_of(d, "q", c->joint))) -
		        c->kd * get(unit, reference_of(d, "u", c->joint)));
}

static void print_row(const Description *d, void *unit, double t) {
	printf("%.17g", t);
	for (int i = 0; i < d->count; i++)
		if (d->is_output[i])
			printf(",%.17g", get(unit, d->reference[i]));
	putchar('\n');
}

static void demand_same(const Description *d, void *a, void *b, const char *what) {
	for (int i = 0; i < d->count; i++)
		if (d->is_output[i] && get(a, d->reference[i]) != get(b, d->reference[i]))
			stop("%s: %s is %.17g instead of %.17g", what, d->names[i], get(b, d->reference[i]),
			     get(a, d->reference[i]));
}

/* Ten steps after a state was taken, after it was set again, and in another instance. */
static void check_states(const Description *d, void *unit, const char *folder, double t, double h, const Control *c) {
	void *other = instantiate(d, folder), *state = take_state(unit), *same = carry_state(unit, state, other),
		 *late = NULL;
	double last;
	for (int round = 0; round < 2; round++) {
		void *runs = round == 0 ? unit : other;
		if (round == 1)
			set_state(other, same);
		for (int k = 0; k < 10; k++) {
			apply(d, runs, c);
			step(runs, t + k * h, h, &last);
		}
	}
	demand_same(d, unit, other, "another instance");
	late = take_state(unit);
	set_state(unit, state);
	for (int k = 0; k < 10; k++) {
		apply(d, unit, c);
		step(unit, t + k * h, h, &last);
	}
	demand_same(d, other, unit, "the same instance");
	set_state(unit, state);
	free_state(unit, &state), free_state(unit, &late), free_state(other, &same);
	end(other, 1);
}

/* Outputs are differenced by inputs; nothing is stepped. */
static void check_derivatives(const Description *d, void *unit) {
	for (int i = 0; i < d->count && d->has_derivatives; i++)
		for (int o = 0; o < d->count && d->is_input[i]; o++) {
			if (!d->is_output[o])
				continue;
			const double at = get(unit, d->reference[i]), exact = derivative(unit, d->reference[o], d->reference[i]);
			set(unit, d->reference[i], at + 1);
			const double above = get(unit, d->reference[o]);
			set(unit, d->reference[i], at - 1);
			const double slope = (above - get(unit, d->reference[o])) / 2;
			set(unit, d->reference[i], at);
			if (!(fabs(slope - exact) <= 1e-6 * fmax(1, fabs(slope))))
				stop("d %s / d %s is %.9g, by differences %.9g", d->names[o], d->names[i], exact, slope);
		}
}

int main(int argc, char **argv) {
	if (argc < 2)
		stop(
			"usage: importer FOLDER --end T --step H [--pd JOINT KP KD REFERENCE] [--set NAME VALUE]... [--at T NAME VALUE] "
			"[--check]");
	const char *folder = argv[1], *late = NULL, *names[8];
	Control control = {0};
	double t_end = 1, h = 0.01, values[8], at = INFINITY, late_value = 0, last = 0;
	int checks = 0, set_count = 0;
	for (int i = 2; i < argc; i++) {
		if (strcmp(argv[i], "--end") == 0)
			t_end = strtod(argv[++i], NULL);
		else if (strcmp(argv[i], "--step") == 0)
			h = strtod(argv[++i], NULL);
		else if (strcmp(argv[i], "--check") == 0)
			checks = 1;
		else if (strcmp(argv[i], "--set") == 0)
			names[set_count] = argv[i + 1], values[set_count++] = strtod(argv[i + 2], NULL), i += 2;
		else if (strcmp(argv[i], "--at") == 0)
			at = strtod(argv[i + 1], NULL), late = argv[i + 2], late_value = strtod(argv[i + 3], NULL), i += 3;
		else if (strcmp(argv[i], "--pd") == 0)
			control =
				(Control){argv[i + 1], strtod(argv[i + 2], NULL), strtod(argv[i + 3], NULL), strtod(argv[i + 4], NULL)},
			i += 4;
	}
	Description *d = read_description(folder);
	char path[2200];
	version = d->version;
	snprintf(path, sizeof path, "%s/binaries/%s/%s.so", folder, getenv("PLATFORM"), d->identifier);
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		stop("%s", dlerror());
	void *unit = instantiate(d, folder);
	for (int i = 0; i < set_count; i++)
		set(unit, d->reference[find(d, names[i])], values[i]);
	initialize(unit);
	putchar('t');
	for (int i = 0; i < d->count; i++)
		if (d->is_output[i])
			printf(",%s", d->names[i]);
	putchar('\n');
	print_row(d, unit, 0);
	const int steps = (int)lround(t_end / h);
	for (int k = 0; k < steps; k++) {
		const double t = k * h;
		if (checks && k == steps / 2) {
			check_states(d, unit, folder, t, h, &control);
			check_derivatives(d, unit);
		}
		if (late && k == lround(at / h))
			set(unit, d->reference[find(d, late)], late_value);
		apply(d, unit, &control);
		const int goes_on = step(unit, t, (k + 1) * h - t, &last);
		print_row(d, unit, last);
		if (!goes_on)
			break;
	}
	end(unit, 1);
	free(d);
	dlclose(library);
	return 0;
}
