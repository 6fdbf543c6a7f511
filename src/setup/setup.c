// SPDX-License-Identifier: Apache-2.0
/*
 * setup.c — making and releasing a setup, its copies, and what is known of where it comes from.
 */
#include "setup/setup.h"

#include <string.h>

#include "base/text_reader.h"

/* ---- copies -------------------------------------------------------------------------------------- */

CalStatus setup_no_memory(const CalSetup *setup, CalError *error) {
	return error_set(error, CAL_ERR_MEMORY, "%.200s: out of memory", setup->name);
}

bool setup_copy_text(CalSetup *setup, const char **text) {
	if (*text)
		*text = pool_text(&setup->pool, *text, strlen(*text));
	else
		return true;
	return *text != NULL;
}

void *setup_copy_array(CalSetup *setup, const void *items, size_t count, size_t size) {
	void *copy = pool_array(&setup->pool, count, size);
	if (copy && count)
		memcpy(copy, items, count * size);
	return copy;
}

bool setup_copy_doubles(CalSetup *setup, const double **values, size_t count) {
	if (*values)
		*values = setup_copy_array(setup, *values, count, sizeof **values);
	else
		return true;
	return *values != NULL;
}

bool setup_copy_table(CalSetup *setup, CalTable *table) {
	const size_t count = table->count > 0 ? (size_t)table->count : 0;
	return setup_copy_doubles(setup, &table->time, count) && setup_copy_doubles(setup, &table->value, count);
}

bool setup_copy_function(CalSetup *setup, CalTimeFunction *function) {
	return setup_copy_text(setup, &function->formula) && setup_copy_table(setup, &function->table);
}

bool setup_room(const CalSetup *setup, void **array, int count, int *capacity, size_t size) {
	void *moved = array_reserve(&setup->allocator, *array, count, 1, capacity, size);
	if (moved)
		*array = moved;
	return moved != NULL;
}

bool setup_append_text(CalSetup *setup, TextList *list, const char *text) {
	if (!setup_copy_text(setup, &text) ||
	    !setup_room(setup, (void **)(void *)&list->items, list->count, &list->capacity, sizeof *list->items))
		return false;
	list->items[list->count++] = text;
	return true;
}

uint32_t setup_find_name(const CalSetup *setup, const NameIndex *index, const char *name,
                         const char *(*name_at)(const CalSetup *setup, uint32_t index)) {
	uint32_t cursor = 0, value;
	while ((value = name_index_next(index, name_hash(0, name, strlen(name)), &cursor)) != 0)
		if (strcmp(name_at(setup, value - 1), name) == 0)
			return value;
	return 0;
}

/* ---- the setup ------------------------------------------------------------------------------------- */

CalStatus cal_setup_create(const CalAllocator *allocator, CalSetup **setup) {
	if (!setup)
		return CAL_ERR_ARGUMENT;
	*setup = NULL;
	if (!allocator_is_valid(allocator))
		return CAL_ERR_ARGUMENT;
	const CalAllocator source = allocator_or_default(allocator);
	CalSetup *made = memory_alloc(&source, sizeof *made);
	if (!made)
		return CAL_ERR_MEMORY;
	*made = (CalSetup){.allocator = source, .name = "setup", .run = {.title = "", .method.method = CAL_METHOD_DEFAULT}};
	pool_init(&made->pool, &source);
	const CalStatus status = cal_desc_create(&source, &made->desc);
	if (status == CAL_OK)
		*setup = made;
	else
		cal_setup_destroy(made);
	return status;
}

static void free_lists(CalSetup *setup) {
	const CalAllocator *allocator = &setup->allocator;
	void *const lists[] = {setup->states,
	                       setup->state_of,
	                       setup->loads,
	                       setup->devices,
	                       setup->motions,
	                       setup->subsystems,
	                       setup->open_loops,
	                       setup->events,
	                       setup->made,
	                       setup->instances,
	                       (void *)setup->interface_nodes.items,
	                       (void *)setup->sources.items,
	                       (void *)setup->warnings.items,
	                       setup->import_notes};
	for (int i = 0; i < setup->visual_count; i++)
		memory_free(allocator, setup->visuals[i].items);
	memory_free(allocator, setup->visuals);
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		memory_free(allocator, lists[i]);
	name_index_free(allocator, &setup->device_names);
	name_index_free(allocator, &setup->event_names);
}

