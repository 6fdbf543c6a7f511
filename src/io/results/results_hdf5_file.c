// SPDX-License-Identifier: Apache-2.0
/*
 * results_hdf5_file.c — a file driver of HDF5 that leaves a readable file behind whatever happens to the process.
 *
 * In its mode for one writer and many readers (SWMR) HDF5 writes metadata in an order in which every prefix makes sense.
 * Two things of that mode stand in the way of whoever opens the file after a crash, and both are in the superblock: flags
 * that say that a writer is at work, and an end-of-file address that may be before the last blocks. This driver hands
 * the superblock on without the flags, and with the size of the file for its end; it makes the file longer in
 * steps, superblock first, so that no block is beyond that end. The superblock is 48 bytes and within one page, and
 * is replaced as a whole. When HDF5 closes the file, its true end is written and the file cut to it.
 *
 * After a write that failed (disk full) nothing is written any more, and HDF5 gets success: it can then close
 * the file, which stays as it was before the failure. Whoever writes asks for `cause`.
 */
#define _POSIX_C_SOURCE 200809L // pread, pwrite, ftruncate

#include <stdint.h>

#ifdef CALDER_WITH_HDF5

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/results/results_hdf5.h"

#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

/* The superblock, version 3: [HDF5 File Format Specification, II.A]. */
enum {
	SUPER_SIZE = 48,
	SUPER_VERSION_AT = 8,
	SUPER_FLAGS_AT = 11,
	SUPER_END_AT = 28,
	SUPER_CHECKSUM_AT = 44,
	SUPER_VERSION = 3,
};
static const unsigned char signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};

enum { GROWTH = 1 << 20 }; // the file becomes longer by at least this [bytes]

typedef struct SafeFile {
	H5FD_t base; // HDF5's own
	CrashSafe *state;
	int fd;
	haddr_t eoa;  // end of what HDF5 has allocated
	haddr_t size; // of the file
	int has_super, closing;
	unsigned char super[SUPER_SIZE]; // as HDF5 wrote it last
} SafeFile;

/* ---- the superblock ---------------------------------------------------------------------------- */

static uint32_t rotate(uint32_t x, int k) { return (x << k) | (x >> (32 - k)); }

static uint32_t little(const unsigned char *p, size_t count) {
	uint32_t value = 0;
	for (size_t i = 0; i < count; i++)
		value |= (uint32_t)p[i] << (8 * i);
	return value;
}

/* Bob Jenkins' lookup3, which HDF5 uses for metadata. */
static uint32_t checksum(const unsigned char *p, size_t length) {
	uint32_t a = 0xdeadbeef + (uint32_t)length, b = a, c = a;
	for (; length > 12; length -= 12, p += 12) {
		static const int turns[6] = {4, 6, 8, 16, 19, 4};
		uint32_t *word[3] = {&a, &b, &c};
		for (int i = 0; i < 3; i++)
			*word[i] += little(p + 4 * i, 4);
		for (int i = 0; i < 6; i++) { // a -= c, a ^= c turned, c += b; then the same with the letters moved on
			uint32_t *x = word[i % 3], *y = word[(i + 1) % 3], *z = word[(i + 2) % 3];
			*x -= *z;
			*x ^= rotate(*z, turns[i]);
			*z += *y;
		}
	}
	a += little(p, length < 4 ? length : 4);
	b += length > 4 ? little(p + 4, length < 8 ? length - 4 : 4) : 0;
	c += length > 8 ? little(p + 8, length - 8) : 0;
	c = (c ^ b) - rotate(b, 14);
	a = (a ^ c) - rotate(c, 11);
	b = (b ^ a) - rotate(a, 25);
	c = (c ^ b) - rotate(b, 16);
	a = (a ^ c) - rotate(c, 4);
	b = (b ^ a) - rotate(a, 14);
	c = (c ^ b) - rotate(b, 24);
	return c;
}

