// SPDX-License-Identifier: Apache-2.0
// Shapes of booms. With F the flexibility of a cantilever between its stations (deflection at x_i under a unit
// force at x_j, exact for Euler and Bernoulli) and m the lumped masses, the modes are the eigenvectors v of
// sqrt(m) F sqrt(m) v = v / w^2: phi = v / sqrt(m), and the slopes follow from the inertia forces w^2 m phi.
#include "flexible_shapes.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace bench {
namespace {

std::size_t at(int row, int columns, int column) {
	return static_cast<std::size_t>(row) * static_cast<std::size_t>(columns) + static_cast<std::size_t>(column);
}

// One rotation of Jacobi's method in the plane (p, q), applied to A and to the eigenvectors in the columns of V.
void rotate(std::vector<double> &A, std::vector<double> &V, int n, int p, int q) {
	const double apq = A[at(p, n, q)];
	if (apq == 0)
		return;
	const double theta = (A[at(q, n, q)] - A[at(p, n, p)]) / (2 * apq);
	const double t = std::copysign(1, theta) / (std::fabs(theta) + std::hypot(theta, 1));
	const double c = 1 / std::hypot(t, 1), s = t * c;
	const auto turn = [c, s](double &x, double &y) {
		const double old = x;
		x = c * x - s * y;
		y = s * old + c * y;
	};
	for (int k = 0; k < n; k++)
		turn(A[at(k, n, p)], A[at(k, n, q)]), turn(V[at(k, n, p)], V[at(k, n, q)]);
	for (int k = 0; k < n; k++)
		turn(A[at(p, n, k)], A[at(q, n, k)]);
}

// Eigenvalues to the diagonal of A, eigenvectors to the columns of V.
void eigen(std::vector<double> &A, std::vector<double> &V, int n) {
	constexpr int sweeps = 12; // converges quadratically; 8 do for 100 stations
	V.assign(A.size(), 0);
	for (int i = 0; i < n; i++)
		V[at(i, n, i)] = 1;
	for (int sweep = 0; sweep < sweeps; sweep++)
		for (int p = 0; p < n; p++)
			for (int q = p + 1; q < n; q++)
				rotate(A, V, n, p, q);
}

double deflection(double x, double load_at, double EI) {
	const double a = std::min(x, load_at), b = std::max(x, load_at);
	return a * a * (3 * b - a) / (6 * EI);
}

double slope(double x, double load_at, double EI) {
	return x < load_at ? x * (2 * load_at - x) / (2 * EI) : load_at * load_at / (2 * EI);
}

// Mode `column` of the plane (deflection f, slope df) at a node, and its twin in the other plane.
void set_shape(BoomNode &node, int modes, int column, double f, double df) {
	node.phi.resize(at(3, modes, 0)), node.psi.resize(at(3, modes, 0));
	node.phi[at(1, modes, column)] = f;
	node.psi[at(2, modes, column)] = df;
	node.phi[at(2, modes, modes / 2 + column)] = f;
	node.psi[at(1, modes, modes / 2 + column)] = -df;
}

void set_stiffness(Boom &boom, int i, int j, double k) {
	const int half = boom.modes / 2;
	boom.stiffness.resize(at(boom.modes, boom.modes, 0));
	boom.stiffness[at(i, boom.modes, j)] = boom.stiffness[at(half + i, boom.modes, half + j)] = k;
}

} // namespace

Boom catalogue_boom(double length, double mass, double EI, double beta) {
	constexpr double radius = 0.12;
	Boom boom;
	boom.modes = 4;
	for (int k = 0; k <= 4; k++) {
		const double s = 0.25 * k, m = mass / (k == 0 || k == 4 ? 8 : 4), J = m * radius * radius;
		BoomNode node{s * length, m, {J, J / 2, J / 2}, {}, {}};
		if (k == 0)
			node.inertia = {};
		else {
			set_shape(node, 4, 0, s * s * (3 - s) / 2, (6 * s - 3 * s * s) / 2 / length);
			set_shape(node, 4, 1, s * s, 2 * s / length);
		}
		boom.nodes.push_back(node);
	}
	// Integrals of f_i'' f_j'' with f'' = 3 - 3s and 2.
	constexpr double bending[2][2] = {{3, 3}, {3, 4}};
	for (int i = 0; i < 2; i++)
		for (int j = 0; j < 2; j++)
			set_stiffness(boom, i, j, EI / (length * length * length) * bending[i][j]);
	boom.damping = boom.stiffness;
	for (double &d : boom.damping)
		d *= beta;
	return boom;
}

Boom cantilever(int modes, double length, double mass, double EI, double radius) {
	const int half = modes / 2, n = half + 4;
	Boom boom;
	boom.modes = modes;
	for (int k = 0; k <= n; k++) {
		const double m = mass / (k == 0 || k == n ? 2 * n : n);
		boom.nodes.push_back({length * k / n, m, {m * radius * radius, 0, 0}, {}, {}});
	}
	const auto station = [&boom](int k) -> BoomNode & { return boom.nodes[static_cast<std::size_t>(k + 1)]; };
	std::vector<double> A(at(n, n, 0)), V;
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++)
			A[at(i, n, j)] = std::sqrt(station(i).mass * station(j).mass) * deflection(station(i).x, station(j).x, EI);
	eigen(A, V, n);
	std::vector<int> order(static_cast<std::size_t>(n));
	std::iota(order.begin(), order.end(), 0);
	std::sort(order.begin(), order.end(), [&](int a, int b) { return A[at(a, n, a)] > A[at(b, n, b)]; });
	for (int k = 0; k < half; k++) {
		const int column = order[static_cast<std::size_t>(k)];
		const double w2 = 1 / A[at(column, n, column)];
		for (int i = 0; i < n; i++) {
			double df = 0;
			for (int j = 0; j < n; j++)
				df += w2 * std::sqrt(station(j).mass) * V[at(j, n, column)] * slope(station(i).x, station(j).x, EI);
			set_shape(station(i), modes, k, V[at(i, n, column)] / std::sqrt(station(i).mass), df);
		}
		set_stiffness(boom, k, k, w2);
	}
	return boom;
}

} // namespace bench
