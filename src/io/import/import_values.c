// SPDX-License-Identifier: Apache-2.0
/*
 * import_values.c — values of attributes and texts of robot files.
 *
 * A number is a whole word; lists are separated by blanks and line ends. The locale has no say. What xacro should have
 * expanded is named as such: "unexpanded" is a better word than "not a number".
 */
#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/number.h"
#include "io/import/import.h"
#include "math/quat.h"

/* The text that holds a value; NULL: the attribute, or any text, is not there. */
static const char *value_of(XmlElement *element, const char *attribute) {
	if (attribute)
		return xml_get(element, attribute);
	const char *text = xml_content(element);
	return text[0] ? text : NULL;
}

/* 'mass="1,5"' for messages: what stands there, and where. */
static const char *shown(const XmlElement *element, const char *attribute, const char *text, char *buffer,
                         size_t size) {
	if (attribute)
		snprintf(buffer, size, "<%.40s %.40s=\"%.60s\">", element->name, attribute, text);
	else
		snprintf(buffer, size, "<%.40s>%.60s</%.40s>", element->name, text, element->name);
	return buffer;
}

static bool bad_value(Import *im, const XmlElement *element, const char *attribute, const char *text,
                      const char *expected) {
	char what[240];
	shown(element, attribute, text, what, sizeof what);
	if (strstr(text, "${") || strstr(text, "$("))
		return import_fail(im, element,
		                   "%s holds an expression that xacro has not expanded; run \"xacro FILE > robot.urdf\" first",
		                   what);
	if (strchr(text, ','))
		return import_fail(im, element, "%s: expected %s; numbers have a point, and blanks between them", what,
		                   expected);
	return import_fail(im, element, "%s: expected %s", what, expected);
}

static const char *skip_blanks(const char *at) {
	while (isspace((unsigned char)*at))
		at++;
	return at;
}

/* The next word as a number, perhaps infinite; NULL: it is none. */
static const char *next_number(const char *at, double *value) {
	const bool minus = *at == '-';
	const char *word = at + (*at == '-' || *at == '+');
	const char *end;
	if (isdigit((unsigned char)*word) || *word == '.') {
		end = number_parse(word, value);
	} else if (strncasecmp(word, "inf", 3) == 0) {
		end = word + (strncasecmp(word, "infinity", 8) == 0 ? 8 : 3);
		*value = INFINITY;
	} else {
		return NULL;
	}
	if (!end || (*end && !isspace((unsigned char)*end)))
		return NULL;
	*value = minus ? -*value : *value;
	return end;
}

/* Up to `most` numbers, all of the text; -1: there are more, or something that is none. */
static int read_numbers(const char *text, double *values, int most) {
	int count = 0;
	for (const char *at = skip_blanks(text); *at; at = skip_blanks(at)) {
		if (count == most || !(at = next_number(at, &values[count])))
			return -1;
		count++;
	}
	return count;
}

static bool all_finite(const double *values, int count) {
	for (int i = 0; i < count; i++)
		if (!isfinite(values[i]))
			return false;
	return true;
}

bool import_list(Import *im, XmlElement *element, const char *attribute, double *values, int least, int most,
                 int *count) {
	const char *text = value_of(element, attribute);
	*count = 0;
	if (!text)
		return true;
	*count = read_numbers(text, values, most);
	if (*count >= least && all_finite(values, *count))
		return true;
	char expected[80];
	if (least == most)
		snprintf(expected, sizeof expected, least == 1 ? "a number" : "%d numbers", least);
	else
		snprintf(expected, sizeof expected, "%d to %d numbers", least, most);
	return bad_value(im, element, attribute, text, expected);
}

bool import_numbers(Import *im, XmlElement *element, const char *attribute, double *values, int count, bool *given) {
	enum { MOST = 64 };
	double read[MOST];
	int found = 0;
	if (given)
		*given = false;
	if (attribute && !xml_may_have(element, attribute))
		return true;
	if (!import_list(im, element, attribute, read, count, count < MOST ? count : MOST, &found))
		return false;
	if (found)
		memcpy(values, read, (size_t)found * sizeof *values);
	if (given)
		*given = found > 0;
	return true;
}

bool import_number(Import *im, XmlElement *element, const char *attribute, double *value, bool *given) {
	return import_numbers(im, element, attribute, value, 1, given);
}

bool import_bound(Import *im, XmlElement *element, const char *attribute, double *value, bool *given) {
	const char *text = value_of(element, attribute);
	double read;
	if (given)
		*given = text != NULL;
	if (!text)
		return true;
	if (read_numbers(text, &read, 1) != 1)
		return bad_value(im, element, attribute, text, "a number, inf or -inf");
	*value = read;
	return true;
}

