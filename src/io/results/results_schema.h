// SPDX-License-Identifier: Apache-2.0
/*
 * results_schema.h — objects of an HDF5 result file that somebody else may have made: each is opened only if it is what
 * docs/results.md says, in kind, rank, type and storage.
 *
 * Nothing outside the file is read for it: links are hard links, and data is neither external nor virtual storage. A
 * crafted file could otherwise bring any file of the reader's into a page. Of a table in parts HDF5 is only asked which files
 * these are.
 */
#ifndef CALDER_IO_RESULTS_RESULTS_SCHEMA_H
#define CALDER_IO_RESULTS_RESULTS_SCHEMA_H

#include <stdbool.h>

#include <hdf5.h>

typedef enum SchemaType { SCHEMA_TEXT, SCHEMA_INTEGER, SCHEMA_FLOAT, SCHEMA_RECORD } SchemaType;

/** The dataset at a path ("/status/dropped") with a type of this class and so many dimensions; negative: there is none. */
hid_t schema_dataset(hid_t file, const char *path, SchemaType type, int rank);
/** A table in parts (results_parts.h), of which only attributes and creation properties may be read; negative: none. */
hid_t schema_joined_table(hid_t file, const char *path);
/** An attribute of this class; negative: there is none. */
hid_t schema_attribute(hid_t object, const char *name, SchemaType type);
/** True if the file says that it is a result file of a layout that this library knows. */
bool schema_is_results(hid_t file);
/** The type of a text in memory; to be closed. */
hid_t schema_text_type(void);

#endif
