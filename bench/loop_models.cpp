// SPDX-License-Identifier: Apache-2.0
// N four-bar windows (IFToMM benchmark A02): 2N+1 uniform rods of 1 m and 1 kg, without thickness, in the plane x-y,
// every hinge about z. N+1 rods are hinged to the ground at x = 0 ... N; rod i of the N across is hinged to the top of
// standing rod i, and its far end closes loop i on the top of standing rod i+1: body to body.
//
// All standing rods turn by th from the x axis, those across stay level: with joint angles th and -th the whole is one
// pendulum, and d2(th)/dt2 = -c cos(th) with c = g ((N+1)/2 + N) / ((N+1)/3 + N), whatever the speed.
//
// feetN: the same rods as one chain. Standing rod 0 is hinged to the ground; every other one is hinged by its top to the
// rod across, its foot closes a loop on the ground, and the next rod across is hinged to its top.
//
// ladderN: two rails of N rods from x = 0 and x = 1 of the ground, rod i of one parallel to rod i of the other. Rung i is
// hinged to the top of rod i of the first rail, and closes loop i on that of the second. Rungs stay level: the whole is a
// chain of N pendulums of twice the mass, with a rung's mass at each tip. netN: the same with four rails.
//
// At rest, against linkage_reference.cpp:
// trussN: N pairs of crossed rods (lazy tongs), each on the pair below; loops close on the neighbor.
// trackN: N rods in a closed ring that begins and ends on the ground: one loop.
// stewartN: a plate on N legs in space. A leg is a universal joint, a knee and a universal joint, all of hinges, and closes
// a hinge about z on the plate.
#include "loop_models.h"
#include "linkage_reference.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>

