// SPDX-License-Identifier: Apache-2.0
// Unknowns: angular and linear acceleration of the origin of each body, then the constraint forces. For a body of mass m with its
// center at c and inertia I about it, from its origin, world axes:
//   m (a + al x c) - sum f = m g,   I al + m c x (a + al x c) - sum (n + r x f) = m c x g
// A hinge at p holds the relative acceleration of two bodies there and the rotation across its axis.
#include "linkage_reference.h"

#include <algorithm>

namespace bench {
namespace {

struct Placed {
	Mat3 R;
	Vec3 p;
};

Vec3 times(double s, const Vec3 &v) { return {s * v[0], s * v[1], s * v[2]}; }

Mat3 turn(int axis, double angle) {
	const Vec3 u = unit_axis(axis);
	const double s = std::sin(angle / 2);
	return rotation({std::cos(angle / 2), s * u[0], s * u[1], s * u[2]});
}

Placed place(const BenchBody &b, const std::vector<double> &q, const Placed &on) {
	const auto at = static_cast<std::size_t>(b.q0);
	const Mat3 F = mul(on.R, b.R_PF);
	const Vec3 p = add(on.p, mul(on.R, b.p_PF));
	if (b.joint == JointKind::revolute)
		return {mul(F, turn(b.axis, q[at])), p};
	return {mul(F, rotation({q[at + 3], q[at + 4], q[at + 5], q[at + 6]})),
	        add(p, mul(F, Vec3{q[at], q[at + 1], q[at + 2]}))};
}

// A dense system that is built up row by row and solved with partial pivoting.
class System {
  public:
	explicit System(int n)
		: n_(n), A_(static_cast<std::size_t>(n) * static_cast<std::size_t>(n)), b_(static_cast<std::size_t>(n)) {}

	double &at(int i, int j) {
		return A_[static_cast<std::size_t>(i) * static_cast<std::size_t>(n_) + static_cast<std::size_t>(j)];
	}
	double &right(int i) { return b_[static_cast<std::size_t>(i)]; }

	std::vector<double> solve() {
		for (int k = 0; k < n_; k++) {
			int best = k;
			for (int i = k + 1; i < n_; i++)
				best = std::abs(at(i, k)) > std::abs(at(best, k)) ? i : best;
			for (int j = k; j < n_ && best != k; j++)
				std::swap(at(k, j), at(best, j));
			std::swap(right(k), right(best));
			for (int i = k + 1; i < n_; i++) {
				const double factor = at(i, k) / at(k, k);
				for (int j = k; j < n_ && factor != 0; j++)
					at(i, j) -= factor * at(k, j);
				right(i) -= factor * right(k);
			}
		}
		for (int i = n_ - 1; i >= 0; i--) {
			for (int j = i + 1; j < n_; j++)
				right(i) -= at(i, j) * right(j);
			right(i) /= at(i, i);
		}
		return b_;
	}

