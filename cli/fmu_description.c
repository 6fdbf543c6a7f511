// SPDX-License-Identifier: Apache-2.0
/*
 * fmu_description.c — modelDescription.xml of a functional mock-up unit, for FMI 2.0 and 3.0.
 *
 * The number of a variable is its value reference. FMI 2.0 refers to variables by their place in the list, counted from 1.
 */
#include <math.h>
#include <string.h>

#include "fmu.h"

static void put_text(FILE *out, const char *text) {
	for (const char *c = text; *c; c++) {
		if (*c == '&' || *c == '<' || *c == '>' || *c == '"')
			fprintf(out, "%s", *c == '&' ? "&amp;" : *c == '<' ? "&lt;" : *c == '>' ? "&gt;" : "&quot;");
		else
			putc((unsigned char)*c < 0x20 ? ' ' : *c, out);
	}
}

static void put_attribute(FILE *out, const char *name, const char *text) {
	fprintf(out, " %s=\"", name);
	put_text(out, text);
	putc('"', out);
}

static void put_number(FILE *out, const char *name, double value) {
	fprintf(out, " %s=\"", name);
	json_number(out, value);
	putc('"', out);
}

/* ---- units ----------------------------------------------------------------------------------------------- */

/** Exponents of kg, m, s, rad, A. */
typedef struct BaseUnit {
	const char *name;
	int kg, m, s, rad, A;
} BaseUnit;

static const BaseUnit base_units[] = {
	{"s", 0, 0, 1, 0, 0},       {"rad", 0, 0, 0, 1, 0},       {"m", 0, 1, 0, 0, 0},      {"rad/s", 0, 0, -1, 1, 0},
	{"m/s", 0, 1, -1, 0, 0},    {"rad/s^2", 0, 0, -2, 1, 0},  {"m/s^2", 0, 1, -2, 0, 0}, {"N", 1, 1, -2, 0, 0},
	{"N m", 1, 2, -2, 0, 0},    {"J", 1, 2, -2, 0, 0},        {"W", 1, 2, -3, 0, 0},     {"kg", 1, 0, 0, 0, 0},
	{"kg m/s", 1, 1, -1, 0, 0}, {"kg m^2/s", 1, 2, -1, 0, 0}, {"kg m^2", 1, 2, 0, 0, 0}, {"N s", 1, 1, -1, 0, 0},
	{"N m s", 1, 2, -1, 0, 0},  {"1/s", 0, 0, -1, 0, 0},      {"V", 1, 2, -3, 0, -1},    {"A", 0, 0, 0, 0, 1},
	{"1", 0, 0, 0, 0, 0},
};

static void put_exponent(FILE *out, const char *name, int value) {
	if (value != 0)
		fprintf(out, " %s=\"%d\"", name, value);
}

static void put_unit(FILE *out, const char *name) {
	fputs("    <Unit", out);
	put_attribute(out, "name", name);
	for (size_t i = 0; i < sizeof base_units / sizeof *base_units; i++) {
		const BaseUnit *unit = &base_units[i];
		if (strcmp(unit->name, name) != 0)
			continue;
		fputs("><BaseUnit", out);
		put_exponent(out, "kg", unit->kg), put_exponent(out, "m", unit->m), put_exponent(out, "s", unit->s);
		put_exponent(out, "A", unit->A), put_exponent(out, "rad", unit->rad);
		fputs("/></Unit>\n", out);
		return;
	}
	fputs("/>\n", out); // not one of ours: a name without a meaning
}

static bool is_first_of_unit(const FmuModel *model, int number) {
	for (int i = 0; i < number; i++)
		if (strcmp(fmu_model_variable(model, i).unit, fmu_model_variable(model, number).unit) == 0)
			return false;
	return true;
}

static void put_units(FILE *out, const FmuModel *model) {
	fputs("  <UnitDefinitions>\n", out);
	for (int i = 0; i < fmu_model_variable_count(model); i++)
		if (is_first_of_unit(model, i))
			put_unit(out, fmu_model_variable(model, i).unit);
	fputs("  </UnitDefinitions>\n", out);
}

/* ---- variables ------------------------------------------------------------------------------------------- */

static const char *const causalities[] = {
	[FMU_TIME] = "independent", [FMU_INPUT] = "input", [FMU_PARAMETER] = "parameter", [FMU_OUTPUT] = "output"};

