// SPDX-License-Identifier: Apache-2.0
/*
 * mjcf_write_tendon.c — loads on several joints as one actuator on a fixed tendon, the inverse of what the reader makes of such
 * actuators.
 *
 * A force f along a tendon of the length L = sum c_k q_k is the effort c_k f on each of its joints. With f affine in L and L',
 * the loads have the formulas (c_k)*(F) with the same text F, whose coefficients of q_k and u_k are in proportion to c_k.
 */
#include <math.h>
#include <string.h>

#include "io/mjcf/mjcf_write.h"

static const double proportional = 1e-13; // relative
enum { MOST_TEXT = 4096 };

/* The reader calls the loads NAME_JOINT; the length of NAME, or of all where that does not end with the joint. */
static size_t base_length(const Export *ex, const CalAppliedLoadDef *load) {
	const char *joint = cal_desc_joint(ex->desc, load->joint, NULL, NULL)->name;
	const size_t length = strlen(load->name), tail = strlen(joint) + 1;
	const bool has_tail =
		length > tail && load->name[length - tail] == '_' && strcmp(load->name + length - tail + 1, joint) == 0;
	return has_tail ? length - tail : length;
}

/* Without coordinates in it, a text may be that of several forces. */
static bool is_same_force(const Export *ex, const CalAppliedLoadDef *a, const CalAppliedLoadDef *b, bool varies) {
	const size_t length = base_length(ex, a);
	return varies || (length == base_length(ex, b) && memcmp(a->name, b->name, length) == 0);
}

static bool has_coordinates(const char *text, size_t length) {
	for (size_t i = 0; i + 1 < length; i++)
		if ((text[i] == 'q' || text[i] == 'u') && text[i + 1] == '(')
			return true;
	return false;
}

/* A load at all times on a joint with one coordinate, as a factor and the rest. */
static bool is_part(const Export *ex, const CalAppliedLoadDef *def, int *link, double *factor, const char **inner,
                    size_t *length) {
	const CalJointDef *joint = cal_desc_joint(ex->desc, def->joint, NULL, NULL);
	return joint && export_is_always_on(def) && def->effort.formula && cal_joint_speed_count(joint) == 1 &&
	       export_find_axis(ex, def->joint, def->dof, link) &&
	       mjcf_split_factor(def->effort.formula, factor, inner, length);
}

/* All loads with the same text, which is that of `load`; false: there are too many, or two on one joint. */
static bool collect_parts(const Export *ex, const CalAppliedLoadDef *load, const char *inner, size_t length,
                          MjcfTendonForce *out) {
	const bool varies = has_coordinates(inner, length);
	const char *type;
	const void *def;
	out->count = 0;
	for (int i = 0; cal_setup_device(ex->setup, i, &type, NULL, &def) == CAL_OK; i++) {
		const char *other;
		size_t other_length;
		double factor;
		int link;
		if (strcmp(type, "applied_load") != 0 || !is_part(ex, def, &link, &factor, &other, &other_length) ||
		    other_length != length || memcmp(other, inner, length) != 0 || !is_same_force(ex, load, def, varies))
			continue;
		for (int k = 0; k < out->count; k++)
			if (out->links[k] == link)
				return false;
		if (out->count == MJCF_MOST_TERMS)
			return false;
		out->links[out->count] = link;
		out->factors[out->count] = factor;
		out->loads[out->count++] = def;
	}
	return out->count > 1;
}

static bool is_proportional(double value, double rate, double factor) {
	return fabs(value - rate * factor) <= proportional * fabs(value);
}

/* f from the coefficients of the first joint; those of the others must follow. */
static bool read_force(const Export *ex, const char *text, MjcfTendonForce *out) {
	const char *names[MJCF_MOST_TERMS];
	for (int i = 0; i < out->count; i++)
		names[i] = cal_desc_joint(ex->desc, out->loads[i]->joint, NULL, NULL)->name;
	for (int i = 0; i < out->count; i++) {
		MjcfAffine a;
		if (!mjcf_read_affine(text, names, out->count, i, &a))
			return false;
		if (i == 0)
			out->force =
				(MjcfAffine){a.constant, a.position / out->factors[0], a.speed / out->factors[0], a.lower, a.upper};
		if (!is_proportional(a.position, out->force.position, out->factors[i]) ||
		    !is_proportional(a.speed, out->force.speed, out->factors[i]))
			return false;
	}
	return true;
}

bool mjcf_find_tendon_force(const Export *ex, const CalAppliedLoadDef *def, MjcfTendonForce *out) {
	char text[MOST_TEXT], rest[MOST_TEXT + 4];
	const char *inner;
	size_t length;
	double factor;
	int link;
	if (!def->joint.value || !is_part(ex, def, &link, &factor, &inner, &length) || length >= sizeof text ||
	    !collect_parts(ex, def, inner, length, out))
		return false;
	memcpy(text, inner, length);
	text[length] = '\0';
	if (mjcf_split_input(text, &out->gain, &out->control, rest))
		return read_force(ex, rest, out);
	out->gain = out->control = 0;
	return read_force(ex, text, out);
}

static const char *name_of(Export *ex, const MjcfTendonForce *force) {
	return export_format(ex, "%.*s", (int)base_length(ex, force->loads[0]), force->loads[0]->name);
}

/* Unlike those of springs, which are tendons and devices, and of couplings. */
static const char *tendon_name(MjcfOut *m, const MjcfTendonForce *force) {
	const char *base = name_of(m->ex, force), *name = base ? export_format(m->ex, "%s_tendon", base) : NULL;
	do
		name = name ? export_new_name(m->ex, &m->device_names, name) : NULL;
	while (name && !export_name_is_free(m->ex, &m->tendon_names, name));
	return name;
}

void mjcf_put_force_tendon(MjcfOut *m, const MjcfTendonForce *force) {
	const char *name = tendon_name(m, force);
	m->force_tendons[m->force_tendon_count++] = name;
	export_open(m->ex, "fixed");
	export_attribute(m->ex, "name", name);
	for (int i = 0; i < force->count; i++) {
		export_open(m->ex, "joint");
		export_attribute(m->ex, "joint", m->ex->links[force->links[i]].joint_name);
		export_attribute_number(m->ex, "coef", force->factors[i]);
		export_close(m->ex, "joint");
	}
	export_close(m->ex, "fixed");
}

void mjcf_put_tendon_actuator(MjcfOut *m, const MjcfTendonForce *force) {
	const MjcfAffine *f = &force->force;
	const char *name = name_of(m->ex, force);
	export_open(m->ex, "general");
	export_attribute(m->ex, "name", export_new_name(m->ex, &m->device_names, name));
	export_attribute(m->ex, "tendon", m->force_tendons[m->force_actuator_count++]);
	export_attribute_number(m->ex, "gainprm", force->gain);
	export_attribute(m->ex, "biastype", "affine");
	export_attribute_numbers(m->ex, "biasprm", (const double[3]){f->constant, f->position, f->speed}, 3);
	if (isfinite(f->lower)) {
		export_attribute(m->ex, "forcelimited", "true");
		export_attribute_numbers(m->ex, "forcerange", (const double[2]){f->lower, f->upper}, 2);
	}
	export_close(m->ex, "general");
	export_note(m->ex, CAL_IMPORT_CHANGED, "device", force->loads[0]->name, force->loads[0]->place,
	            "it and %d other load%s are one actuator on a tendon", force->count - 1, force->count == 2 ? "" : "s");
	m->controls[m->control_count++] = force->control;
}