void setup_set_source(CalSetup *setup, void *source, CalDestroyFn destroy) {
	if (setup->source.object)
		setup->source.destroy(setup->source.object);
	setup->source = (KeptObject){.object = source, .destroy = destroy};
}

void cal_setup_destroy(CalSetup *setup) {
	if (!setup)
		return;
	const CalAllocator allocator = setup->allocator;
	cal_desc_destroy(setup->desc);
	for (const KeptObject *kept = setup->kept; kept; kept = kept->next)
		kept->destroy(kept->object);
	setup_set_source(setup, NULL, NULL);
	free_lists(setup);
	pool_free(&setup->pool);
	memory_free(&allocator, setup);
}

const CalDesc *cal_setup_desc(const CalSetup *setup) { return setup ? setup->desc : NULL; }
CalDesc *cal_setup_edit_desc(CalSetup *setup) { return setup ? setup->desc : NULL; }
const char *cal_setup_name(const CalSetup *setup) { return setup ? setup->name : ""; }

CalStatus cal_setup_set_name(CalSetup *setup, const char *name, CalError *error) {
	if (!setup || !name)
		return error_null(error, "cal_setup_set_name", !setup ? "setup" : "name");
	if (!setup_copy_text(setup, &name))
		return setup_no_memory(setup, error);
	setup->name = name;
	return CAL_OK;
}

CalStatus cal_setup_set_title(CalSetup *setup, const char *title, CalError *error) {
	if (!setup || !title)
		return error_null(error, "cal_setup_set_title", !setup ? "setup" : "title");
	if (!setup_copy_text(setup, &title))
		return setup_no_memory(setup, error);
	setup->run.title = title;
	return CAL_OK;
}

CalStatus cal_setup_keep(CalSetup *setup, void *object, CalDestroyFn destroy, CalError *error) {
	if (!setup || !object || !destroy)
		return error_null(error, "cal_setup_keep", !setup ? "setup" : !object ? "object" : "destroy");
	KeptObject *kept = pool_alloc(&setup->pool, sizeof *kept);
	if (!kept)
		return setup_no_memory(setup, error);
	*kept = (KeptObject){setup->kept, object, destroy};
	setup->kept = kept;
	return CAL_OK;
}

int cal_setup_locate(const CalSetup *setup, const char *name, char *path, size_t size) {
	return setup && name && path && fe_path_beside(setup->name, name, path, size) ? 0 : -1;
}

/* ---- where it comes from ----------------------------------------------------------------------------- */

CalStatus cal_setup_add_instance(CalSetup *setup, const CalSetupInstance *instance, CalError *error) {
	if (!setup || !instance)
		return error_null(error, "cal_setup_add_instance", !setup ? "setup" : "instance");
	CalSetupInstance own = *instance;
	if (!own.name || !own.file)
		return error_set(error, CAL_ERR_MODEL, "an instance of a subsystem needs a name and a file");
	if (!setup_copy_text(setup, &own.name) || !setup_copy_text(setup, &own.file) ||
	    !setup_copy_text(setup, &own.joint) || !SETUP_ROOM(setup, instance))
		return setup_no_memory(setup, error);
	setup->instances[setup->instance_count++] = own;
	return CAL_OK;
}

/* Components of a file are instances already. */
static const CalSubsystemUse *find_library(const CalSetup *setup, int index) {
	for (int i = 0; i < setup->subsystem_count; i++)
		if (setup->subsystems[i].library && index-- == 0)
			return &setup->subsystems[i];
	return NULL;
}

int cal_setup_instance_count(const CalSetup *setup) {
	int count = setup ? setup->instance_count : 0;
	for (int i = 0; setup && find_library(setup, i); i++)
		count++;
	return count;
}

CalStatus cal_setup_instance(const CalSetup *setup, int index, CalSetupInstance *instance) {
	if (!instance || index < 0 || index >= cal_setup_instance_count(setup))
		return CAL_ERR_ARGUMENT;
	if (index < setup->instance_count) {
		*instance = setup->instances[index];
		return CAL_OK;
	}
	const CalSubsystemUse *use = find_library(setup, index - setup->instance_count);
	if (!use)
		return CAL_ERR_ARGUMENT;
	*instance = (CalSetupInstance){.name = use->name, .file = use->file, .is_compiled = 1};
	return CAL_OK;
}

static const char *text_at(const TextList *list, int index) {
	return list && index >= 0 && index < list->count ? list->items[index] : NULL;
}

