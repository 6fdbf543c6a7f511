// SPDX-License-Identifier: Apache-2.0
/*
 * arrows.c — forces in pictures.
 *
 * Which columns belong together is in their names: "reaction:hinge.fx", fy and fz follow one another, and so do x1, y1, z1,
 * fx1, fy1 and fz1 of a point of contact. An arrow stands at the node that the force acts on, which is taken as fixed to the body.
 */
#include "view/arrows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <calder/quantity.h>

#include "math/placement.h"
#include "view/packing.h"

/* ---- values over time -------------------------------------------------------------------------------- */

/* Of a column at a time, linear between its rows. */
static double value_at(const CalResultsTable *table, int column, double t) {
	const size_t width = (size_t)table->column_count;
	size_t low = 0, high = table->row_count - 1;
	if (t <= table->rows[0])
		return table->rows[column];
	if (t >= table->rows[high * width])
		return table->rows[high * width + (size_t)column];
	while (high - low > 1) {
		const size_t middle = low + (high - low) / 2;
		*(table->rows[middle * width] <= t ? &low : &high) = middle;
	}
	const double *a = table->rows + low * width, *b = table->rows + high * width;
	const double share = b[0] > a[0] ? (t - a[0]) / (b[0] - a[0]) : 1;
	return a[column] + share * (b[column] - a[column]);
}

/* ---- one arrow ------------------------------------------------------------------------------------------ */

typedef struct Arrow {
	const char *kind, *unit;
	const CalResultsTable *table;
	int column;  // of the vector's x; y and z follow
	int body;    // that it starts on, -1: its place is in columns
	CalVec3 at;  // in the body
	int columns; // of the place: x; y and z follow
} Arrow;

static dvec3 place_of(const ArrowSource *s, const Arrow *arrow, const double *row) {
	const double *pose = row + s->pose[arrow->body];
	const CalPlacement X = {{pose[0], pose[1], pose[2]}, {pose[3], pose[4], pose[5], pose[6]}};
	const dpose P = pose_of(X);
	return dadd(P.r, dmat_mul_vec(P.R, dvec_in(arrow->at)));
}

/* Of the place at which the arrow starts: x, y or z. */
static double place_component(const ArrowSource *s, const Arrow *arrow, size_t frame, int k) {
	const double *row = s->row(s->user, frame);
	if (arrow->body < 0)
		return value_at(arrow->table, arrow->columns + k, row[0]);
	const dvec3 p = place_of(s, arrow, row);
	return k == 0 ? p.x : k == 1 ? p.y : p.z;
}

static void put_arrow(JsonWriter *d, const ArrowSource *s, const Arrow *arrow, const char *name) {
	json_writer_open(d, '{');
	json_writer_put_text(d, "name", name);
	json_writer_put_text(d, "kind", arrow->kind);
	json_writer_put_text(d, "unit", arrow->unit);
	json_writer_key(d, "at");
	Packing places = packing_floats(d, 2, (size_t[]){s->frame_count, 3});
	for (int k = 0; k < 3; k++)
		for (size_t i = 0; i < s->frame_count; i++)
			packing_put_float(&places, place_component(s, arrow, i, k));
	packing_end(&places);
	json_writer_key(d, "vector");
	Packing vectors = packing_floats(d, 2, (size_t[]){s->frame_count, 3});
	for (int k = 0; k < 3; k++)
		for (size_t i = 0; i < s->frame_count; i++)
			packing_put_float(&vectors, value_at(arrow->table, arrow->column + k, s->row(s->user, i)[0]));
	packing_end(&vectors);
	json_writer_close(d);
}

/* ---- what a name is about ---------------------------------------------------------------------------------- */

/* The body of a node and the place of a frame in it; false: it is on the ground, or was not recorded. */
static bool stand_on(const ArrowSource *s, CalNodeId node, dpose on, Arrow *arrow) {
	CalBodyId body = {0};
	const CalNodeDef *def = node.value ? cal_desc_node(s->desc, node, &body) : NULL;
	if (!def || !body.value || s->pose[body.value - 1] < 0)
		return false;
	const dpose X = dpose_mul(pose_of(def->placement), on);
	arrow->body = (int)body.value - 1;
	arrow->at = dvec_out(X.r);
	return true;
}

