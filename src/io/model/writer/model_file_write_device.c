// SPDX-License-Identifier: Apache-2.0
/*
 * model_file_write_device.c — devices by the tables of their fields (device/device_type.h), and contact shapes.
 *
 * A member that is as in the definition from which a reader starts is left out. Owners and layers of contact shapes are
 * numbers and bits in the library: they get words.
 */
#include <math.h>
#include <string.h>

#include "device/device_type.h"
#include "io/model/writer/model_file_write.h"

/* ---- contact ------------------------------------------------------------------------------------------- */

/* A number, or "rigid"; +0 is left out. */
static void put_or_rigid(Writer *w, bool *first, const char *key, double value) {
	if (isinf(value))
		put_named(w, first, key, "rigid");
	else
		put_quantity(w, first, key, value);
}

static void put_material(Writer *w, bool *first, const CalContactMaterial *m) {
	bool inner = true;
	put_key(w, first, "material");
	fputc('{', w->out);
	put_or_rigid(w, &inner, "modulus", m->modulus);
	put_or_rigid(w, &inner, "stiffness", m->stiffness);
	put_quantity(w, &inner, "exponent", m->exponent);
	put_quantity(w, &inner, "dissipation", m->dissipation);
	put_quantity(w, &inner, "restitution", m->restitution);
	put_quantity(w, &inner, "impact_speed", m->impact_speed);
	put_quantity(w, &inner, "friction_static", m->friction_static);
	put_quantity(w, &inner, "friction_dynamic", m->friction_dynamic);
	put_quantity(w, &inner, "transition_speed", m->transition_speed);
	put_quantity(w, &inner, "stribeck_speed", m->stribeck_speed);
	put_quantity(w, &inner, "torsion_radius", m->torsion_radius);
	fputc('}', w->out);
}

/* Names of the bits that are set; the first is that of shapes that name none. */
static void put_layers(Writer *w, bool *first, const char *key, uint32_t bits) {
	bool empty = true;
	put_key(w, first, key);
	for (int i = 0; i < 32; i++) {
		if (!(bits >> i & 1))
			continue;
		fputs(empty ? "[" : ", ", w->out);
		if (i)
			fprintf(w->out, "layer%d", i);
		else
			fputs("default", w->out);
		empty = false;
	}
	fputc(']', w->out);
}

/* Bits that no shape has would be unknown layers; without them the mask means the same. */
static void put_shape_filter(Writer *w, bool *first, const CalShapeDef *shape, uint32_t all) {
	if (shape->owner) {
		put_key(w, first, "owner");
		fprintf(w->out, "owner%d", shape->owner);
	}
	if (shape->layers > 1)
		put_layers(w, first, "layers", shape->layers);
	if (shape->mask & all)
		put_layers(w, first, "mask", shape->mask & all);
}

static void put_contact_shape(Writer *w, const CalShapeDef *shape, CalNodeId node, uint32_t all) {
	bool first = true;
	put_text(w, shape->name);
	fputs(": {", w->out);
	put_named(w, &first, "type", cal_shape_type_name(shape->type));
	if (node.value) {
		put_key(w, &first, "node");
		put_path(w, node);
	}
	put_vector(w, &first, "at", shape->placement.position);
	put_orientation(w, &first, "orientation", shape->placement.orientation);
	put_quantity(w, &first, "radius", shape->radius);
	if (shape->type == CAL_SHAPE_CAPSULE) {
		put_key(w, &first, "length");
		put_number(w, shape->length);
	}
	put_vector(w, &first, "half", shape->half);
	put_quantity(w, &first, "thickness", shape->thickness);
	put_quantity(w, &first, "margin", shape->margin);
	put_quantity(w, &first, "patch", shape->patch);
	put_shape_filter(w, &first, shape, all);
	put_material(w, &first, &shape->material);
	fputc('}', w->out);
}

static void put_shapes(Writer *w, const CalContactDef *def) {
	uint32_t all = 0;
	for (int i = 0; i < def->shape_count; i++)
		all |= def->shapes[i].layers ? def->shapes[i].layers : 1;
	fputc('{', w->out);
	for (int i = 0; i < def->shape_count; i++) {
		fputs(i ? ",\n      " : "\n      ", w->out);
		put_contact_shape(w, &def->shapes[i], def->nodes[i], all);
	}
	fputc('}', w->out);
}

/* ---- one field ------------------------------------------------------------------------------------------- */

