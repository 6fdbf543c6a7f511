// SPDX-License-Identifier: Apache-2.0
/*
 * xml_tree_build.h — the inside of a tree, for those who build it.
 */
#ifndef CALDER_IO_XML_XML_TREE_BUILD_H
#define CALDER_IO_XML_XML_TREE_BUILD_H

#include <stdint.h>

#include "base/memory_pool.h"
#include "io/xml/xml_tree.h"

struct XmlTree {
	Pool pool;         // holds everything, this struct included
	XmlElement *root;  //
	size_t length;     // of its text [bytes]
	int element_count; // with those of adopted trees
	uint64_t names[4]; // a bit for each hash of a name of elements and attributes, modulo 256
	bool is_plain;     // neither '$' nor ':' in its text
	XmlTree *adopted;  // goes with this one, and what it has adopted
};

#endif
