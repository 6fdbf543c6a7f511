// SPDX-License-Identifier: Apache-2.0
/*
 * export_xml.c — the text of an XML file in memory: elements, attributes, numbers that read back as the same bits, and
 * rotations as roll, pitch and yaw.
 */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/number.h"
#include "io/export/export.h"
#include "math/portable.h"

/* ---- text -------------------------------------------------------------------------------------------- */

static void put_bytes(Export *ex, const char *bytes, size_t count) {
	if (ex->status != CAL_OK)
		return;
	if (count >= (size_t)(INT_MAX - ex->length)) {
		export_fail(ex, CAL_ERR_UNSUPPORTED, "the file would have more than %d bytes; split the model", INT_MAX);
		return;
	}
	char *moved = array_reserve(&ex->allocator, ex->text, ex->length, (int)count, &ex->capacity, 1);
	if (!moved) {
		export_no_memory(ex);
		return;
	}
	ex->text = moved;
	memcpy(ex->text + ex->length, bytes, count);
	ex->length += (int)count;
}

static void put(Export *ex, const char *text) { put_bytes(ex, text, strlen(text)); }

/* Blanks other than ' ' would become one in an attribute. */
static void put_escaped(Export *ex, const char *text) {
	static const struct {
		char c;
		const char *as;
	} escapes[] = {{'&', "&amp;"}, {'<', "&lt;"},   {'>', "&gt;"},  {'"', "&quot;"},
	               {'\t', "&#9;"}, {'\n', "&#10;"}, {'\r', "&#13;"}};
	for (const char *at = text; ex->status == CAL_OK && *at;) {
		const size_t plain = strcspn(at, "&<>\"\t\n\r");
		put_bytes(ex, at, plain);
		at += plain;
		for (size_t i = 0; *at && i < sizeof escapes / sizeof *escapes; i++)
			if (escapes[i].c == *at) {
				put(ex, escapes[i].as);
				at++;
				break;
			}
	}
}

static void put_numbers(Export *ex, const double *values, int count) {
	char text[NUMBER_TEXT];
	for (int i = 0; i < count; i++) {
		number_format(values[i] == 0 ? 0 : values[i], text); // no -0
		put(ex, i ? " " : "");
		put(ex, text);
	}
}

/* ---- elements ---------------------------------------------------------------------------------------- */

static void indent(Export *ex) {
	for (int i = 0; i < ex->depth && i < 40; i++)
		put(ex, "  ");
}

static void end_tag(Export *ex) {
	if (ex->tag_is_open)
		put(ex, ">\n");
	ex->tag_is_open = false;
}

void export_open(Export *ex, const char *element) {
	end_tag(ex);
	indent(ex);
	put(ex, "<");
	put(ex, element);
	ex->tag_is_open = true;
	ex->depth++;
}

void export_close(Export *ex, const char *element) {
	ex->depth--;
	if (ex->tag_is_open) {
		put(ex, "/>\n");
	} else {
		indent(ex);
		put(ex, "</");
		put(ex, element);
		put(ex, ">\n");
	}
	ex->tag_is_open = false;
}

void export_attribute(Export *ex, const char *name, const char *text) {
	put(ex, " ");
	put(ex, name);
	put(ex, "=\"");
	put_escaped(ex, text);
	put(ex, "\"");
}

void export_attribute_numbers(Export *ex, const char *name, const double *values, int count) {
	put(ex, " ");
	put(ex, name);
	put(ex, "=\"");
	put_numbers(ex, values, count);
	put(ex, "\"");
}

void export_attribute_number(Export *ex, const char *name, double value) {
	export_attribute_numbers(ex, name, &value, 1);
}

void export_attribute_vector(Export *ex, const char *name, dvec3 v) {
	export_attribute_numbers(ex, name, (const double[3]){v.x, v.y, v.z}, 3);
}

static void begin_line(Export *ex, const char *element) {
	end_tag(ex);
	indent(ex);
	put(ex, "<");
	put(ex, element);
	put(ex, ">");
}

static void end_line(Export *ex, const char *element) {
	put(ex, "</");
	put(ex, element);
	put(ex, ">\n");
}

void export_text(Export *ex, const char *element, const char *text) {
	begin_line(ex, element);
	put_escaped(ex, text);
	end_line(ex, element);
}