static void put_variable(FILE *out, int version, const FmuModel *model, int number) {
	const FmuVariable v = fmu_model_variable(model, number);
	fprintf(out, "    <%s", version == 3 ? "Float64" : "ScalarVariable");
	put_attribute(out, "name", v.name);
	fprintf(out, " valueReference=\"%d\" causality=\"%s\" variability=\"%s\"", number, causalities[v.kind],
	        v.kind == FMU_PARAMETER ? "tunable" : "continuous");
	if (v.kind == FMU_OUTPUT)
		fputs(" initial=\"calculated\"", out);
	if (version == 2)
		fputs("><Real", out);
	put_attribute(out, "unit", v.unit);
	if (v.kind == FMU_INPUT || v.kind == FMU_PARAMETER)
		put_number(out, "start", v.start);
	fprintf(out, "/>%s\n", version == 2 ? "</ScalarVariable>" : "");
}

static void put_variables(FILE *out, int version, const FmuModel *model) {
	fputs("  <ModelVariables>\n", out);
	for (int i = 0; i < fmu_model_variable_count(model); i++)
		put_variable(out, version, model, i);
	fputs("  </ModelVariables>\n", out);
}

/* One line for each output. */
static void put_outputs(FILE *out, const FmuModel *model, const char *before, int first) {
	for (int i = 0; i < fmu_model_variable_count(model); i++)
		if (fmu_model_variable(model, i).kind == FMU_OUTPUT)
			fprintf(out, "%s=\"%d\"/>\n", before, i + first);
}

static void put_structure(FILE *out, int version, const FmuModel *model) {
	const int count = fmu_model_variable_count(model);
	const bool any = fmu_model_variable(model, count - 1).kind == FMU_OUTPUT;
	if (!any) {
		fputs("  <ModelStructure/>\n", out);
		return;
	}
	fputs("  <ModelStructure>\n", out);
	if (version == 3) {
		put_outputs(out, model, "    <Output valueReference", 0);
		put_outputs(out, model, "    <InitialUnknown valueReference", 0);
	} else {
		fputs("    <Outputs>\n", out);
		put_outputs(out, model, "      <Unknown index", 1);
		fputs("    </Outputs>\n    <InitialUnknowns>\n", out);
		put_outputs(out, model, "      <Unknown index", 1);
		fputs("    </InitialUnknowns>\n", out);
	}
	fputs("  </ModelStructure>\n", out);
}

/* ---- the whole ------------------------------------------------------------------------------------------- */

static void put_interface(FILE *out, const FmuDescription *d) {
	const bool three = d->version == 3;
	fputs("  <CoSimulation", out);
	put_attribute(out, "modelIdentifier", d->identifier);
	fputs(" canHandleVariableCommunicationStepSize=\"true\"", out);
	fprintf(out, " %s=\"true\" %s=\"true\" %s=\"%s\"/>\n", three ? "canGetAndSetFMUState" : "canGetAndSetFMUstate",
	        three ? "canSerializeFMUState" : "canSerializeFMUstate",
	        three ? "providesDirectionalDerivatives" : "providesDirectionalDerivative",
	        d->has_derivatives ? "true" : "false");
}

static void put_experiment(FILE *out, const CalRunSettings *run) {
	fputs("  <DefaultExperiment startTime=\"0\"", out);
	if (run->duration > 0)
		put_number(out, "stopTime", run->duration);
	if (run->method.rtol > 0)
		put_number(out, "tolerance", run->method.rtol);
	if (run->stream_count > 0 && run->streams[0].interval > 0)
		put_number(out, "stepSize", run->streams[0].interval);
	fputs("/>\n", out);
}

void fmu_write_description(FILE *out, const FmuDescription *d, const FmuModel *model) {
	const CalRunSettings run = fmu_model_run(model);
	char tool[60];
	snprintf(tool, sizeof tool, "Calder %s", cal_version());
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiModelDescription", out);
	put_attribute(out, "fmiVersion", d->version == 3 ? "3.0" : "2.0");
	put_attribute(out, "modelName", d->model_name);
	put_attribute(out, d->version == 3 ? "instantiationToken" : "guid", fmu_model_token(model));
	put_attribute(out, "generationTool", tool);
	put_attribute(out, "variableNamingConvention", "flat");
	if (d->version == 2)
		put_attribute(out, "numberOfEventIndicators", "0");
	fputs(">\n", out);
	put_interface(out, d);
	put_units(out, model);
	fputs("  <LogCategories>\n    <Category name=\"logStatusWarning\"/>\n    <Category name=\"logStatusError\"/>\n"
	      "  </LogCategories>\n",
	      out);
	put_experiment(out, &run);
	put_variables(out, d->version, model);
	put_structure(out, d->version, model);
	fputs("</fmiModelDescription>\n", out);
}