static void put_little(unsigned char *to, uint64_t value, int bytes) {
	for (int i = 0; i < bytes; i++)
		to[i] = (unsigned char)(value >> (8 * i));
}

/* ---- the disk ---------------------------------------------------------------------------------- */

static int fail(SafeFile *file, int cause) {
	if (!file->state->cause)
		file->state->cause = cause ? cause : EIO;
	return 0;
}

static int write_bytes(SafeFile *file, const void *from, size_t size, haddr_t at) {
	const char *bytes = from;
	while (size > 0) {
		ssize_t got = pwrite(file->fd, bytes, size, (off_t)at);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return fail(file, got < 0 ? errno : ENOSPC);
		bytes += got;
		size -= (size_t)got;
		at += (haddr_t)got;
	}
	return 1;
}

static int write_super(SafeFile *file, haddr_t end) {
	unsigned char block[SUPER_SIZE];
	if (!file->has_super)
		return 1;
	memcpy(block, file->super, sizeof block);
	block[SUPER_FLAGS_AT] = 0;
	put_little(block + SUPER_END_AT, end, 8);
	put_little(block + SUPER_CHECKSUM_AT, checksum(block, SUPER_CHECKSUM_AT), 4);
	return write_bytes(file, block, sizeof block, 0);
}

static int resize(SafeFile *file, haddr_t size) {
	if (ftruncate(file->fd, (off_t)size) != 0)
		return 0;
	file->size = size;
	return 1;
}

/* Room up to `end`, and a superblock that knows of it. */
static int make_room(SafeFile *file, haddr_t end) {
	if (end <= file->size)
		return 1;
	if (!resize(file, end + GROWTH) && !resize(file, end)) // the limit on the size of files may be in between
		return fail(file, errno);
	return write_super(file, file->size);
}

/* ---- the driver -------------------------------------------------------------------------------- */

static H5FD_t *safe_open(const char *name, unsigned flags, hid_t fapl, haddr_t maxaddr) {
	CrashSafe *const *info = H5Pget_driver_info(fapl);
	(void)maxaddr;
	if (!info || !*info || !(flags & H5F_ACC_TRUNC))
		return NULL;
	SafeFile *file = calloc(1, sizeof *file);
	if (!file)
		return NULL;
	file->state = *info;
	file->fd = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (file->fd >= 0)
		return &file->base;
	fail(file, errno);
	free(file);
	return NULL;
}

static herr_t safe_close(H5FD_t *base) {
	SafeFile *file = (SafeFile *)base;
	if (close(file->fd) != 0)
		fail(file, errno);
	free(file);
	return 0;
}

/* The same file: HDF5 refuses to open one twice. */
static int safe_compare(const H5FD_t *a, const H5FD_t *b) {
	struct stat x, y;
	if (fstat(((const SafeFile *)a)->fd, &x) != 0 || fstat(((const SafeFile *)b)->fd, &y) != 0)
		return a < b ? -1 : a > b;
	if (x.st_dev != y.st_dev)
		return x.st_dev < y.st_dev ? -1 : 1;
	return x.st_ino < y.st_ino ? -1 : x.st_ino > y.st_ino;
}

/* No accumulation of metadata: it would change the order of the writes. */
static herr_t safe_query(const H5FD_t *base, unsigned long *flags) {
	(void)base;
	*flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_SUPPORTS_SWMR_IO |
	         H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
	return 0;
}

static haddr_t safe_get_eoa(const H5FD_t *base, H5FD_mem_t type) {
	(void)type;
	return ((const SafeFile *)base)->eoa;
}

static herr_t safe_set_eoa(H5FD_t *base, H5FD_mem_t type, haddr_t eoa) {
	(void)type;
	((SafeFile *)base)->eoa = eoa;
	return 0;
}

static haddr_t safe_get_eof(const H5FD_t *base, H5FD_mem_t type) {
	(void)type;
	return ((const SafeFile *)base)->size;
}

