// SPDX-License-Identifier: Apache-2.0
/*
 * dense.c — small dense matrices for identities, and the matrices of the library's spatial operators (dense.h).
 */
#include "support/dense.h"

#include <math.h>

Dense dense(Fixture *f, int rows, int cols) { return (Dense){rows, cols, fixture_doubles(f, rows * cols)}; }

Dense dense_one(Fixture *f, int n) {
	Dense I = dense(f, n, n);
	for (int i = 0; i < n; i++)
		I.x[i * n + i] = 1;
	return I;
}

Dense mul(Fixture *f, Dense a, Dense b) {
	Dense c = dense(f, a.rows, b.cols);
	assert_int_equal(a.cols, b.rows);
	for (int i = 0; i < a.rows; i++)
		for (int k = 0; k < a.cols; k++) {
			double s = a.x[i * a.cols + k];
			for (int j = 0; s != 0 && j < b.cols; j++)
				c.x[i * c.cols + j] += s * b.x[k * b.cols + j];
		}
	return c;
}

Dense transposed(Fixture *f, Dense a) {
	Dense t = dense(f, a.cols, a.rows);
	for (int i = 0; i < a.rows; i++)
		for (int j = 0; j < a.cols; j++)
			t.x[j * t.cols + i] = a.x[i * a.cols + j];
	return t;
}

Dense sum(Fixture *f, Dense a, double s, Dense b) {
	Dense c = dense(f, a.rows, a.cols);
	assert_true(a.rows == b.rows && a.cols == b.cols);
	for (int i = 0; i < a.rows * a.cols; i++)
		c.x[i] = a.x[i] + s * b.x[i];
	return c;
}

Dense congruence(Fixture *f, Dense a, Dense b) { return mul(f, mul(f, a, b), transposed(f, a)); }

double dense_max(Dense a) { return max_abs(a.rows * a.cols, a.x); }

void check_dense_at(const char *file, int line, const Fixture *f, const char *what, Dense got, Dense want, double scale,
                    double tolerance) {
	assert_true(got.rows == want.rows && got.cols == want.cols);
	check_close_scaled_at(file, line, f->seed, what, got.rows * got.cols, got.x, want.x, scale, tolerance);
}

/* ---- operators ------------------------------------------------------------------------------ */

static void set_column(Dense a, int j, const double *column) {
	for (int i = 0; i < a.rows; i++)
		a.x[i * a.cols + j] = column[i];
}

Dense operator_stacked(Fixture *f, StackedFn product) {
	int n = 6 * cal_model_link_count(f->model);
	Dense a = dense(f, n, n);
	double *x = fixture_doubles(f, n), *y = fixture_doubles(f, n);
	for (int j = 0; j < n; j++) {
		x[j] = 1;
		check_ok(f->seed, product(f->model, f->work, (CalSpatial *)x, (CalSpatial *)y));
		x[j] = 0;
		set_column(a, j, y);
	}
	return a;
}

Dense operator_speeds(Fixture *f, SpeedsFn product) {
	Dense a = dense(f, f->nu, f->nu);
	double *x = fixture_doubles(f, f->nu), *y = fixture_doubles(f, f->nu);
	for (int j = 0; j < f->nu; j++) {
		x[j] = 1;
		check_ok(f->seed, product(f->model, f->work, x, y));
		x[j] = 0;
		set_column(a, j, y);
	}
	return a;
}

Dense operator_joint(Fixture *f) {
	int n = 6 * cal_model_link_count(f->model);
	Dense h = dense(f, f->nu, n);
	double *x = fixture_doubles(f, n), *y = fixture_doubles(f, f->nu);
	for (int j = 0; j < n; j++) {
		x[j] = 1;
		check_ok(f->seed, cal_operator_joint(f->model, f->work, (CalSpatial *)x, y));
		x[j] = 0;
		set_column(h, j, y);
	}
	return h;
}

Dense operator_joint_transpose(Fixture *f) {
	int n = 6 * cal_model_link_count(f->model);
	Dense h = dense(f, n, f->nu);
	double *x = fixture_doubles(f, f->nu), *y = fixture_doubles(f, n);
	for (int j = 0; j < f->nu; j++) {
		x[j] = 1;
		check_ok(f->seed, cal_operator_joint_transpose(f->model, f->work, x, (CalSpatial *)y));
		x[j] = 0;
		set_column(h, j, y);
	}
	return h;
}

Dense operator_blocks(Fixture *f, BlockFn get) {
	int nl = cal_model_link_count(f->model);
	Dense m = dense(f, 6 * nl, 6 * nl);
	for (int k = 0; k < nl; k++) {
		double block[36];
		check_ok(f->seed, get(f->model, f->work, k, block));
		for (int i = 0; i < 36; i++)
			m.x[(6 * k + i / 6) * m.cols + 6 * k + i % 6] = block[i];
	}
	return m;
}

Dense operator_parent_blocks(Fixture *f, Dense a) {
	Dense e = dense(f, a.rows, a.cols);
	for (int k = 0; k < a.rows / 6; k++) {
		int parent, u, nu;
		check_ok(f->seed, cal_link_info(f->model, k, &parent, &u, &nu));
		check_that(f->seed, parent < k && nu >= 0 && u >= 0 && u + nu <= f->nu);
		for (int i = 0; parent >= 0 && i < 36; i++) {
			int at = (6 * parent + i / 6) * a.cols + 6 * k + i % 6;
			e.x[at] = a.x[at];
		}
	}
	return e;
}

Innovations operator_innovations(Fixture *f) {
	const int n = f->nu;
	Innovations o = {.L = operator_speeds(f, cal_innovations_mul),
	                 .Lt = operator_speeds(f, cal_innovations_mul_transpose),
	                 .Li = operator_speeds(f, cal_innovations_solve),
	                 .Lit = operator_speeds(f, cal_innovations_solve_transpose),
	                 .D = dense(f, n, n),
	                 .Dinv = dense(f, n, n)};
	double *d = fixture_doubles(f, n);
	check_ok(f->seed, cal_innovations_diagonal(f->model, f->work, d));
	for (int i = 0; i < n; i++) {
		check_that(f->seed, d[i] > 0);
		o.D.x[i * (n + 1)] = d[i];
		o.Dinv.x[i * (n + 1)] = 1 / d[i];
		o.sum_log += log(d[i]);
	}
	return o;
}
