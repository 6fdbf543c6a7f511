// SPDX-License-Identifier: Apache-2.0
/*
 * sdf.c — see sdf.h.
 */
#include "io/sdf/sdf.h"

bool sdf_import(Import *im) {
	return import_fail(im, xml_root(im->tree),
	                   "files of this format are not read yet; convert it to a model file first");
}