/* A path that the reader finds in the folder of the file again. */
static void put_file(Writer *w, const char *path) {
	const char *name = cal_setup_name(w->setup), *slash = strrchr(name, '/');
	const size_t folder = slash ? (size_t)(slash - name) + 1 : 0;
	put_text(w, folder && strncmp(path, name, folder) == 0 ? path + folder : path);
}

static void put_load_value(Writer *w, const CalLoadValue *value) {
	if (value->formula)
		put_text(w, value->formula);
	else if (value->table.count > 0)
		put_table(w, &value->table, false);
	else
		put_number(w, value->number);
}

static void put_load_values(Writer *w, const CalLoadValue values[3]) {
	for (int i = 0; i < 3; i++) {
		fputs(i ? ", " : "[", w->out);
		put_load_value(w, &values[i]);
	}
	fputc(']', w->out);
}

static void put_load_list(Writer *w, const LoadValueList *list) {
	for (int i = 0; i < list->count; i++) {
		fputs(i ? ", " : "[", w->out);
		put_load_value(w, &list->value[i]);
	}
	fputc(']', w->out);
}

static void put_matrix(Writer *w, const NumberMatrix *matrix) {
	for (int i = 0; i < matrix->rows; i++) {
		fputs(i ? ", " : "[", w->out);
		put_numbers(w, matrix->value + (ptrdiff_t)i * matrix->columns, matrix->columns);
	}
	fputc(']', w->out);
}

/* Whether a number, or the values of a table, are angles: those of a joint's dof depend on it. */
static bool is_angle(const Writer *w, const DeviceType *type, const Field *field, const char *def) {
	const CalJointDef *joint = NULL;
	CalCoordinateInfo info = {0};
	int dof = 0;
	if (field->dimension != DIM_ANGLE || !(field->flags & FIELD_BY_DOF))
		return field->dimension == DIM_ANGLE;
	for (int i = 0; i < type->table.count; i++) {
		const void *member = def + type->table.fields[i].offset;
		if (type->table.fields[i].kind == FIELD_JOINT)
			joint = cal_desc_joint(w->desc, *(const CalJointId *)member, NULL, NULL);
		if (type->table.fields[i].kind == FIELD_DOF)
			dof = *(const int *)member;
	}
	return joint && cal_joint_speed(joint, dof, &info) == CAL_OK && info.kind == CAL_COORDINATE_ANGLE;
}

static void put_member(Writer *w, const Field *field, const void *member, bool angle) {
	const CalVec3 *v = member;
	const CalQuat *turn = member;
	switch (field->kind) {
	case FIELD_NUMBER:
	case FIELD_POSITIVE:
	case FIELD_NOT_NEGATIVE:
		put_value(w, *(const double *)member, angle);
		break;
	case FIELD_VECTOR:
	case FIELD_AXIS:
		put_numbers(w, (const double[]){v->x, v->y, v->z}, 3);
		break;
	case FIELD_ORIENTATION:
		put_numbers(w, (const double[]){turn->w, turn->x, turn->y, turn->z}, 4);
		break;
	case FIELD_PLACEMENT:
		put_placement_value(w, member);
		break;
	case FIELD_TEXT:
	case FIELD_FORMULA:
	case FIELD_GROUP:
		put_text(w, *(const char *const *)member);
		break;
	case FIELD_FILE:
		put_file(w, *(const char *const *)member);
		break;
	case FIELD_FLAG:
		fputs(*(const int *)member ? "true" : "false", w->out);
		break;
	case FIELD_CHOICE:
		put_text(w, field_word(field, *(const int *)member));
		break;
	case FIELD_TABLE:
		put_table(w, member, angle);
		break;
	case FIELD_LOAD_VALUE:
		put_load_value(w, member);
		break;
	case FIELD_LOAD_VALUES:
		put_load_values(w, member);
		break;
	case FIELD_LOAD_LIST:
		put_load_list(w, member);
		break;
	case FIELD_NUMBERS:
		put_numbers(w, ((const NumberList *)member)->value, ((const NumberList *)member)->count);
		break;
	case FIELD_MATRIX:
		put_matrix(w, member);
		break;
	case FIELD_WHOLE:
		fprintf(w->out, "%d", *(const int *)member);
		break;
	case FIELD_FUNCTION:
		put_function(w, member, angle);
		break;
	case FIELD_NODE:
		put_path(w, *(const CalNodeId *)member);
		break;
	case FIELD_JOINT:
		put_text(w, cal_desc_joint(w->desc, *(const CalJointId *)member, NULL, NULL)->name);
		break;
	case FIELD_BODY:
		put_text(w, cal_desc_body(w->desc, *(const CalBodyId *)member)->name);
		break;
	case FIELD_MODE:
	case FIELD_DOF:
		fprintf(w->out, "%d", *(const int *)member + 1);
		break;
	case FIELD_SHAPES:
		put_shapes(w, member);
		break;
	default:
		break;
	}
}

