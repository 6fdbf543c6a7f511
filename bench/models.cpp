// SPDX-License-Identifier: Apache-2.0
// Generators of the benchmark's mechanisms. All bodies have a generic center of mass and a generic,
// physically valid inertia tensor, so that no engine profits from zeros.
#include "models.h"

#include <functional>

namespace bench {
namespace {

// SplitMix64: a counter through a mixing function; the same numbers on every machine.
class Random {
  public:
	explicit Random(std::uint64_t seed) : s_(seed) {}

	double uniform(double lo, double hi) { return lo + (hi - lo) * (static_cast<double>(next() >> 11) * 0x1p-53); }

	Vec3 vec3(double half) { return {uniform(-half, half), uniform(-half, half), uniform(-half, half)}; }

	Quat quat() {
		Quat q;
		double n2;
		do { // uniform on the sphere, by rejection
			for (double &x : q)
				x = uniform(-1, 1);
			n2 = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
		} while (n2 > 1 || n2 < 0.01);
		return normalized(q);
	}

  private:
	std::uint64_t next() {
		std::uint64_t z = (s_ += 0x9e3779b97f4a7c15u);
		z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
		z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
		return z ^ (z >> 31);
	}

	std::uint64_t s_;
};

// A solid box of random proportions, randomly turned inside the body frame.
void set_generic_inertia(BenchBody &b, double mass, double size, Random &rnd) {
	const Vec3 e = {size * rnd.uniform(0.5, 1), size * rnd.uniform(0.3, 0.8), size * rnd.uniform(0.2, 0.6)};
	const double k = mass / 12;
	const Vec3 d = {k * (e[1] * e[1] + e[2] * e[2]), k * (e[0] * e[0] + e[2] * e[2]), k * (e[0] * e[0] + e[1] * e[1])};
	const Mat3 r = rotation(rnd.quat());
	b.mass = mass;
	b.inertia = mul(r, mul(diagonal(d), transpose(r)));
	for (int i = 0; i < 3; i++) // exactly symmetric
		for (int j = 0; j < i; j++)
			b.inertia[3 * i + j] = b.inertia[3 * j + i];
}

int add_body(BenchModel &m, int parent, JointKind joint, int axis, const Vec3 &p, Random &rnd) {
	BenchBody b;
	b.parent = parent;
	b.joint = joint;
	b.axis = axis;
	b.p_PF = p;
	b.com = rnd.vec3(0.15);
	set_generic_inertia(b, rnd.uniform(0.5, 2), 0.4, rnd);
	b.q0 = m.nq;
	b.u0 = m.nu;
	m.nq += joint_nq(joint);
	m.nu += joint_nu(joint);
	m.bodies.push_back(b);
	return m.n() - 1;
}

Vec3 generic_offset(Random &rnd) { return add({0.25, 0.1, -0.1}, rnd.vec3(0.08)); }

void build_chain(BenchModel &m, int n, JointKind joint, Random &rnd) {
	for (int i = 0; i < n; i++)
		add_body(m, i - 1, joint, i % 3, generic_offset(rnd), rnd);
}

// Balanced binary tree; its placements are turned as well as displaced.
void build_tree(BenchModel &m, int n, Random &rnd) {
	for (int i = 0; i < n; i++) {
		const int parent = i == 0 ? -1 : (i - 1) / 2;
		const int b = add_body(m, parent, JointKind::revolute, i % 3, generic_offset(rnd), rnd);
		m.bodies[b].R_PF = rotation(rnd.quat());
	}
}

// A serial limb of revolutes: axes as a string of 'x', 'y', 'z', the first joint at `root`.
int build_limb(BenchModel &m, int parent, const Vec3 &root, const Vec3 &step, const char *axes, Random &rnd) {
	for (const char *a = axes; *a; a++)
		parent = add_body(m, parent, JointKind::revolute, *a - 'x', add(a == axes ? root : step, rnd.vec3(0.03)), rnd);
	return parent;
}

// Pelvis on a free joint, torso 3, head 2, legs 2 x 6, arms 2 x 7: 32 bodies, 37 DOF.
void build_humanoid(BenchModel &m, Random &rnd) {
	const int pelvis = add_body(m, -1, JointKind::free, 0, {0, 0, 0}, rnd);
	const int chest = build_limb(m, pelvis, {0, 0, 0.1}, {0, 0, 0.12}, "zyx", rnd);
	build_limb(m, chest, {0, 0, 0.25}, {0, 0, 0.08}, "zy", rnd);
	for (const double side : {1.0, -1.0})
		build_limb(m, pelvis, {0, 0.1 * side, -0.05}, {0, 0, -0.2}, "zxyyyx", rnd);
	for (const double side : {1.0, -1.0})
		build_limb(m, chest, {0, 0.2 * side, 0.2}, {0, 0.05 * side, -0.12}, "yxzyzyx", rnd);
}

struct Generator {
	const char *name;
	std::function<void(BenchModel &, Random &)> build;
};

std::function<void(BenchModel &, Random &)> chain(int n, JointKind joint) {
	return [=](BenchModel &m, Random &r) { build_chain(m, n, joint, r); };
}

// One line per model.
const std::vector<Generator> &generators() {
	static const std::vector<Generator> list = {
		{"chain7", chain(7, JointKind::revolute)},
		{"chain32", chain(32, JointKind::revolute)},
		{"chain100", chain(100, JointKind::revolute)},
		{"chain128", chain(128, JointKind::revolute)},
		{"chain1000", chain(1000, JointKind::revolute)},
		{"chain10000", chain(10000, JointKind::revolute)},
		{"tree127", [](BenchModel &m, Random &r) { build_tree(m, 127, r); }},
		{"humanoid", [](BenchModel &m, Random &r) { build_humanoid(m, r); }},
		{"sph100", chain(100, JointKind::spherical)},
	};
	return list;
}

} // namespace

const std::vector<std::string> &model_names() {
	static const std::vector<std::string> names = [] {
		std::vector<std::string> v;
		for (const Generator &g : generators())
			v.push_back(g.name);
		return v;
	}();
	return names;
}

BenchModel make_model(const std::string &name, std::uint64_t seed) {
	BenchModel m;
	m.name = name;
	Random rnd(seed);
	for (const Generator &g : generators())
		if (name == g.name)
			g.build(m, rnd);
	return m;
}

BenchState make_state(const BenchModel &model, std::uint64_t seed) {
	Random rnd(seed ^ 0x5eedu);
	BenchState s;
	for (const BenchBody &b : model.bodies) {
		if (b.joint == JointKind::revolute)
			s.q.push_back(rnd.uniform(-1.5, 1.5));
		if (b.joint == JointKind::free)
			for (const double x : rnd.vec3(1))
				s.q.push_back(x);
		if (b.joint != JointKind::revolute)
			for (const double x : rnd.quat())
				s.q.push_back(x);
	}
	for (std::vector<double> *v : {&s.u, &s.tau, &s.udot})
		for (int i = 0; i < model.nu; i++)
			v->push_back(rnd.uniform(-1, 1));
	return s;
}

Quat joint_quaternion(const BenchBody &body, const std::vector<double> &q) {
	const double *p = &q[body.q0 + (body.joint == JointKind::free ? 3 : 0)];
	return {p[0], p[1], p[2], p[3]};
}

} // namespace bench