bool import_vec3(Import *im, XmlElement *element, const char *attribute, CalVec3 *value, bool *given) {
	double v[3] = {value->x, value->y, value->z};
	bool is_given = false;
	if (!import_numbers(im, element, attribute, v, 3, &is_given))
		return false;
	if (is_given)
		*value = (CalVec3){v[0], v[1], v[2]};
	if (given)
		*given = is_given;
	return true;
}

bool import_integer(Import *im, XmlElement *element, const char *attribute, int *value, bool *given) {
	double number = *value;
	bool is_given;
	if (given)
		*given = false;
	if (attribute && !xml_may_have(element, attribute))
		return true;
	if (!import_number(im, element, attribute, &number, &is_given))
		return false;
	if (number != floor(number) || fabs(number) > 2147483647.0)
		return bad_value(im, element, attribute, value_of(element, attribute), "a whole number");
	*value = (int)number;
	if (given)
		*given = is_given;
	return true;
}

bool import_word(Import *im, XmlElement *element, const char *attribute, const char *const *words, int *value,
                 bool *given) {
	const char *text = value_of(element, attribute);
	if (given)
		*given = text != NULL;
	if (!text)
		return true;
	for (int i = 0; words[i]; i++) {
		if (strcmp(text, words[i]) == 0) {
			*value = i;
			return true;
		}
	}
	char expected[240] = "one of";
	for (int i = 0; words[i]; i++) {
		const size_t used = strlen(expected);
		snprintf(expected + used, sizeof expected - used, "%s %s", i ? "," : "", words[i]);
	}
	return bad_value(im, element, attribute, text, expected);
}

bool import_bool(Import *im, XmlElement *element, const char *attribute, bool *value, bool *given) {
	static const char *const words[] = {"false", "true", "0", "1", "False", "True", NULL};
	int word = *value;
	if (!import_word(im, element, attribute, words, &word, given))
		return false;
	*value = word % 2 == 1;
	return true;
}

const char *import_required(Import *im, XmlElement *element, const char *attribute) {
	const char *text = xml_get(element, attribute);
	if (text && text[0])
		return text;
	import_fail(im, element, "<%.40s> needs the attribute \"%s\"", element->name, attribute);
	return NULL;
}

bool import_question_length(Import *im, const XmlElement *element, const char *attribute, const double *v, int count) {
	double square = 0;
	for (int i = 0; i < count; i++)
		square += v[i] * v[i];
	const double length = sqrt(square);
	return fabs(length - 1) <= IMPORT_LENGTH_ERROR ||
	       import_note(im, CAL_IMPORT_ASSUMED, element, attribute,
	                   length > 0 ? "it has the length %.9g; taken: its direction, with the length 1"
	                              : "it has the length %g; taken: the default",
	                   length);
}

void import_unit(double *v, int count) {
	static const double round_off = 8 * DBL_EPSILON;
	double square = 0, most = 0;
	for (int i = 0; i < count; i++) {
		square += v[i] * v[i];
		most = fmax(most, fabs(v[i]));
	}
	if (fabs(square - 1) <= round_off || most == 0)
		return;
	square = 0;
	for (int i = 0; i < count; i++) {
		v[i] /= most;
		square += v[i] * v[i];
	}
	for (int i = 0; i < count; i++)
		v[i] /= sqrt(square);
}

bool import_gravity(Import *im, const XmlElement *element, CalVec3 gravity) {
	return cal_desc_set_gravity(im->desc, (CalGroupId){0}, gravity) == CAL_OK ||
	       import_fail(im, element, "gravity (%g, %g, %g) m/s^2 is more than a model holds", gravity.x, gravity.y,
	                   gravity.z);
}

bool import_question_radians(Import *im, const XmlElement *element, const char *attribute, CalVec3 angles) {
	static const double turn = 6.283185307179586;
	const double most = fmax(fabs(angles.x), fmax(fabs(angles.y), fabs(angles.z)));
	return !(most > turn * (1 + 1e-3)) ||
	       import_note(im, CAL_IMPORT_ASSUMED, element, attribute,
	                   "an angle of %g rad is %.1f turns; taken as it is. Are these degrees? The format has radians",
	                   most, most / turn);
}

CalQuat import_rpy(CalVec3 rpy) {
	const CalQuat x = dquat_exp((dvec3){rpy.x, 0, 0}), y = dquat_exp((dvec3){0, rpy.y, 0}),
				  z = dquat_exp((dvec3){0, 0, rpy.z});
	return dquat_mul(z, dquat_mul(y, x));
}
