// SPDX-License-Identifier: Apache-2.0
/*
 * campaign_shard.c — files to which processes append what cases gave.
 *
 * A shard has a header and records, each with its size and a checksum. A process that dies may leave half a record at the
 * end; it is not read, and cut off by the next one that writes there. A shard has one writer at a time: it holds a lock
 * on it, which ends with the process. Locks across machines are not to be relied on: the name of the machine is in the name
 * of the file. Numbers are stored as in memory; another byte order shows in the header.
 */
#define _GNU_SOURCE // flock, gethostname

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/serializer.h"
#include "campaign/campaign.h"

enum { RECORD_MARK = 0x65736163, MESSAGE_MOST = 4096, SHARDS_MOST = 100000 };

typedef struct ShardHead {
	char magic[8];
	uint32_t order, outputs;
	uint64_t fingerprint;
} ShardHead;

/* Followed by the outputs, the message, and the hash of all that. */
typedef struct RecordHead {
	uint32_t mark, size; // of the whole record
	int64_t k;
	int32_t status;
	uint32_t message; // bytes
} RecordHead;

static ShardHead head_of(const CalCampaign *campaign) {
	const CalPlanInfo *info = &campaign->plan->info;
	ShardHead head = {.order = 0x01020304, .outputs = (uint32_t)info->output_count, .fingerprint = info->fingerprint};
	memcpy(head.magic, "calcases", sizeof head.magic);
	return head;
}

static size_t record_size(const CalCampaign *campaign, size_t message) {
	return sizeof(RecordHead) + (size_t)campaign->plan->info.output_count * sizeof(double) + message + sizeof(uint64_t);
}

/* ---- reading ------------------------------------------------------------------------------------ */

/* The record at `at`, if it is whole: its size, else 0. */
static size_t record_check(const CalCampaign *campaign, const char *at, size_t left, RecordHead *head) {
	uint64_t hash;
	if (left < sizeof *head)
		return 0;
	memcpy(head, at, sizeof *head);
	if (head->mark != RECORD_MARK || head->message > MESSAGE_MOST ||
	    head->size != record_size(campaign, head->message) || head->size > left)
		return 0;
	memcpy(&hash, at + head->size - sizeof hash, sizeof hash);
	if (hash != serializer_hash(SERIALIZER_HASH_START, at, head->size - sizeof hash) || head->k < 0 ||
	    head->k >= campaign->plan->info.case_count || head->status < 0 || head->status >= CAL_CASE_MISSING)
		return 0;
	return head->size;
}

static bool record_note(CalCampaign *campaign, const char *at, const RecordHead *head) {
	const size_t count = (size_t)campaign->plan->info.output_count;
	double *outputs = pool_array(&campaign->results, count, sizeof *outputs);
	char *message = pool_text(&campaign->results, at + sizeof *head + count * sizeof *outputs, head->message);
	if (!outputs || !message)
		return false;
	memcpy(outputs, at + sizeof *head, count * sizeof *outputs);
	campaign_note(campaign, head->k, (CampaignCase){(CalCaseStatus)head->status, message, outputs});
	return true;
}

/* note: take the records down. *end: after the last whole one, 0 if not even the header is whole. */
static CalStatus scan(CalCampaign *campaign, const char *path, const char *text, size_t length, bool note, size_t *end,
                      CalError *error) {
	const ShardHead want = head_of(campaign);
	RecordHead head;
	*end = 0;
	if (length < sizeof want)
		return CAL_OK;
	if (memcmp(text, &want, sizeof want) != 0)
		return error_set(error, CAL_ERR_INPUT,
		                 "%.400s: these are results of another plan, model or version, or of a machine with another "
		                 "byte order; take another folder, or remove the file",
		                 path);
	*end = sizeof want;
	for (size_t size; (size = record_check(campaign, text + *end, length - *end, &head)) > 0; *end += size)
		if (note && !record_note(campaign, text + *end, &head))
			return error_set(error, CAL_ERR_MEMORY, "%.400s: out of memory", path);
	return CAL_OK;
}

/* All that a file holds, from the allocator. */
static CalStatus read_all(const CalCampaign *campaign, int file, const char *path, char **text, size_t *length,
                          CalError *error) {
	struct stat about;
	*text = NULL;
	*length = 0;
	if (fstat(file, &about) != 0)
		return error_set(error, CAL_ERR_IO, "%.400s: cannot be read: %s", path, strerror(errno));
	const size_t size = (size_t)about.st_size;
	*text = memory_alloc(&campaign->allocator, size);
	if (!*text)
		return error_set(error, CAL_ERR_MEMORY, "%.400s: out of memory", path);
	while (*length < size) {
		const ssize_t got = pread(file, *text + *length, size - *length, (off_t)*length);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return error_set(error, CAL_ERR_IO, "%.400s: cannot be read: %s", path, strerror(errno));
		if (got == 0)
			break;
		*length += (size_t)got;
	}
	return CAL_OK;
}

