// SPDX-License-Identifier: Apache-2.0
/*
 * fe_sid.h — Wallrapp's standard input data of a flexible body (SID, files *.SID_FEM): the Taylor matrices.
 *
 *   M(q) = M0 + sum_k M1_k q_k, written as m0(row, col) and m1(row, k, col); entries that are not written are zero.
 *   structure: 0 zero, 1 diagonal, 2 symmetric (one triangle is enough), 3 full, 4 unit matrix.
 *
 * Meaning, over the particles dm at p with shapes phi (Schwertassek and Wallrapp 1999, table 6.9):
 *   mdCM 3x1   sum m p;                   M1: sum m phi_k
 *   J    3x3   inertia about B's origin;  M1: its change with q_k
 *   Ct   nx3   sum m phi_i';              M1: geometric stiffness only
 *   Cr   nx3   sum m (p x phi_i)';        M1: sum m (phi_k x phi_i)' (+ geometric stiffness)
 *   Me   nxn   sum m phi_i'phi_j
 *   Gr   3x3n  -2 sum m [p]x[phi_j]x;     M1: -2 sum m [phi_k]x[phi_j]x
 *   Ge   nx3n  2 sum m (phi_j x phi_i)'
 *   Oe   nx6   sum m phi_i'[w]x[w]x p over (xx, yy, zz, xy, yz, xz); M1: with phi_k for p (+ geometric stiffness)
 */
#ifndef CALDER_IO_FE_FE_SID_H
#define CALDER_IO_FE_FE_SID_H

/* One line per matrix of the body: name, rows, columns (n stands for the modes: see sid_size), written order. */
#define SID_MATRIX_LIST(X)               \
	X(SID_MDCM, "mdCM", 3, 1, 1)         \
	X(SID_J, "J", 3, 3, 1)               \
	X(SID_CT, "Ct", SID_N, 3, 0)         \
	X(SID_CR, "Cr", SID_N, 3, 1)         \
	X(SID_ME, "Me", SID_N, SID_N, 0)     \
	X(SID_GR, "Gr", 3, SID_3N, 1)        \
	X(SID_GE, "Ge", SID_N, SID_3N, 0)    \
	X(SID_OE, "Oe", SID_N, 6, 1)         \
	X(SID_KSIGMA, "ksigma", SID_N, 1, 0) \
	X(SID_KE, "Ke", SID_N, SID_N, 0)     \
	X(SID_DE, "De", SID_N, SID_N, 0)

enum { SID_N = -1, SID_3N = -3 };

typedef enum SidMatrix {
#define SID_MATRIX_ENUM(id, name, rows, cols, order) id,
	SID_MATRIX_LIST(SID_MATRIX_ENUM)
#undef SID_MATRIX_ENUM
		SID_MATRIX_COUNT
} SidMatrix;

static inline int sid_size(int size, int modes) { return size == SID_N ? modes : size == SID_3N ? 3 * modes : size; }

/** One Taylor matrix. */
typedef struct SidTaylor {
	int order, rows, cols, nq;
	double *m0; // [rows][cols]
	double *m1; // [rows][nq][cols]; NULL: order 0
} SidTaylor;

#endif
