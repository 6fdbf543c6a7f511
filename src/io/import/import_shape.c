// SPDX-License-Identifier: Apache-2.0
/*
 * import_shape.c — shapes of links that need files or have no counterpart.
 */
#include "io/import/import.h"

bool import_visual_mesh(Import *im, XmlElement *element, const char *path, CalVec3 scale, CalVisual *visual,
                        bool *known) {
	*known = false;
	if (!import_mesh_is_known(path))
		return import_note(im, CAL_IMPORT_IGNORED, element, NULL,
		                   "%.200s: meshes of this format are not drawn; convert it to STL, OBJ or glTF", path);
	if (scale.x == 0 || scale.y == 0 || scale.z == 0)
		return import_note(im, CAL_IMPORT_IGNORED, element, NULL,
		                   "the scale %g %g %g makes the mesh flat; it is not drawn", scale.x, scale.y, scale.z);
	visual->kind = CAL_VISUAL_MESH;
	visual->size = scale;
	visual->file = import_beside(im, path);
	*known = true;
	return visual->file ? import_ok(im, cal_setup_add_source(im->setup, path, im->error)) : import_no_memory(im);
}

bool import_collision(Import *im, XmlElement *collision, const char *link) {
	return import_ignore(
		im, collision,
		"link \"%.80s\": the file gives no stiffness or friction of contact that Calder could use; links do "
		"not touch. Add a contact to the converted model (docs/contact.md)",
		link);
}