static herr_t safe_read(H5FD_t *base, H5FD_mem_t type, hid_t dxpl, haddr_t addr, size_t size, void *to) {
	SafeFile *file = (SafeFile *)base;
	char *bytes = to;
	(void)type;
	(void)dxpl;
	while (size > 0) {
		ssize_t got = pread(file->fd, bytes, size, (off_t)addr);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (got == 0) { // after the end there are zeros
			memset(bytes, 0, size);
			break;
		}
		bytes += got;
		size -= (size_t)got;
		addr += (haddr_t)got;
	}
	return 0;
}

static herr_t safe_write(H5FD_t *base, H5FD_mem_t type, hid_t dxpl, haddr_t addr, size_t size, const void *from) {
	SafeFile *file = (SafeFile *)base;
	const unsigned char *bytes = from;
	(void)type;
	(void)dxpl;
	if (file->state->cause || !make_room(file, addr + size))
		return 0;
	if (addr == 0 && size >= SUPER_SIZE && memcmp(bytes, signature, sizeof signature) == 0 &&
	    bytes[SUPER_VERSION_AT] == SUPER_VERSION) {
		memcpy(file->super, bytes, SUPER_SIZE);
		file->has_super = 1;
		if (!write_super(file, file->closing ? file->eoa : file->size))
			return 0;
		addr += SUPER_SIZE;
		size -= SUPER_SIZE;
		bytes += SUPER_SIZE;
	}
	write_bytes(file, bytes, size, addr);
	return 0;
}

/* The superblock first: its end must not be beyond that of the file. */
static herr_t safe_truncate(H5FD_t *base, hid_t dxpl, hbool_t closing) {
	SafeFile *file = (SafeFile *)base;
	(void)dxpl;
	if (file->state->cause || !closing)
		return 0;
	file->closing = 1;
	if (make_room(file, file->eoa) && write_super(file, file->eoa) && file->size > file->eoa &&
	    !resize(file, file->eoa))
		fail(file, errno);
	return 0;
}

static herr_t safe_lock(H5FD_t *base, hbool_t for_writing) {
	(void)base;
	(void)for_writing;
	return 0;
}

static herr_t safe_unlock(H5FD_t *base) {
	(void)base;
	return 0;
}

static const H5FD_class_t safe_class = {
#if H5_VERSION_GE(1, 13, 0)
	.version = H5FD_CLASS_VERSION,
	.value = (H5FD_class_value_t)511,
#endif
	.name = "calder_results",
	.maxaddr = INT64_MAX,
	.fc_degree = H5F_CLOSE_STRONG,
	.fapl_size = sizeof(CrashSafe *),
	.open = safe_open,
	.close = safe_close,
	.cmp = safe_compare,
	.query = safe_query,
	.get_eoa = safe_get_eoa,
	.set_eoa = safe_set_eoa,
	.get_eof = safe_get_eof,
	.read = safe_read,
	.write = safe_write,
	.truncate = safe_truncate,
	.lock = safe_lock,
	.unlock = safe_unlock,
	.fl_map = H5FD_FLMAP_DICHOTOMY,
};

int crash_safe_create(hid_t access, CrashSafe *state) {
	*state = (CrashSafe){.driver = H5FDregister(&safe_class)};
	return state->driver >= 0 && H5Pset_driver(access, state->driver, &state) >= 0;
}

void crash_safe_release(CrashSafe *state) {
	if (state->driver >= 0)
		H5FDunregister(state->driver);
	state->driver = -1;
}

hid_t hdf5_create_whole(const char *path, hid_t create, hid_t access, CrashSafe *state) {
	const bool ready = crash_safe_create(access, state);
	return ready ? H5Fcreate(path, H5F_ACC_TRUNC, create, access) : H5I_INVALID_HID;
}

bool hdf5_close_whole(hid_t file, CrashSafe *state) {
	const bool closed = file >= 0 && H5Fclose(file) >= 0;
	crash_safe_release(state);
	return closed && !state->cause;
}

#endif
