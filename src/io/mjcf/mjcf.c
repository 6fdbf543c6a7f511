// SPDX-License-Identifier: Apache-2.0
/*
 * mjcf.c — see mjcf.h.
 */
#include "io/mjcf/mjcf.h"

bool mjcf_import(Import *im) {
	return import_fail(im, xml_root(im->tree),
	                   "files of this format are not read yet; convert it to a model file first");
}
