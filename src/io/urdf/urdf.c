// SPDX-License-Identifier: Apache-2.0
/*
 * urdf.c — see urdf.h.
 */
#include "io/urdf/urdf.h"

bool urdf_import(Import *im) {
	return import_fail(im, xml_root(im->tree),
	                   "files of this format are not read yet; convert it to a model file first");
}
