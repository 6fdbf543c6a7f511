// SPDX-License-Identifier: Apache-2.0
/*
 * import_shape.c — shapes of links that need files or have no counterpart.
 */
#include "io/import/import.h"

bool import_visual_mesh(Import *im, XmlElement *element, const char *path, CalVec3 scale, CalVisual *visual,
                        bool *known) {
	(void)path, (void)scale, (void)visual;
	*known = false;
	return import_note(im, CAL_IMPORT_IGNORED, element, NULL, "meshes are not drawn yet");
}

bool import_collision(Import *im, XmlElement *collision, const char *link) {
	return import_ignore(
		im, collision,
		"link \"%.80s\": the file gives no stiffness or friction of contact that Calder could use; links do "
		"not touch. Add a contact to the converted model (docs/contact.md)",
		link);
}

bool import_locate(Import *im, const XmlElement *element, const char *uri, char *path, size_t size, bool *found,
                   char *tried, size_t tried_size) {
	(void)im, (void)element, (void)uri, (void)path, (void)size, (void)tried, (void)tried_size;
	*found = false;
	return true;
}
