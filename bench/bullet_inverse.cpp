// SPDX-License-Identifier: Apache-2.0
// MultiBodyTree: body frames at the joints, as here; a floating root has q = (x-y-z angles, position),
// u_e = (w, R^T v) and, as accelerations, R^T vdot itself (no w x v term).
#include "bullet_inverse.h"
#include "mapping.h"

#include <BulletInverseDynamics/MultiBodyTree.hpp>

namespace bench {
namespace {

namespace id = btInverseDynamics;

constexpr int max_bodies = 1000; // every body holds two Jacobians of 3 x nu

id::vec3 vec(const Vec3 &v) { return btVector3(v[0], v[1], v[2]); }

id::mat33 mat(const Mat3 &m) { return btMatrix3x3(m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8]); }

// Inertia about the origin of the body frame: I + m (c.c 1 - c c^T).
Mat3 inertia_about_origin(const BenchBody &b) {
	const Mat3 cx = skew(b.com), shift = mul(cx, cx);
	Mat3 out = b.inertia;
	for (int i = 0; i < 9; i++)
		out[i] -= b.mass * shift[i];
	return out;
}

// R = Rx(a) Ry(b) Rz(c)
Vec3 xyz_angles(const Mat3 &r) {
	return {std::atan2(-r[5], r[8]), std::atan2(r[2], std::hypot(r[0], r[1])), std::atan2(-r[1], r[0])};
}

void copy(const std::vector<double> &from, id::vecx &to) {
	for (std::size_t i = 0; i < from.size(); i++)
		to(static_cast<int>(i)) = from[i];
}

JointMap joint_map(const BenchBody &b, const BenchState &s) {
	JointMap m = identity_map(b.u0, b.u0, joint_nu(b.joint));
	if (b.joint != JointKind::free)
		return m;
	const Mat3 r = rotation(joint_quaternion(b, s.q));
	m.set(0, 0, Mat3{});
	m.set(3, 3, Mat3{});
	m.set(0, 3, identity3);
	m.set(3, 0, transpose(r));
	m.set_inverse(0, 0, Mat3{});
	m.set_inverse(3, 3, Mat3{});
	m.set_inverse(3, 0, identity3);
	m.set_inverse(0, 3, r);
	return m;
}

} // namespace

struct BulletInverse::Impl {
	explicit Impl(const BenchModel &m) : model(m), q(m.nu), u(m.nu), udot(m.nu), tau(m.nu), M(m.nu, m.nu) {}

	bool build() {
		int failed = 0;
		for (int i = 0; i < model.n(); i++) {
			const BenchBody &b = model.bodies[i];
			failed |= tree.addBody(i, b.parent, b.joint == JointKind::free ? id::FLOATING : id::REVOLUTE, vec(b.p_PF),
			                       mat(transpose(b.R_PF)), vec(unit_axis(b.axis)), b.mass, vec(b.com),
			                       mat(inertia_about_origin(b)), 0, nullptr);
		}
		failed |= tree.finalize();
		failed |= tree.setGravityInWorldFrame(vec(model.gravity));
		return !failed;
	}

	BenchModel model;
	id::MultiBodyTree tree;
	SpeedMap map;
	id::vecx q, u, udot, tau;
	id::matxx M;
};

BulletInverse::BulletInverse() = default;
BulletInverse::~BulletInverse() = default;

bool BulletInverse::load(const BenchModel &model, std::string &reason) {
	if (model.n() > max_bodies) {
		reason = "its memory grows with the square of the bodies";
		return false;
	}
	for (const BenchBody &b : model.bodies)
		if (b.joint == JointKind::spherical) {
			reason = "its spherical joint ignores the joint's offset in the parent";
			return false;
		}
	impl_ = std::make_unique<Impl>(model);
	if (impl_->build())
		return true;
	reason = "MultiBodyTree refused the model";
	return false;
}

void BulletInverse::set_state(const BenchState &s) {
	Impl &im = *impl_;
	im.map.joints.clear();
	for (const BenchBody &b : im.model.bodies) {
		im.map.joints.push_back(joint_map(b, s));
		if (b.joint == JointKind::revolute) {
			im.q(b.u0) = s.q[b.q0];
			continue;
		}
		const Vec3 a = xyz_angles(rotation(joint_quaternion(b, s.q)));
		for (int k = 0; k < 3; k++)
			im.q(b.u0 + k) = a[k], im.q(b.u0 + 3 + k) = s.q[b.q0 + k];
	}
	copy(im.map.u_to_engine(s.u), im.u);
	copy(im.map.udot_to_engine(s.udot), im.udot);
}

void BulletInverse::inverse_dynamics() {
	impl_->tree.calculateInverseDynamics(impl_->q, impl_->u, impl_->udot, &impl_->tau);
}

void BulletInverse::mass_matrix() { impl_->tree.calculateMassMatrix(impl_->q, &impl_->M); }

std::vector<double> BulletInverse::tau() const {
	return impl_->map.tau_from_engine(impl_->tau.getBufferPointer(), impl_->model.nu);
}

std::vector<double> BulletInverse::M() const {
	return impl_->map.M_from_engine([this](int i, int j) { return impl_->M(i, j); }, impl_->model.nu);
}

} // namespace bench
