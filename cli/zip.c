// SPDX-License-Identifier: Apache-2.0
/*
 * zip.c — see zip.h. The format: a header and the bytes of each file, then a list of the files, then where the list is.
 */
#include "zip.h"

#include <string.h>

enum {
	LOCAL_HEADER = 0x04034b50,
	LISTED_HEADER = 0x02014b50,
	END_OF_LIST = 0x06054b50,
	VERSION = 20,     // of the format: 2.0
	MADE_ON = 3 << 8, // Unix
	FIRST_DAY = 0x21, // 1980-01-01
	UTF8 = 1 << 11,
};

static uint32_t crc32_of(const unsigned char *data, size_t size) {
	uint32_t crc = 0xffffffffU;
	for (size_t i = 0; i < size; i++) {
		crc ^= data[i];
		for (int bit = 0; bit < 8; bit++)
			crc = (crc >> 1) ^ ((crc & 1) ? 0xedb88320U : 0);
	}
	return ~crc;
}

/* The least significant byte first. */
static void put(ZipWriter *zip, uint32_t value, int bytes) {
	for (int i = 0; i < bytes; i++, value >>= 8)
		putc((int)(value & 0xff), zip->out);
	zip->offset += (uint32_t)bytes;
}

static void put_bytes(ZipWriter *zip, const void *data, size_t size) {
	fwrite(data, 1, size, zip->out);
	zip->offset += (uint32_t)size;
}

/* What both headers have: version needed, flags, no compression, time, date, checksum, sizes, length of the name, no extra. */
static void put_common(ZipWriter *zip, const ZipEntry *entry) {
	put(zip, VERSION, 2), put(zip, UTF8, 2), put(zip, 0, 2);
	put(zip, 0, 2), put(zip, FIRST_DAY, 2);
	put(zip, entry->crc, 4), put(zip, entry->size, 4), put(zip, entry->size, 4);
	put(zip, (uint32_t)strlen(entry->name), 2), put(zip, 0, 2);
}

void zip_add(ZipWriter *zip, const char *name, const void *data, size_t size) {
	const size_t most = INT32_MAX; // all readers agree up to 2 GiB
	zip->full |= zip->count == ZIP_MOST || size > most || zip->offset + size > most;
	if (zip->full)
		return;
	ZipEntry *entry = &zip->entries[zip->count++];
	*entry = (ZipEntry){name, crc32_of(data, size), (uint32_t)size, zip->offset};
	put(zip, LOCAL_HEADER, 4);
	put_common(zip, entry);
	put_bytes(zip, name, strlen(name));
	put_bytes(zip, data, size);
}

int zip_finish(ZipWriter *zip) {
	const uint32_t list = zip->offset;
	for (int i = 0; i < zip->count; i++) {
		const ZipEntry *entry = &zip->entries[i];
		put(zip, LISTED_HEADER, 4), put(zip, MADE_ON | VERSION, 2);
		put_common(zip, entry);
		put(zip, 0, 2), put(zip, 0, 2), put(zip, 0, 2); // no comment, first disk, bytes
		put(zip, 0100644U << 16, 4), put(zip, entry->offset, 4);
		put_bytes(zip, entry->name, strlen(entry->name));
	}
	const uint32_t length = zip->offset - list;
	put(zip, END_OF_LIST, 4), put(zip, 0, 2), put(zip, 0, 2);
	put(zip, (uint32_t)zip->count, 2), put(zip, (uint32_t)zip->count, 2);
	put(zip, length, 4), put(zip, list, 4), put(zip, 0, 2);
	return zip->full;
}