CalStatus cal_setup_add_interface_node(CalSetup *setup, const char *path, CalError *error) {
	if (!setup || !path)
		return error_null(error, "cal_setup_add_interface_node", !setup ? "setup" : "path");
	if (!cal_desc_find_node(setup->desc, path).value)
		return error_set(error, CAL_ERR_MODEL,
		                 "interface node \"%.80s\": there is no such node in the description; add it first", path);
	return setup_append_text(setup, &setup->interface_nodes, path) ? CAL_OK : setup_no_memory(setup, error);
}

int cal_setup_interface_node_count(const CalSetup *setup) { return setup ? setup->interface_nodes.count : 0; }
const char *cal_setup_interface_node(const CalSetup *setup, int index) {
	return text_at(setup ? &setup->interface_nodes : NULL, index);
}

CalStatus cal_setup_add_source(CalSetup *setup, const char *path, CalError *error) {
	if (!setup || !path)
		return error_null(error, "cal_setup_add_source", !setup ? "setup" : "path");
	for (int i = 0; i < setup->sources.count; i++)
		if (strcmp(setup->sources.items[i], path) == 0)
			return CAL_OK;
	return setup_append_text(setup, &setup->sources, path) ? CAL_OK : setup_no_memory(setup, error);
}

int cal_setup_source_count(const CalSetup *setup) { return setup ? setup->sources.count : 0; }
const char *cal_setup_source(const CalSetup *setup, int index) {
	return text_at(setup ? &setup->sources : NULL, index);
}

CalStatus cal_setup_add_warning(CalSetup *setup, const char *text, CalError *error) {
	if (!setup || !text)
		return error_null(error, "cal_setup_add_warning", !setup ? "setup" : "text");
	return setup_append_text(setup, &setup->warnings, text) ? CAL_OK : setup_no_memory(setup, error);
}

int cal_setup_warning_count(const CalSetup *setup) { return setup ? setup->warnings.count : 0; }
const char *cal_setup_warning(const CalSetup *setup, int index) {
	return text_at(setup ? &setup->warnings : NULL, index);
}

/* ---- the import report ----------------------------------------------------------------------------- */

const char *cal_import_name(CalImportKind kind) {
	static const char *const names[] = {
#define CAL_IMPORT_NAME(name, text) [name] = text,
		CAL_IMPORT_LIST(CAL_IMPORT_NAME)
#undef CAL_IMPORT_NAME
	};
	return (unsigned)kind < CAL_IMPORT_COUNT ? names[kind] : NULL;
}

CalStatus cal_setup_set_format(CalSetup *setup, const char *format, CalError *error) {
	if (!setup || !format)
		return error_null(error, "cal_setup_set_format", !setup ? "setup" : "format");
	if (!setup_copy_text(setup, &format))
		return setup_no_memory(setup, error);
	setup->format = format;
	return CAL_OK;
}

const char *cal_setup_format(const CalSetup *setup) { return setup && setup->format ? setup->format : ""; }

/* A copy, or `last` if that is the same text: notes come in runs. */
static bool share_text(CalSetup *setup, const char *last, const char **text) {
	if (!last || !*text || strcmp(last, *text) != 0)
		return setup_copy_text(setup, text);
	*text = last;
	return true;
}

CalStatus cal_setup_add_import_note(CalSetup *setup, const CalImportNote *note, CalError *error) {
	if (!setup || !note)
		return error_null(error, "cal_setup_add_import_note", !setup ? "setup" : "note");
	if (!cal_import_name(note->kind) || !note->text || !note->element)
		return error_set(error, CAL_ERR_ARGUMENT, "%.200s: a note needs a kind, an element and a text", setup->name);
	CalImportNote copy = *note;
	const CalImportNote *last =
		setup->import_note_count > 0 ? &setup->import_notes[setup->import_note_count - 1] : &(CalImportNote){0};
	if (!share_text(setup, last->file, &copy.file) || !setup_copy_text(setup, &copy.element) ||
	    !share_text(setup, last->text, &copy.text) || !SETUP_ROOM(setup, import_note))
		return setup_no_memory(setup, error);
	setup->import_notes[setup->import_note_count++] = copy;
	return CAL_OK;
}

int cal_setup_import_note_count(const CalSetup *setup) { return setup ? setup->import_note_count : 0; }

CalStatus cal_setup_import_note(const CalSetup *setup, int index, CalImportNote *note) {
	if (!setup || !note || index < 0 || index >= setup->import_note_count)
		return CAL_ERR_ARGUMENT;
	*note = setup->import_notes[index];
	return CAL_OK;
}
