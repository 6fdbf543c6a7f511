// SPDX-License-Identifier: Apache-2.0
/*
 * import_paths.c — files that a robot file names, and where they may be.
 *
 * A robot file comes from a stranger, and so do its paths. A file counts if its path, with `..` and links resolved, is below
 * a folder that was asked for: that of the robot file, its package, and the roots of the options. What is outside by its
 * text is not even looked at.
 */
#define _XOPEN_SOURCE 700 // realpath

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "io/import/import.h"

enum { PATH_MOST = 4096, LEVELS_MOST = 32 };

typedef struct ImportPackage {
	const char *folder; // NULL: there is none
	const char *name;   // "": not known
} ImportPackage;

typedef struct ImportFolders ImportFolders;
struct ImportFolders {
	const char *main;       // folder of the main file
	const char *from;       // to which paths that are kept are relative
	ImportPackage package;  // of the main file
	ImportPackage other;    // of the file that asked last, which the main file includes
	const char *other_file; // that file; NULL: none asked yet
	const char **roots;     // [root_count] those that exist
	int root_count;
};

/* ---- folders ------------------------------------------------------------------------------------------- */

/* Absolute, without links; NULL: there is no such folder. In the tree's memory. */
static const char *real_folder(Import *im, const char *path) {
	char *real = realpath(path, NULL);
	const char *copy = real ? xml_text(im->tree, real) : NULL;
	if (real && !copy)
		import_no_memory(im);
	free(real);
	return copy;
}

static void folder_of(const char *path, char *folder, size_t size) {
	const char *slash = strrchr(path, '/');
	if (!slash)
		snprintf(folder, size, ".");
	else if (slash == path)
		snprintf(folder, size, "/");
	else
		snprintf(folder, size, "%.*s", (int)(slash - path), path);
}