static CalStatus shard_read(CalCampaign *campaign, const char *path, CalError *error) {
	static const InputFile limits = {(uint64_t)1 << 36, "is it part of a campaign?", true};
	char why[INPUT_FILE_WHY];
	if (!input_file_check(path, &limits, why))
		return error_set(error, CAL_ERR_IO, "%.400s: %s", path, why);
	const int file = open(path, O_RDONLY | O_CLOEXEC);
	char *text;
	size_t length, end;
	if (file < 0)
		return error_set(error, CAL_ERR_IO, "%.400s: cannot be opened: %s", path, strerror(errno));
	CalStatus status = read_all(campaign, file, path, &text, &length, error);
	if (status == CAL_OK)
		status = scan(campaign, path, text, length, true, &end, error);
	memory_free(&campaign->allocator, text);
	close(file);
	return status;
}

CalStatus shards_read(CalCampaign *campaign, CalError *error) {
	DIR *folder = opendir(campaign->folder);
	CalStatus status = CAL_OK;
	if (!folder)
		return error_set(error, CAL_ERR_IO, "%.400s: the folder cannot be read: %s", campaign->folder, strerror(errno));
	for (struct dirent *entry; status == CAL_OK && (entry = readdir(folder)) != NULL;) {
		char path[1100];
		if (strncmp(entry->d_name, "shard-", 6) != 0)
			continue;
		status =
			campaign_path(campaign, entry->d_name, path, sizeof path)
				? shard_read(campaign, path, error)
				: error_set(error, CAL_ERR_ARGUMENT, "%.400s: the name of the folder is too long", campaign->folder);
	}
	closedir(folder);
	return status;
}

/* ---- writing ------------------------------------------------------------------------------------ */

/* Cuts the torn end off, or begins the file. */
static CalStatus write_shard_head(CalCampaign *campaign, int file, const char *path, CalError *error) {
	const ShardHead head = head_of(campaign);
	char *text;
	size_t length, end = 0;
	CalStatus status = read_all(campaign, file, path, &text, &length, error);
	if (status == CAL_OK)
		status = scan(campaign, path, text, length, false, &end, error);
	memory_free(&campaign->allocator, text);
	if (status != CAL_OK)
		return status;
	if ((end < length && ftruncate(file, (off_t)end) != 0) ||
	    (end == 0 && !file_write_all(file, (const char *)&head, sizeof head)))
		return error_set(error, CAL_ERR_IO, "%.400s: cannot be written: %s", path, strerror(errno));
	return CAL_OK;
}

/* Opens the first shard of this machine that nobody else writes to. */
static CalStatus shard_open(CalCampaign *campaign, CalError *error) {
	char host[65] = "", name[100], path[1100];
	if (gethostname(host, sizeof host - 1) != 0 || !host[0] || strchr(host, '/'))
		snprintf(host, sizeof host, "host");
	for (int i = 0; i < SHARDS_MOST; i++) {
		snprintf(name, sizeof name, "shard-%s-%03d", host, i);
		if (!campaign_path(campaign, name, path, sizeof path))
			return error_set(error, CAL_ERR_ARGUMENT, "%.400s: the name of the folder is too long", campaign->folder);
		const int file = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
		if (file < 0)
			return error_set(error, CAL_ERR_IO, "%.400s: cannot be written: %s", path, strerror(errno));
		if (flock(file, LOCK_EX | LOCK_NB) != 0) {
			close(file);
			continue;
		}
		const CalStatus status = write_shard_head(campaign, file, path, error);
		if (status == CAL_OK)
			campaign->shard = file;
		else
			close(file);
		return status;
	}
	return error_set(error, CAL_ERR_IO, "%.400s: no file can be locked there", campaign->folder);
}

static bool make_room(CalCampaign *campaign, size_t size) {
	if (size <= campaign->capacity)
		return true;
	char *larger = memory_alloc(&campaign->allocator, size);
	if (!larger)
		return false;
	memory_free(&campaign->allocator, campaign->record);
	campaign->record = larger;
	campaign->capacity = size;
	return true;
}

CalStatus shard_append(CalCampaign *campaign, int64_t k, const CampaignCase *result, CalError *error) {
	const size_t outputs = (size_t)campaign->plan->info.output_count * sizeof(double);
	const size_t message = strlen(result->message) < MESSAGE_MOST ? strlen(result->message) : MESSAGE_MOST;
	const size_t size = record_size(campaign, message);
	const CalStatus status = campaign->shard >= 0 ? CAL_OK : shard_open(campaign, error);
	if (status != CAL_OK)
		return status;
	if (!make_room(campaign, size))
		return error_set(error, CAL_ERR_MEMORY, "%.400s: out of memory", campaign->folder);
	const RecordHead head = {RECORD_MARK, (uint32_t)size, k, (int32_t)result->status, (uint32_t)message};
	memcpy(campaign->record, &head, sizeof head);
	memcpy(campaign->record + sizeof head, result->outputs, outputs);
	memcpy(campaign->record + sizeof head + outputs, result->message, message);
	const uint64_t hash = serializer_hash(SERIALIZER_HASH_START, campaign->record, size - sizeof hash);
	memcpy(campaign->record + size - sizeof hash, &hash, sizeof hash);
	if (file_write_all(campaign->shard, campaign->record, size))
		return CAL_OK;
	const int cause = errno;
	close(campaign->shard); // whoever opens it again cuts off what is there of the record
	campaign->shard = -1;
	return error_set(error, CAL_ERR_IO, "%.400s: results cannot be written: %s; what was written until then is kept",
	                 campaign->folder, strerror(cause));
}
