// SPDX-License-Identifier: Apache-2.0
/*
 * golden_case.h — golden cases (docs/golden.md) as models of the reference, constraints included.
 *
 * The library's own reader makes a description; this one makes a RefModel, so that the reference can be checked by
 * the same files without the library. Bodies, speeds and rows are in the order of the file. The files are the
 * project's own data: one that cannot be read ends the test program.
 */
#ifndef TEST_REFERENCE_GOLDEN_CASE_H
#define TEST_REFERENCE_GOLDEN_CASE_H

#include "io/yaml/yaml_tree.h"
#include "reference/reference.h"

/* Point-to-point spring-damper: tension k (l - l0) + c l'. */
typedef struct RefSpring {
	int node[2]; // -1: ground
	CalVec3 r[2];
	double k, c, l0;
} RefSpring;

typedef struct RefCase {
	Tree *tree;
	const TreeNode *root;
	RefModel *model;
	double *q, *u;  // as in `state`
	CalInput input; // made by ref_case_input()
	double *tau, *udot;
	uint8_t *prescribed;
	CalWrench *wrenches; // of `applied`, then two for each spring
	int applied;
	RefSpring *springs;
	int spring_count;
} RefCase;

RefCase *ref_case_read(const char *path);
void ref_case_destroy(RefCase *c);
/** q and u from a `state`. */
void ref_case_state(const RefCase *c, const TreeNode *state, double *q, double *u);
/** input from `applied` and `prescribed` (either may be NULL) without the springs. */
void ref_case_input(RefCase *c, const TreeNode *applied, const TreeNode *prescribed);
/** The springs at a state added to the input; their energy. */
double ref_case_springs(RefCase *c, const double *q, const double *u);

/** Numbers of a list and its lists; ends the program unless there are n. */
void ref_case_numbers(const TreeNode *node, double *x, int n);
double ref_case_number(const TreeNode *node, double absent);

#endif
