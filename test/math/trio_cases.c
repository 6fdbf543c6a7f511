// SPDX-License-Identifier: Apache-2.0
/*
 * trio_cases.c — every operation of math/trio.h on given numbers. test/options.cmake builds it for each width of
 * registers and for lanes; test_trio.c compares the results.
 */
#include "math/trio.h"
#include "trio_cases.h"

typedef struct Out {
	real *next;
} Out;

static void put(Out *o, trio v) {
	const vec3 s = trio_vec(v);
	*o->next++ = s.x, *o->next++ = s.y, *o->next++ = s.z;
}
static void put_number(Out *o, real x) { *o->next++ = x; }
static void put_columns(Out *o, trio3 m) { put(o, m.x), put(o, m.y), put(o, m.z); }
static void put_mat(Out *o, trio_mat m) { put_columns(o, trio3_from(trio_mat_out(m))); }
static void put_sym(Out *o, trio_sym m) {
	const sym3 s = trio_sym_out(m);
	put(o, trio_set(s.xx, s.yy, s.zz)), put(o, trio_set(s.xy, s.xz, s.yz));
}

/* A record as the sweeps have them: stored in the order of addresses, padding at the end. */
typedef struct Record {
	mat3 R;
	vec3 a, b;
	real number, pad;
} Record;

static void memory_cases(Out *o, trio3 R, trio a, trio b, real x) {
	Record r;
	trio3_store_wide(&r.R, R);
	trio_store_wide(&r.a, a);
	trio_store_wide(&r.b, b);
	r.number = x;
	put_columns(o, trio3_load_wide(&r.R));
	put_columns(o, trio3_load(&r.R));
	put(o, trio_load_wide(&r.a)), put(o, trio_load(&r.b));
	trio_store(&r.a, b); // leaves b alone
	trio3_store(&r.R, R);
	put(o, trio_load(&r.a)), put(o, trio_load(&r.b));
	put_number(o, r.number);
}

static void vector_cases(Out *o, trio a, trio b, trio c, real x) {
	real sum_a, sum_b;
	trio_sums(a, b, &sum_a, &sum_b);
	put_number(o, sum_a), put_number(o, sum_b), put_number(o, trio_dot(a, b));
	put(o, trio_add(a, b)), put(o, trio_sub(a, b)), put(o, trio_mul(a, b)), put(o, trio_neg(a));
	put(o, trio_next(a)), put(o, trio_prev(a));
	put(o, trio_madd(a, x, b)), put(o, trio_mac(a, b, c));
	put(o, trio_spread(a, 0)), put(o, trio_spread(a, 1)), put(o, trio_spread(a, 2));
	put(o, trio_cross(a, b)), put(o, trio_field(a, b, c));
	put(o, trio_field_mul(trio_field_of(a, b), c, trio_next(c), trio_prev(c)));
}

static void column_cases(Out *o, trio3 m, trio v, real s, real c) {
	const vec3 n = trio_vec(v);
	const dvec3 d = {0.5, -1.25, 3};
	put(o, trio3_mul(m, n)), put(o, trio3_mul_trio(m, v)), put(o, trio3_tmul(m, v)), put(o, trio3_mul_dvec(m, d));
	put_columns(o, trio3_transpose(m)), put_columns(o, trio3_cross(m, n)), put_columns(o, trio3_madd(m, s, m));
	put_columns(o, trio3_mul_dmat(m, (dmat3){d, {1, 2, 3}, {-3, 0, 1}}));
	put_columns(o, trio3_turn_x(m, s, c)), put_columns(o, trio3_turn_z(m, s, c));
}

static void cyclic_cases(Out *o, trio_mat m, trio_sym s, trio a, trio b) {
	const trio a1 = trio_next(a), a2 = trio_prev(a), b1 = trio_next(b), b2 = trio_prev(b);
	put_mat(o, m), put_sym(o, s);
	put(o, trio_mat_mul(m, a, a1, a2)), put(o, trio_mat_tmul(m, a)), put(o, trio_sym_mul(s, a, a1, a2));
	put_mat(o, trio_mat_sub_outer(m, a, b, b1, b2)), put_sym(o, trio_sym_sub_outer(s, a, a, a1));
	put_mat(o, trio_mat_add(m, m)), put_sym(o, trio_sym_add(s, s)), put_sym(o, trio_sym_pairs(a, b, b, a));
	put_sym(o, trio_sym_sub_pair(s, a, b, b1));
	put_mat(o, trio_cross_sym(a1, a2, s)), put_sym(o, trio_cross_mat_half(a, a1, a2, m));
}

/* A symmetric matrix between other numbers. */
typedef struct SymRecord {
	real before;
	sym3 s;
	real after;
} SymRecord;

/* What inverse dynamics and composite bodies use beside the others. */
static void inverse_cases(Out *o, trio_mat m, sym3 s, trio a, real x) {
	SymRecord r = {x, s, x};
	const vec3 v[2] = {trio_vec(a), trio_vec(a)};
	const dvec3 d[2] = {{1, 2, 3}, {4, 5, 6}};
	trio_sym_store(&r.s, trio_sym_add(trio_sym_load(&r.s), trio_sym_from(s)));
	put_sym(o, trio_sym_load(&r.s)), put_sym(o, trio_sym_from(r.s));
	put_number(o, r.before), put_number(o, r.after);
	put(o, trio_load_any(v)), put(o, trio_dload_any(d)), put(o, trio_cross_z(a));
	put_mat(o, trio_mat_mul_mat(m, m)), put_mat(o, trio_mat_quat(x, a));
}

static void product_cases(Out *o, trio_mat m, trio_sym s, sym3 in_memory) {
	const trio_sym definite = {trio_add(s.d, trio_all(real_from(6))), s.n};
	real determinant;
	struct {
		sym3 s;
		real after;
	} record = {in_memory, in_memory.xx};
	put_mat(o, trio_sym_mul_mat(s, m)), put_sym(o, trio_mat_tmul_sym(m, trio_sym_mul_mat(s, m)));
	put_sym(o, trio_sym_inverse(definite, &determinant)), put_number(o, determinant);
	put_number(o, trio_sym_trace(s));
	put_sym(o, trio_sym_load_wide(&record.s));
	trio_sym_store_wide(&record.s, definite);
	put_sym(o, trio_sym_from(record.s));
}

void LANED(trio_cases)(const void *numbers, void *results) {
	real in[TRIO_NUMBERS];
	memcpy(in, numbers, sizeof in);
	Out o = {results};
	const trio a = trio_set(in[0], in[1], in[2]), b = trio_set(in[3], in[4], in[5]), c = trio_set(in[6], in[7], in[8]);
	const mat3 m = {trio_vec(a), trio_vec(b), trio_vec(c)};
	const sym3 s = {in[9], in[10], in[11], in[12], in[13], in[14]};
	vector_cases(&o, a, b, c, in[9]);
	memory_cases(&o, trio3_from(m), a, b, in[9]);
	column_cases(&o, trio3_from(m), trio_set(in[9], in[10], in[11]), in[12], in[13]);
	cyclic_cases(&o, trio_mat_from(m), trio_sym_from(s), a, b);
	product_cases(&o, trio_mat_from(m), trio_sym_from(s), s);
	inverse_cases(&o, trio_mat_from(m), s, a, in[9]);
}