  private:
	int n_;
	std::vector<double> A_, b_;
};

void add_body(System &s, int i, const BenchBody &b, const Placed &placed, const Vec3 &gravity) {
	const Vec3 c = mul(placed.R, b.com), weight = times(b.mass, gravity), moment = cross(c, weight);
	const Mat3 I = mul(mul(placed.R, b.inertia), transpose(placed.R)), cx = skew(c), cc = mul(cx, cx);
	for (int r = 0; r < 3; r++) {
		for (int k = 0; k < 3; k++) {
			const auto e = static_cast<std::size_t>(3 * r + k);
			s.at(6 * i + r, 6 * i + k) += I[e] - b.mass * cc[e];
			s.at(6 * i + r, 6 * i + 3 + k) += b.mass * cx[e];
			s.at(6 * i + 3 + r, 6 * i + k) -= b.mass * cx[e];
		}
		s.at(6 * i + 3 + r, 6 * i + 3 + r) += b.mass;
		s.right(6 * i + r) = moment[static_cast<std::size_t>(r)];
		s.right(6 * i + 3 + r) = weight[static_cast<std::size_t>(r)];
	}
}

// An equation, the wrench (n, f) at the point p: what it does on one body, and the same in the row of the equation.
void add_side(System &s, int row, int body, const Vec3 &arm, Vec3 n, const Vec3 &f, double sign) {
	if (body < 0)
		return;
	n = add(n, cross(arm, f));
	for (int k = 0; k < 3; k++) {
		const auto e = static_cast<std::size_t>(k);
		s.at(row, 6 * body + k) = s.at(6 * body + k, row) = sign * n[e];
		s.at(row, 6 * body + 3 + k) = s.at(6 * body + 3 + k, row) = sign * f[e];
	}
}

struct Hinge {
	int body_a, body_b;
	Vec3 point, axis; // world
	bool planar;      // held in x and y only
};

int hinge_rows(const Hinge &h) { return h.planar ? 2 : 5; }

void add_hinge(System &s, int row, const Hinge &h, const std::vector<Placed> &placed) {
	const Vec3 any = std::abs(h.axis[0]) < 0.5 ? unit_axis(0) : unit_axis(1), across = cross(h.axis, any);
	const Vec3 directions[5] = {unit_axis(0), unit_axis(1), unit_axis(2), across, cross(h.axis, across)};
	for (int r = 0; r < hinge_rows(h); r++) {
		const Vec3 none{}, n = r < 3 ? none : directions[r], f = r < 3 ? directions[r] : none;
		for (const int body : {h.body_a, h.body_b})
			if (body >= 0)
				add_side(s, row + r, body, sub(h.point, placed[static_cast<std::size_t>(body)].p), n, f,
				         body == h.body_a ? -1 : 1);
	}
}

std::vector<Hinge> hinges_of(const BenchModel &model, const std::vector<Placed> &placed) {
	std::vector<Hinge> all;
	for (int i = 0; i < model.n(); i++) {
		const BenchBody &b = model.bodies[static_cast<std::size_t>(i)];
		const Placed &at = placed[static_cast<std::size_t>(i)];
		if (b.joint == JointKind::revolute)
			all.push_back({b.parent, i, at.p, mul(at.R, unit_axis(b.axis)), false});
	}
	for (const BenchLoop &l : model.loops) {
		const auto b = static_cast<std::size_t>(l.body_b >= 0 ? l.body_b : l.body_a);
		const Vec3 &point = l.body_b >= 0 ? l.point_b : l.point_a;
		all.push_back({l.body_a, l.body_b, add(placed[b].p, mul(placed[b].R, point)), mul(placed[b].R, unit_axis(2)),
		               !model.spatial});
	}
	return all;
}

} // namespace

std::vector<double> accelerations_at_rest(const BenchModel &model, const std::vector<double> &q) {
	std::vector<Placed> placed;
	for (const BenchBody &b : model.bodies)
		placed.push_back(
			place(b, q, b.parent < 0 ? Placed{identity3, {}} : placed[static_cast<std::size_t>(b.parent)]));
	const std::vector<Hinge> hinges = hinges_of(model, placed);
	int size = 6 * model.n();
	for (const Hinge &h : hinges)
		size += hinge_rows(h);
	System s(size);
	for (int i = 0; i < model.n(); i++)
		add_body(s, i, model.bodies[static_cast<std::size_t>(i)], placed[static_cast<std::size_t>(i)], model.gravity);
	int row = 6 * model.n();
	for (const Hinge &h : hinges) {
		add_hinge(s, row, h, placed);
		row += hinge_rows(h);
	}
	const std::vector<double> x = s.solve();
	std::vector<double> udot(static_cast<std::size_t>(model.nu));
	for (int i = 0; i < model.n(); i++) {
		const BenchBody &b = model.bodies[static_cast<std::size_t>(i)];
		const Placed &at = placed[static_cast<std::size_t>(i)];
		const auto first = static_cast<std::size_t>(6 * i), u = static_cast<std::size_t>(b.u0);
		Vec3 al = {x[first], x[first + 1], x[first + 2]};
		if (b.joint == JointKind::revolute) {
			const auto on = static_cast<std::size_t>(6 * b.parent);
			const Vec3 base = b.parent < 0 ? Vec3{} : Vec3{x[on], x[on + 1], x[on + 2]};
			const Vec3 axis = mul(at.R, unit_axis(b.axis));
			al = sub(al, base);
			udot[u] = al[0] * axis[0] + al[1] * axis[1] + al[2] * axis[2];
			continue;
		}
		al = tmul(at.R, al);
		for (std::size_t k = 0; k < 3; k++)
			udot[u + k] = x[first + 3 + k], udot[u + 3 + k] = al[k];
	}
	return udot;
}

} // namespace bench