static bool is_file(const char *path) {
	struct stat about;
	return stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

static bool check_included(Import *im, const XmlElement *element) {
	return im->included_bytes <= IMPORT_MOST_BYTES ||
	       import_fail(im, element,
	                   "all files that are included, each as often as it is, have more than %d bytes; include "
	                   "fewer or smaller ones",
	                   IMPORT_MOST_BYTES);
}

bool import_read(Import *im, const XmlElement *element, const char *path, XmlTree **tree) {
	*tree = NULL;
	if (!import_ok(im, xml_read(path, &im->allocator, tree, im->error)))
		return false;
	im->included_bytes += xml_length(*tree);
	if (check_included(im, element))
		return true;
	xml_destroy(*tree);
	*tree = NULL;
	return false;
}

/* <name> of package.xml, else the name of the folder. */
static const char *name_of_package(Import *im, const char *folder, const char *file) {
	XmlTree *tree = NULL;
	CalError error;
	const char *name = NULL;
	if (strstr(file, "package.xml") && xml_read(file, &im->allocator, &tree, &error) == CAL_OK) {
		XmlElement *e = xml_child(xml_root(tree), "name");
		im->included_bytes += xml_length(tree); // it may be sought again for each file
		name = e && e->text[0] ? xml_text(im->tree, e->text) : NULL;
	}
	xml_destroy(tree);
	return name ? name : strrchr(folder, '/') + 1;
}

/* The nearest folder from one upward that is a package. */
static void find_package(Import *im, const char *from, ImportPackage *package) {
	static const char *const marks[] = {"package.xml", "model.config"};
	char folder[PATH_MOST], file[PATH_MOST + 32];
	*package = (ImportPackage){.name = ""};
	snprintf(folder, sizeof folder, "%s", from);
	for (int level = 0; level < LEVELS_MOST && folder[0]; level++) {
		for (int i = 0; i < 2; i++) {
			snprintf(file, sizeof file, "%s/%s", folder, marks[i]);
			if (!is_file(file))
				continue;
			package->folder = xml_text(im->tree, folder);
			if (package->folder)
				package->name = name_of_package(im, package->folder, file);
			else
				import_no_memory(im);
			return;
		}
		*strrchr(folder, '/') = '\0';
	}
}

static bool find_folders(Import *im) {
	char folder[PATH_MOST];
	if (im->folders)
		return true;
	ImportFolders *folders = xml_array(im->tree, 1, sizeof *folders);
	const int count = im->options->root_count > 0 ? im->options->root_count : 0;
	if (!folders || !(folders->roots = xml_array(im->tree, (size_t)count + 1, sizeof *folders->roots)))
		return import_no_memory(im);
	folder_of(im->path, folder, sizeof folder);
	folders->main = real_folder(im, folder);
	folders->from = im->options->paths_from ? real_folder(im, im->options->paths_from) : folders->main;
	folders->package.name = "";
	if (folders->main)
		find_package(im, folders->main, &folders->package);
	for (int i = 0; i < count; i++) {
		const char *real = im->options->roots[i] ? real_folder(im, im->options->roots[i]) : NULL;
		if (real)
			folders->roots[folders->root_count++] = real;
	}
	im->folders = folders;
	return im->status == CAL_OK;
}

static bool is_below(const char *path, const char *folder) {
	const size_t length = folder ? strlen(folder) : 0;
	if (!folder)
		return false;
	return strcmp(folder, "/") == 0 || (strncmp(path, folder, length) == 0 && path[length] == '/');
}

static bool is_allowed(const ImportFolders *folders, const char *path) {
	bool allowed = is_below(path, folders->main) || is_below(path, folders->package.folder);
	for (int i = 0; i < folders->root_count; i++)
		allowed |= is_below(path, folders->roots[i]);
	return allowed;
}

/* ---- one place ----------------------------------------------------------------------------------------- */

/* Without "." and ".." by the text alone; path is absolute. False: too long. */
static bool normalize(const char *path, char *out, size_t size) {
	size_t used = 0;
	for (const char *at = path; *at;) {
		const size_t length = strcspn(at, "/");
		if (length == 2 && strncmp(at, "..", 2) == 0) {
			while (used > 0 && out[used - 1] != '/')
				used--;
			used -= used > 0;
		} else if (length > 0 && !(length == 1 && *at == '.')) {
			if (used + length + 2 > size)
				return false;
			out[used++] = '/';
			memcpy(out + used, at, length);
			used += length;
		}
		at += length;
		at += *at == '/';
	}
	out[used] = '\0';
	return true;
}

typedef struct Search {
	Import *im;
	char *path;
	size_t size;
	char *tried;
	size_t tried_size;
	bool found;
} Search;

static void note_place(Search *s, const char *place, const char *why) {
	if (!s->tried || s->tried_size == 0)
		return;
	const size_t used = strlen(s->tried);
	snprintf(s->tried + used, s->tried_size - used, "%s%.200s%s", used ? ", " : "", place, why);
}

/* folder/rest, or rest alone where folder is NULL. */
static void try_place(Search *s, const char *folder, const char *rest) {
	char joined[PATH_MOST], plain[PATH_MOST];
	if (s->found)
		return;
	const int length = snprintf(joined, sizeof joined, "%s/%s", folder ? folder : "", rest);
	if (length < 0 || (size_t)length >= sizeof joined || !normalize(joined, plain, sizeof plain)) {
		note_place(s, rest, " (too long)");
		return;
	}
	if (!is_allowed(s->im->folders, plain)) {
		note_place(s, plain, " (outside of the folders that may be read; add one by --root)");
		return;
	}
	char *real = is_file(plain) ? realpath(plain, NULL) : NULL;
	if (!real) {
		note_place(s, plain, "");
	} else if (!is_allowed(s->im->folders, real)) {
		note_place(s, plain, " (a link to outside of the folders that may be read; add one by --root)");
	} else if (strlen(plain) < s->size) {
		snprintf(s->path, s->size, "%s", plain);
		s->found = true;
	}
	free(real);
}

/* ---- URIs ------------------------------------------------------------------------------------------------ */

static bool is_last_part(const char *folder, const char *name, size_t length) {
	const char *last = strrchr(folder, '/');
	return last && strlen(last + 1) == length && strncmp(last + 1, name, length) == 0;
}

static bool is_called(const ImportPackage *package, const char *name, size_t length) {
	return package->folder && strlen(package->name) == length && strncmp(package->name, name, length) == 0;
}

/* The package of the file that an element stands in; that of the main file if it is the same. */
static const ImportPackage *package_around(Import *im, const XmlElement *element) {
	ImportFolders *folders = im->folders;
	char folder[PATH_MOST];
	if (strcmp(element->file, im->path) == 0)
		return &folders->package;
	if (folders->other_file != element->file) {
		folder_of(element->file, folder, sizeof folder);
		const char *real = real_folder(im, folder);
		folders->other_file = element->file;
		folders->other = (ImportPackage){.name = ""};
		if (real)
			find_package(im, real, &folders->other);
	}
	return &folders->other;
}

/* NAME/rest: whole names are compared, since one may be the beginning of another. */
static void try_package(Search *s, const XmlElement *element, const char *name_and_rest) {
	const ImportFolders *folders = s->im->folders;
	const ImportPackage *own = package_around(s->im, element);
	const size_t length = strcspn(name_and_rest, "/");
	const char *rest = name_and_rest + length + (name_and_rest[length] == '/');
	char shared[PATH_MOST];
	if (is_called(own, name_and_rest, length))
		try_place(s, own->folder, rest);
	if (own != &folders->package && is_called(&folders->package, name_and_rest, length))
		try_place(s, folders->package.folder, rest);
	for (int i = 0; i < folders->root_count; i++) {
		if (is_last_part(folders->roots[i], name_and_rest, length))
			try_place(s, folders->roots[i], rest);
		try_place(s, folders->roots[i], name_and_rest);
		if ((size_t)snprintf(shared, sizeof shared, "share/%s", name_and_rest) < sizeof shared)
			try_place(s, folders->roots[i], shared);
	}
	if (folders->main)
		try_place(s, folders->main, name_and_rest);
}

static void try_relative(Search *s, const XmlElement *element, const char *path) {
	char folder[PATH_MOST];
	folder_of(element->file, folder, sizeof folder);
	const char *real = real_folder(s->im, folder);
	if (real)
		try_place(s, real, path);
}

static const char *after(const char *text, const char *prefix) {
	const size_t length = strlen(prefix);
	return strncmp(text, prefix, length) == 0 ? text + length : NULL;
}

bool import_locate(Import *im, const XmlElement *element, const char *uri, char *path, size_t size, bool *found,
                   char *tried, size_t tried_size) {
	Search s = {.im = im, .path = path, .size = size, .tried = tried, .tried_size = tried_size};
	const char *rest;
	*found = false;
	if (tried && tried_size)
		tried[0] = '\0';
	if (!find_folders(im) || !check_included(im, element))
		return false;
	if ((rest = after(uri, "package://")) || (rest = after(uri, "model://")))
		try_package(&s, element, rest);
	else if ((rest = after(uri, "file://")) && rest[0] == '/')
		try_place(&s, NULL, rest);
	else if (!rest && strstr(uri, "://"))
		note_place(&s, uri, " (only package://, model:// and file:// are read)");
	else if ((rest ? rest : uri)[0] == '/')
		try_place(&s, NULL, uri);
	else
		try_relative(&s, element, rest ? rest : uri);
	*found = s.found;
	return im->status == CAL_OK;
}

/* ---- the way back ------------------------------------------------------------------------------------------ */

const char *import_beside(Import *im, const char *path) {
	const ImportFolders *folders = im->folders;
	const char *folder = folders->from;
	char relative[PATH_MOST] = "";
	size_t used = 0, same = 0;
	const bool share_package =
		folder && is_below(path, folders->package.folder) &&
		(strcmp(folder, folders->package.folder) == 0 || is_below(folder, folders->package.folder));
	if (!folder || (!is_below(path, folder) && !share_package))
		return xml_text(im->tree, path);
	for (size_t i = 0; path[i] && (path[i] == folder[i] || (path[i] == '/' && !folder[i])); i++) {
		if (path[i] == '/')
			same = i + 1; // the text up to here is a common folder
		if (!folder[i])
			break;
	}
	for (const char *at = folder + (same <= strlen(folder) ? same : strlen(folder)); *at; at += strcspn(at, "/")) {
		at += *at == '/';
		if (*at && used + 4 < sizeof relative)
			used += (size_t)snprintf(relative + used, sizeof relative - used, "../");
	}
	snprintf(relative + used, sizeof relative - used, "%s", path + same);
	return xml_text(im->tree, relative);
}

bool import_mesh_is_known(const char *path) {
	static const char *const endings[] = {".stl", ".obj", ".gltf", ".glb"};
	const size_t length = strlen(path);
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
		if (length > strlen(endings[i]) && strcasecmp(path + length - strlen(endings[i]), endings[i]) == 0)
			return true;
	return false;
}
