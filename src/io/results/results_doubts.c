// SPDX-License-Identifier: Apache-2.0
/*
 * results_doubts.c — what there is to doubt in a run, as a dataset of an HDF5 file: one record for each doubt.
 *
 * Texts are of fixed length, because the mode for one writer and many readers cannot add texts of variable length.
 */
#include <calder/doubt.h>

#ifdef CALDER_WITH_HDF5

#include <stdlib.h>
#include <string.h>

#include "io/results/results_schema.h"

/* A record as it is in memory while it is written or read. */
typedef struct DoubtRecord {
	char kind[16];
	char object[sizeof((CalDoubt *)0)->object];
	double time, value, limit;
	int64_t count;
	char text[sizeof((CalDoubt *)0)->text];
} DoubtRecord;

static void insert_text(hid_t record, const char *name, size_t at, size_t size) {
	hid_t type = H5Tcopy(H5T_C_S1);
	H5Tset_size(type, size);
	H5Tset_cset(type, H5T_CSET_UTF8);
	H5Tinsert(record, name, at, type);
	H5Tclose(type);
}

static hid_t record_type(void) {
	hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(DoubtRecord));
	insert_text(type, "kind", offsetof(DoubtRecord, kind), sizeof((DoubtRecord *)0)->kind);
	insert_text(type, "object", offsetof(DoubtRecord, object), sizeof((DoubtRecord *)0)->object);
	H5Tinsert(type, "time", offsetof(DoubtRecord, time), H5T_NATIVE_DOUBLE);
	H5Tinsert(type, "value", offsetof(DoubtRecord, value), H5T_NATIVE_DOUBLE);
	H5Tinsert(type, "limit", offsetof(DoubtRecord, limit), H5T_NATIVE_DOUBLE);
	H5Tinsert(type, "count", offsetof(DoubtRecord, count), H5T_NATIVE_INT64);
	insert_text(type, "text", offsetof(DoubtRecord, text), sizeof((DoubtRecord *)0)->text);
	return type;
}

hid_t doubts_dataset(hid_t file) {
	hsize_t size = 0, most = H5S_UNLIMITED, chunk = 8;
	hid_t type = record_type(), space = H5Screate_simple(1, &size, &most), create = H5Pcreate(H5P_DATASET_CREATE);
	H5Pset_chunk(create, 1, &chunk);
	hid_t dataset = H5Dcreate2(file, "doubts", type, space, H5P_DEFAULT, create, H5P_DEFAULT);
	H5Pclose(create);
	H5Sclose(space);
	H5Tclose(type);
	return dataset;
}

bool doubts_write(hid_t dataset, const CalDoubt *doubts, int count) {
	const hsize_t size = (hsize_t)count;
	if (count == 0)
		return true;
	DoubtRecord *records = calloc((size_t)count, sizeof *records);
	for (int i = 0; records && i < count; i++) {
		DoubtRecord *to = &records[i];
		const char *kind = cal_doubt_name(doubts[i].kind);
		strncpy(to->kind, kind ? kind : "", sizeof to->kind - 1);
		memcpy(to->object, doubts[i].object, sizeof to->object);
		memcpy(to->text, doubts[i].text, sizeof to->text);
		to->time = doubts[i].time;
		to->value = doubts[i].value;
		to->limit = doubts[i].limit;
		to->count = doubts[i].count;
	}
	hid_t type = record_type();
	const bool done = records && H5Dset_extent(dataset, &size) >= 0 &&
	                  H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, records) >= 0;
	H5Tclose(type);
	free(records);
	return done;
}

/* Of a kind that this version does not know: of the caller. */
static CalDoubtKind kind_of(const char *name) {
	for (int i = 0; i < CAL_DOUBT_KINDS; i++)
		if (strcmp(name, cal_doubt_name((CalDoubtKind)i)) == 0)
			return (CalDoubtKind)i;
	return CAL_DOUBT_OTHER;
}

static CalDoubt *doubts_of(DoubtRecord *records, hssize_t count) {
	CalDoubt *doubts = calloc((size_t)count + 1, sizeof *doubts);
	for (hssize_t i = 0; doubts && i < count; i++) {
		DoubtRecord *from = &records[i];
		from->kind[sizeof from->kind - 1] = 0;
		from->object[sizeof from->object - 1] = from->text[sizeof from->text - 1] = 0;
		doubts[i] = (CalDoubt){.kind = kind_of(from->kind),
		                       .time = from->time,
		                       .value = from->value,
		                       .limit = from->limit,
		                       .count = from->count};
		memcpy(doubts[i].object, from->object, sizeof from->object);
		memcpy(doubts[i].text, from->text, sizeof from->text);
	}
	return doubts;
}

bool doubts_read(hid_t file, CalDoubt **doubts, int *count) {
	enum { MOST = 1 << 16 };
	*doubts = NULL;
	*count = 0;
	if (H5Lexists(file, "/doubts", H5P_DEFAULT) <= 0)
		return true;
	hid_t dataset = schema_dataset(file, "/doubts", SCHEMA_RECORD, 1), space = H5Dget_space(dataset),
		  type = record_type();
	const hssize_t size = space >= 0 ? H5Sget_simple_extent_npoints(space) : -1;
	DoubtRecord *records = size >= 0 && size < MOST ? calloc((size_t)size + 1, sizeof *records) : NULL;
	const bool done = records && (size == 0 || H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, records) >= 0);
	if (done)
		*doubts = doubts_of(records, size);
	*count = *doubts ? (int)size : 0;
	free(records);
	H5Tclose(type);
	H5Sclose(space);
	H5Dclose(dataset);
	return done && *doubts;
}

#endif