void export_close_with(Export *ex, const char *element, const double *values, int count) {
	ex->depth--;
	ex->tag_is_open = false;
	put(ex, ">");
	put_numbers(ex, values, count);
	end_line(ex, element);
}

void export_text_attribute(Export *ex, const char *element, const char *attribute, const char *value,
                           const double *values, int count) {
	export_open(ex, element);
	if (value)
		export_attribute(ex, attribute, value);
	export_close_with(ex, element, values, count);
}

void export_numbers(Export *ex, const char *element, const double *values, int count) {
	begin_line(ex, element);
	put_numbers(ex, values, count);
	end_line(ex, element);
}

void export_number(Export *ex, const char *element, double value) { export_numbers(ex, element, &value, 1); }

/* ---- rotations --------------------------------------------------------------------------------------- */

/*
 * R = Rz(yaw) Ry(pitch) Rx(roll). Once a yaw is chosen, Ry Rx = Rz(-yaw) R gives the others without loss, whatever the yaw:
 * at a right angle of pitch, where yaw is any, too.
 */
static dvec3 find_rpy(dmat3 R) {
	const double yaw = R.x.x == 0 && R.x.y == 0 ? 0 : portable_atan2(R.x.y, R.x.x);
	const dmat3 M = dmat_mul(dmat_transpose(dquat_matrix(dquat_exp((dvec3){0, 0, yaw}))), R);
	return (dvec3){portable_atan2(-M.z.y, M.y.y), portable_atan2(-M.x.z, M.x.x), yaw};
}

static double distance(dmat3 A, dmat3 R) {
	const dvec3 x = dadd(A.x, dscale(-1, R.x)), y = dadd(A.y, dscale(-1, R.y)), z = dadd(A.z, dscale(-1, R.z));
	return ddot(x, x) + ddot(y, y) + ddot(z, z);
}

/* What a reader gets, against what it should. */
static double rpy_error(dvec3 v, dmat3 R) { return distance(dquat_matrix(import_rpy(dvec_out(v))), R); }

/* Angles that people write have few digits. */
bool export_short_rpy(dmat3 R, dvec3 *rpy) {
	static const double unit = 1e14; // exact: a quotient by it is the double that is nearest to the decimal number
	const dvec3 v = find_rpy(R);
	*rpy = (dvec3){round(v.x * unit) / unit, round(v.y * unit) / unit, round(v.z * unit) / unit};
	return rpy_error(*rpy, R) == 0;
}

CalQuat export_quat(dmat3 R, CalQuat given) {
	return given.w * given.w + given.x * given.x + given.y * given.y + given.z * given.z > 0 &&
	               distance(dquat_matrix(given), R) == 0
	           ? given
	           : quat_of_matrix(R);
}

/* The best of the neighbors by one ulp: files that were read come back with the same bits in most cases. */
dvec3 export_rpy(dmat3 R) {
	dvec3 found;
	if (export_short_rpy(R, &found))
		return found;
	found = find_rpy(R);
	const double v[3] = {found.x, found.y, found.z};
	double best[3] = {v[0], v[1], v[2]}, least = rpy_error(found, R);
	for (int i = 0; i < 27 && least > 0; i++) {
		const int to[3] = {i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1};
		double near[3];
		for (int k = 0; k < 3; k++)
			near[k] = to[k] == 0 || v[k] == 0 ? v[k] : nextafter(v[k], to[k] < 0 ? -INFINITY : INFINITY);
		const double error = rpy_error((dvec3){near[0], near[1], near[2]}, R);
		if (error < least) {
			least = error;
			memcpy(best, near, sizeof best);
		}
	}
	return (dvec3){best[0], best[1], best[2]};
}

bool export_is_identity(dmat3 R) {
	return R.x.x == 1 && R.y.y == 1 && R.z.z == 1 && R.x.y == 0 && R.x.z == 0 && R.y.x == 0 && R.y.z == 0 &&
	       R.z.x == 0 && R.z.y == 0;
}

bool export_is_zero(dvec3 v) { return v.x == 0 && v.y == 0 && v.z == 0; }
bool export_is_neutral(const dpose *X) { return export_is_identity(X->R) && export_is_zero(X->r); }