namespace bench {
namespace {

constexpr double gravity = 9.81, angle = 0.7, rate = -1.3; // far from th = 0 and pi, where the linkage is singular
constexpr int most_windows = 100000;

// The number after a prefix, 0 if the name is not of that kind.
int number_after(const std::string &name, const std::string &prefix) {
	if (name.compare(0, prefix.size(), prefix) != 0 || name.size() <= prefix.size() ||
	    !std::isdigit(static_cast<unsigned char>(name[prefix.size()])))
		return 0;
	char *end = nullptr;
	const long count = std::strtol(name.c_str() + prefix.size(), &end, 10);
	return *end == '\0' && count <= most_windows ? static_cast<int>(count) : 0;
}

// A uniform rod on a hinge about z, with its angle, rate and acceleration.
void add_rod(Linkage &l, int parent, const Vec3 &hinge, double q, double u, double udot) {
	BenchBody rod;
	rod.parent = parent;
	rod.p_PF = hinge;
	rod.com = {0.5, 0, 0};
	rod.inertia = diagonal({0, 1.0 / 12, 1.0 / 12});
	rod.q0 = l.model.nq++;
	rod.u0 = l.model.nu++;
	l.model.bodies.push_back(rod);
	l.state.q.push_back(q);
	l.state.u.push_back(u);
	l.state.tau.push_back(0);
	l.state.udot.push_back(0);
	l.udot.push_back(udot);
}

// x = A^-1 x of a positive matrix of n rows, which is used up.
void solve_positive(int n, std::vector<double> &A, std::vector<double> &x) {
	const auto at = [n](int i, int j) { return static_cast<std::size_t>(i * n + j); };
	for (int k = 0; k < n; k++)
		for (int i = k + 1; i < n; i++) {
			const double factor = A[at(i, k)] / A[at(k, k)];
			for (int j = k; j < n; j++)
				A[at(i, j)] -= factor * A[at(k, j)];
			x[at(0, i)] -= factor * x[at(0, k)];
		}
	for (int i = n - 1; i >= 0; i--) {
		for (int j = i + 1; j < n; j++)
			x[at(0, i)] -= A[at(i, j)] * x[at(0, j)];
		x[at(0, i)] /= A[at(i, i)];
	}
}

constexpr Vec3 end{1, 0, 0};

double window_acceleration(double n) { return -gravity * ((n + 1) / 2 + n) / ((n + 1) / 3 + n) * std::cos(angle); }

// Standing rods are the even bodies, rods across the odd ones.
void add_windows(Linkage &l, int windows) {
	const double a = window_acceleration(windows);
	for (int i = 0; i <= windows; i++) {
		add_rod(l, -1, {static_cast<double>(i), 0, 0}, angle, rate, a);
		if (i < windows)
			add_rod(l, 2 * i, end, -angle, -rate, -a);
	}
	for (int i = 0; i < windows; i++)
		l.model.loops.push_back({2 * i + 1, 2 * i + 2, end, end});
}

// The same bodies in the same order: rod i + 1 points down from its top.
void add_feet(Linkage &l, int windows) {
	const double a = window_acceleration(windows), down = angle + std::acos(-1.0);
	add_rod(l, -1, {}, angle, rate, a);
	for (int i = 0; i < windows; i++) {
		add_rod(l, 2 * i, i ? Vec3{} : end, i ? -down : -angle, -rate, -a);
		add_rod(l, 2 * i + 1, end, down, rate, a);
		l.model.loops.push_back({2 * i + 2, -1, end, {static_cast<double>(i + 1), 0, 0}});
	}
}

// Angles of the rods of a ladder: a gentle curve.
double rail_angle(int i) { return angle + 0.3 * std::sin(0.7 * i); }
double rail_rate(int i) { return rate + 0.5 * std::cos(1.1 * i); }

// M x = f of a chain of pendulums, M by the masses outboard of both tips: rods of all rails, and rungs between them.
std::vector<double> chain_accelerations(int n, int rails) {
	const double pair = 2.0 * rails - 1, rungs = rails - 1.0;
	const auto size = static_cast<std::size_t>(n);
	std::vector<double> M(size * size), x(size);
	for (int i = 0; i < n; i++) {
		const double outboard =
			pair * (n - i - 1) + rungs; // on the tips of rods i: rods and rungs farther out, their own
		x[static_cast<std::size_t>(i)] = -gravity * (outboard + rails / 2.0) * std::cos(rail_angle(i));
		for (int j = 0; j < n; j++) {
			const int outer = std::max(i, j);
			const double both = i == j ? outboard + rails / 3.0 : pair * (n - outer - 1) + rungs + rails / 2.0,
						 turn = rail_angle(i) - rail_angle(j);
			M[static_cast<std::size_t>(i * n + j)] = both * std::cos(turn);
			x[static_cast<std::size_t>(i)] -= i == j ? 0 : both * std::sin(turn) * rail_rate(j) * rail_rate(j);
		}
	}
	solve_positive(n, M, x);
	return x;
}

// Rods of the first rail and their rungs, then those of the next. The last rail has none.
void add_rails(Linkage &l, int rungs, int rails) {
	const std::vector<double> a = chain_accelerations(rungs, rails);
	for (int rail = 0; rail < rails; rail++) {
		for (int i = 0, below = -1; i < rungs; i++) {
			const auto at = static_cast<std::size_t>(i);
			const int rod = l.model.n();
			add_rod(l, below, i ? end : Vec3{static_cast<double>(rail), 0, 0},
			        rail_angle(i) - (i ? rail_angle(i - 1) : 0), rail_rate(i) - (i ? rail_rate(i - 1) : 0),
			        a[at] - (i ? a[at - 1] : 0));
			if (rail > 0)
				l.model.loops.push_back({2 * rungs * (rail - 1) + 2 * i + 1, rod, end, end});
			if (rail < rails - 1)
				add_rod(l, rod, end, -rail_angle(i), -rail_rate(i), -a[at]);
			below = rod;
		}
	}
}

void add_ladder(Linkage &l, int rungs) { add_rails(l, rungs, 2); }
void add_net(Linkage &l, int length) { add_rails(l, length, 4); }

// Rod 2i leans to the right and rod 2i + 1, hinged to its middle by its own, to the left. The next one is attached to the latter's
// top, and the foot of the other one closes a loop on the former's top.
void add_truss(Linkage &l, int pairs) {
	const double left = std::acos(-1.0) - angle;
	for (int i = 0; i < pairs; i++) {
		add_rod(l, 2 * i - 1, i ? Vec3{0.5, 0, 0} : Vec3{}, i ? angle - left : angle, 0, 0);
		add_rod(l, 2 * i, {0.5, 0, 0}, left - angle, 0, 0);
		l.model.bodies.back().com = {};
		if (i > 0)
			l.model.loops.push_back({2 * i - 2, 2 * i + 1, end, {-0.5, 0, 0}});
	}
}

void add_track(Linkage &l, int rods) {
	for (int i = 0; i < rods; i++)
		add_rod(l, i - 1, i ? end : Vec3{}, i ? 2 * std::acos(-1.0) / rods : angle, 0, 0);
	l.model.loops.push_back({rods - 1, -1, end, {}});
}

// A part of a leg along z, on a hinge about an axis.
void add_part(Linkage &l, int parent, int axis, double height, double length, double q) {
	add_rod(l, parent, {0, 0, height}, q, 0, 0);
	BenchBody &part = l.model.bodies.back();
	part.axis = axis;
	part.com = {0, 0, length / 2};
	part.inertia = diagonal({0.1, 0.11, 0.05});
}

void add_stewart(Linkage &l, int legs) {
	const double lean = 0.4, height = 2 * std::cos(lean), full = 2 * std::acos(-1.0);
	BenchBody plate;
	plate.joint = JointKind::free;
	plate.com = {0.1, 0.05, 0.02};
	plate.mass = 5;
	l.model.bodies.push_back(plate);
	l.model.nq = 7, l.model.nu = 6;
	l.state.q = {0, 0, height, 1, 0, 0, 0};
	l.state.u.assign(6, 0);
	l.state.tau = l.state.udot = l.udot = l.state.u;
	for (int i = 0; i < legs; i++) {
		const double at = full * i / legs, turned = at + 0.3 * (i % 2);
		const Vec3 foot = {std::cos(at), std::sin(at), 0};
		add_part(l, -1, 0, 0, 0.1, 0);
		l.model.bodies.back().R_PF = rotation({std::cos(turned / 2), 0, 0, std::sin(turned / 2)});
		l.model.bodies.back().p_PF = foot;
		const int first = l.model.n() - 1;
		add_part(l, first, 1, 0, 1, lean);
		add_part(l, first + 1, 1, 1, 1, -2 * lean);
		add_part(l, first + 2, 1, 1, 0.1, lean);
		add_part(l, first + 3, 0, 0, 0.1, 0);
		l.model.loops.push_back({0, first + 4, foot, {}});
	}
	l.model.spatial = true;
	l.model.gravity = {1, 2, -gravity};
}

} // namespace

const std::vector<std::string> &linkage_names() {
	static const std::vector<std::string> names = {
		"fourbar5", "fourbar40", "fourbar200", "fourbar400", "feet5",   "feet40",  "feet200", "feet800", "ladder10",
		"ladder40", "ladder200", "net10",      "net40",      "truss10", "truss40", "track10", "track80", "stewart6"};
	return names;
}

Linkage make_linkage(const std::string &name) {
	static const struct {
		const char *prefix;
		void (*add)(Linkage &l, int count);
	} kinds[] = {{"fourbar", add_windows}, {"feet", add_feet},   {"ladder", add_ladder},  {"net", add_net},
	             {"truss", add_truss},     {"track", add_track}, {"stewart", add_stewart}};
	Linkage l;
	l.model.name = name;
	l.model.gravity = {0, -gravity, 0};
	for (const auto &kind : kinds) {
		if (const int count = number_after(name, kind.prefix))
			kind.add(l, count);
	}
	const auto nothing = [](const std::vector<double> &x) {
		return std::all_of(x.begin(), x.end(), [](double a) { return a == 0; });
	};
	if (l.model.n() > 0 && nothing(l.udot))
		l.udot = accelerations_at_rest(l.model, l.state.q);
	return l;
}

} // namespace bench