static bool find_place(const ArrowSource *s, const char *word, const char *object, Arrow *arrow) {
	CalNodeId a, b;
	if (strcmp(word, "reaction") == 0) {
		const CalJointDef *joint = cal_desc_joint(s->desc, cal_desc_find_joint(s->desc, object), &a, &b);
		return joint && stand_on(s, b, dpose_inverse(pose_of(joint->outboard)), arrow);
	}
	if (strcmp(word, "loop") == 0) {
		const CalLoopDef *loop = cal_desc_loop(s->desc, cal_desc_find_loop(s->desc, object), &a, &b);
		CalLoopTypeInfo type;
		if (!loop || cal_loop_type_info(loop->type, &type) != CAL_OK)
			return false;
		const bool two_sides = type.uses & CAL_LOOP_USES_B;
		return stand_on(s, two_sides ? b : a, pose_of(two_sides ? loop->b : loop->a), arrow);
	}
	return strcmp(word, "wrench") == 0 && stand_on(s, cal_desc_find_node(s->desc, object), dpose_identity(), arrow);
}

/* Is the column `further` after another called the same but for the letter at `place`, which is `letter`? */
static bool is_companion(const CalResultsTable *table, int column, int further, size_t place, char letter) {
	const char *name = table->columns[column].name, *other = table->columns[column + further].name;
	return strlen(other) == strlen(name) && strncmp(other, name, place) == 0 && other[place] == letter &&
	       strcmp(other + place + 1, name + place + 1) == 0;
}

/* Is it the component fx or mx, with y and z after it in the table? */
static bool is_vector(const CalResultsTable *table, int column, char word[64], char object[512]) {
	const char *name = table->columns[column].name;
	CalQuantityName parts;
	CalQuantityInfo info;
	if (column + 2 >= table->column_count || cal_quantity_split(name, &parts) != CAL_OK || !parts.object ||
	    !parts.component || cal_quantity(parts.quantity, &info) != CAL_OK || parts.object_length >= 512)
		return false;
	if (strcmp(parts.component, "fx") != 0 && strcmp(parts.component, "mx") != 0)
		return false;
	const size_t place = (size_t)(parts.component + 1 - name);
	if (!is_companion(table, column, 1, place, 'y') || !is_companion(table, column, 2, place, 'z'))
		return false;
	snprintf(word, 64, "%s", info.word);
	snprintf(object, 512, "%.*s", parts.object_length, parts.object);
	return true;
}

/* The output of a device in a column, "x1"; NULL: it has none. */
static const char *output_of(const CalResultsTable *table, int column) {
	CalQuantityName parts;
	if (cal_quantity_split(table->columns[column].name, &parts) != CAL_OK ||
	    parts.quantity != cal_quantity_find("device"))
		return NULL;
	return parts.component;
}

/* "device:NAME.x1" with y1, z1, fx1, fy1 and fz1 after it. */
static bool is_contact(const CalResultsTable *table, int column) {
	const char *place = column + 5 < table->column_count ? output_of(table, column) : NULL;
	const char *force = place && place[0] == 'x' ? output_of(table, column + 3) : NULL;
	return force && force[0] == 'f' && force[1] == 'x' && strcmp(force + 2, place + 1) == 0;
}

static void write_column(JsonWriter *d, const ArrowSource *s, const CalResultsTable *table, int column) {
	char word[64], object[512];
	const char *name = table->columns[column].name;
	Arrow arrow = {.table = table, .column = column, .body = -1};
	if (is_contact(table, column)) {
		arrow.kind = "contact", arrow.unit = "N";
		arrow.columns = column, arrow.column = column + 3;
		put_arrow(d, s, &arrow, name);
	} else if (is_vector(table, column, word, object) && find_place(s, word, object, &arrow)) {
		const bool moment = name[strlen(name) - 2] == 'm';
		arrow.unit = moment ? "N*m" : "N";
		arrow.kind = moment ? "moment" : strcmp(word, "wrench") == 0 ? "force" : "reaction";
		put_arrow(d, s, &arrow, name);
	}
}

void arrows_write(JsonWriter *d, const ArrowSource *s) {
	json_writer_key(d, "arrows");
	json_writer_open(d, '[');
	for (int i = 0; i < s->count; i++)
		for (int c = 1; c < s->tables[i].column_count && s->tables[i].row_count; c++)
			write_column(d, s, &s->tables[i], c);
	json_writer_close(d);
}