static size_t member_size(FieldKind kind) {
	switch (kind) {
	case FIELD_NUMBER:
	case FIELD_POSITIVE:
	case FIELD_NOT_NEGATIVE:
		return sizeof(double);
	case FIELD_VECTOR:
	case FIELD_AXIS:
		return sizeof(CalVec3);
	case FIELD_ORIENTATION:
		return sizeof(CalQuat);
	case FIELD_PLACEMENT:
		return sizeof(CalPlacement);
	case FIELD_TEXT:
	case FIELD_FORMULA:
	case FIELD_GROUP:
	case FIELD_FILE:
		return sizeof(const char *);
	case FIELD_FLAG:
	case FIELD_CHOICE:
	case FIELD_DOF:
	case FIELD_MODE:
	case FIELD_WHOLE:
		return sizeof(int);
	case FIELD_NODE:
	case FIELD_JOINT:
	case FIELD_BODY:
		return sizeof(uint32_t);
	default:
		return 0; // not a plain member
	}
}

static bool is_zero(const CalLoadValue *value) {
	return !value->formula && value->table.count == 0 && value->number == 0;
}

/* As in the definition from which a reader starts. */
static bool is_default(const DeviceType *type, const Field *field, const char *def) {
	static const char zero[sizeof(CalPlacement)] = {0};
	const void *member = def + field->offset;
	switch (field->kind) {
	case FIELD_TABLE:
		return ((const CalTable *)member)->count == 0;
	case FIELD_LOAD_VALUE:
		return is_zero(member);
	case FIELD_LOAD_VALUES: {
		const CalLoadValue *values = member;
		return is_zero(&values[0]) && is_zero(&values[1]) && is_zero(&values[2]);
	}
	case FIELD_LOAD_LIST:
		return ((const LoadValueList *)member)->count == 0;
	case FIELD_NUMBERS:
		return ((const NumberList *)member)->count == 0;
	case FIELD_MATRIX:
		return ((const NumberMatrix *)member)->rows == 0;
	case FIELD_FUNCTION:
	case FIELD_SHAPES:
		return false;
	default: {
		const size_t size = member_size(field->kind);
		return size == 0 || memcmp(member, type->start ? (const char *)type->start + field->offset : zero, size) == 0;
	}
	}
}

/* Which degree of freedom a device is about must be said where the joint has several. */
static bool is_needed(const Writer *w, const DeviceType *type, const Field *field, const char *def) {
	if (field->flags & FIELD_REQUIRED)
		return member_size(field->kind) > 0 || field->kind >= FIELD_TABLE || !is_default(type, field, def);
	if (field->kind != FIELD_DOF)
		return !is_default(type, field, def);
	for (int i = 0; i < type->table.count; i++) {
		const Field *other = &type->table.fields[i];
		const CalJointId *joint = (const CalJointId *)(const void *)(def + other->offset);
		if (other->kind == FIELD_JOINT && joint->value)
			return cal_joint_speed_count(cal_desc_joint(w->desc, *joint, NULL, NULL)) > 1;
	}
	return false;
}

void write_devices(Writer *w) {
	const char *word, *name;
	const void *def;
	for (int i = 0; cal_setup_device(w->setup, i, &word, &name, &def) == CAL_OK; i++) {
		const DeviceType *type = device_type_find(word);
		bool first = true;
		fputs(i ? "  " : "devices:\n  ", w->out);
		put_text(w, name);
		fputs(": {", w->out);
		put_named(w, &first, "type", word);
		for (int k = 0; k < type->table.count; k++) {
			const Field *field = &type->table.fields[k];
			if (field->kind == FIELD_NAME || field->kind == FIELD_TYPE || field->kind == FIELD_PULSES ||
			    field->kind == FIELD_MATERIAL || !is_needed(w, type, field, def))
				continue;
			put_key(w, &first, field->name);
			put_member(w, field, (const char *)def + field->offset, is_angle(w, type, field, def));
		}
		fputs("}\n", w->out);
	}
}
