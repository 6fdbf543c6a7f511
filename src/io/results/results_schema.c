// SPDX-License-Identifier: Apache-2.0
/*
 * results_schema.c — see results_schema.h.
 */
#include <calder/base.h>

#ifdef CALDER_WITH_HDF5

#include <string.h>

#include "io/results/results_hdf5.h"
#include "io/results/results_schema.h"

hid_t schema_text_type(void) {
	hid_t type = H5Tcopy(H5T_C_S1);
	H5Tset_size(type, H5T_VARIABLE);
	H5Tset_cset(type, H5T_CSET_UTF8);
	return type;
}

/* Closes the type. */
static bool type_is(hid_t type, SchemaType wanted) {
	const H5T_class_t is = type >= 0 ? H5Tget_class(type) : H5T_NO_CLASS;
	const bool fits = wanted == SCHEMA_TEXT      ? is == H5T_STRING && H5Tis_variable_str(type) > 0
	                  : wanted == SCHEMA_INTEGER ? is == H5T_INTEGER
	                  : wanted == SCHEMA_FLOAT   ? is == H5T_FLOAT
	                                             : is == H5T_COMPOUND;
	H5Tclose(type);
	return fits;
}

/* Every step of an absolute path is a hard link of this file. */
static bool path_is_inside(hid_t file, const char *path) {
	char part[256];
	const size_t length = strlen(path);
	if (length >= sizeof part)
		return false;
	for (size_t i = 1; i <= length; i++) {
		if (path[i] != '/' && path[i])
			continue;
		memcpy(part, path, i);
		part[i] = '\0';
		H5L_info_t link;
		if (H5Lexists(file, part, H5P_DEFAULT) <= 0 || H5Lget_info(file, part, &link, H5P_DEFAULT) < 0 ||
		    link.type != H5L_TYPE_HARD)
			return false;
	}
	return true;
}

/* Layout of a dataset that no other file holds as a block; an error of HDF5 otherwise. */
static H5D_layout_t layout_of(hid_t dataset) {
	const hid_t list = H5Dget_create_plist(dataset);
	const H5D_layout_t layout = list >= 0 && H5Pget_external_count(list) == 0 ? H5Pget_layout(list) : H5D_LAYOUT_ERROR;
	H5Pclose(list);
	return layout;
}

static bool storage_is_inside(hid_t dataset) {
	const H5D_layout_t layout = layout_of(dataset);
	return layout >= 0 && layout != H5D_VIRTUAL;
}

static bool rank_is(hid_t dataset, int rank) {
	const hid_t space = H5Dget_space(dataset);
	const bool fits = space >= 0 && H5Sis_simple(space) > 0 && H5Sget_simple_extent_type(space) != H5S_NULL &&
	                  H5Sget_simple_extent_ndims(space) == rank;
	H5Sclose(space);
	return fits;
}

hid_t schema_dataset(hid_t file, const char *path, SchemaType type, int rank) {
	if (!path_is_inside(file, path))
		return -1;
	const hid_t dataset = H5Dopen2(file, path, H5P_DEFAULT);
	if (dataset < 0)
		return -1;
	if (storage_is_inside(dataset) && rank_is(dataset, rank) && type_is(H5Dget_type(dataset), type))
		return dataset;
	H5Dclose(dataset);
	return -1;
}

/* Its dataspace is not asked for: HDF5 would open the parts to find out how many rows they have. */
hid_t schema_joined_table(hid_t file, const char *path) {
	const hid_t dataset = path_is_inside(file, path) ? H5Dopen2(file, path, H5P_DEFAULT) : -1;
	if (dataset < 0 || (layout_of(dataset) == H5D_VIRTUAL && type_is(H5Dget_type(dataset), SCHEMA_FLOAT)))
		return dataset;
	H5Dclose(dataset);
	return -1;
}

hid_t schema_attribute(hid_t object, const char *name, SchemaType type) {
	const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
	if (attribute < 0 || type_is(H5Aget_type(attribute), type))
		return attribute;
	H5Aclose(attribute);
	return -1;
}

static hssize_t attribute_count(hid_t attribute) {
	const hid_t space = attribute >= 0 ? H5Aget_space(attribute) : -1;
	const hssize_t count = space >= 0 ? H5Sget_simple_extent_npoints(space) : -1;
	H5Sclose(space);
	return count;
}

static bool format_is_ours(hid_t file) {
	const hid_t attribute = schema_attribute(file, "format", SCHEMA_TEXT), type = schema_text_type();
	char *text = NULL;
	const bool is = attribute_count(attribute) == 1 && H5Aread(attribute, type, &text) >= 0 && text &&
	                strcmp(text, HDF5_RESULTS_FORMAT) == 0;
	H5free_memory(text);
	H5Tclose(type);
	H5Aclose(attribute);
	return is;
}

bool schema_is_results(hid_t file) {
	const hid_t attribute = schema_attribute(file, "format_version", SCHEMA_INTEGER);
	int version = 0;
	const bool read = attribute_count(attribute) == 1 && H5Aread(attribute, H5T_NATIVE_INT, &version) >= 0;
	H5Aclose(attribute);
	return read && version == HDF5_RESULTS_VERSION && format_is_ours(file);
}

#endif
