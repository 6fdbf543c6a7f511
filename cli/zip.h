// SPDX-License-Identifier: Apache-2.0
/*
 * zip.h — archives whose files are stored as they are, with a fixed date: the same files give the same bytes.
 */
#ifndef CALDER_CLI_ZIP_H
#define CALDER_CLI_ZIP_H

#include <stdint.h>
#include <stdio.h>

enum { ZIP_MOST = 16 }; // files of an archive

typedef struct ZipEntry {
	const char *name;
	uint32_t crc, size, offset;
} ZipEntry;

typedef struct ZipWriter {
	FILE *out;
	ZipEntry entries[ZIP_MOST];
	int count;
	uint32_t offset; // of the next byte
	int full;        // nonzero: too many files, or too large for the format
} ZipWriter;

/** name has to outlive the writer. */
void zip_add(ZipWriter *zip, const char *name, const void *data, size_t size);
/** Writes the list of files. Nonzero: it is `full`; whether all was written the stream knows. */
int zip_finish(ZipWriter *zip);

#endif
