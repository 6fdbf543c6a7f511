// SPDX-License-Identifier: Apache-2.0
// Bullet, double precision. Forward dynamics is btMultiBody's articulated-body algorithm with a zero
// time step; its links live in the principal axes at their centers of mass. Gravity enters as a constant
// force at each center of mass, set beforehand. The joint transforms (sine and cosine of q) belong to
// the call: "bullet" refreshes them, "bullet-kernel" leaves them out, to show the algorithm alone.
// Inverse dynamics and mass matrix are in a library of their own, see bullet_inverse.h.
//
// With R the rotation and c the center of mass of a free root, u_e = (R w, v + R w x R c); Bullet keeps
// these six apart from the joint speeds, here they come first. A spherical joint's speeds are in the
// link's principal axes: u_e = R_BC^T w.
#include "engines.h"
#include "mapping.h"
#ifdef BENCH_BULLET_INVERSE
#include "bullet_inverse.h"
#endif

#include <BulletDynamics/Featherstone/btMultiBody.h>

#include <memory>

namespace bench {
namespace {

btVector3 vec(const Vec3 &v) { return {v[0], v[1], v[2]}; }

btQuaternion quat(const Quat &q) { return {q[1], q[2], q[3], q[0]}; }

class BulletEngine : public Engine {
  public:
	explicit BulletEngine(bool kernel_only) : kernel_only_(kernel_only) {}

	std::string name() const override { return kernel_only_ ? "bullet-kernel" : "bullet"; }

	std::string version() const override {
		return std::to_string(btGetVersion() / 100) + "." + std::to_string(btGetVersion() % 100);
	}

	bool load(const BenchModel &model, std::string &reason) override {
		for (int i = 0; i < model.n(); i++)
			if (model.bodies[i].joint == JointKind::free && i > 0) {
				reason = "only the root may be free";
				return false;
			}
		model_ = model;
		free_root_ = model.bodies[0].joint == JointKind::free;
		principal_.clear();
		for (const BenchBody &b : model.bodies)
			principal_.push_back(principal_axes(b.inertia));
		build();
#ifdef BENCH_BULLET_INVERSE
		inverse_ = std::make_unique<BulletInverse>();
		if (!inverse_->load(model, no_inverse_))
			inverse_.reset();
#endif
		return true;
	}

	bool supports(Algorithm a, std::string &reason) const override {
		if (a == Algorithm::forward_dynamics)
			return true;
		if (a == Algorithm::mass_inverse || a == Algorithm::jacobian || a == Algorithm::forward_derivatives) {
			reason = "not among its functions, or not in world axes";
			return false;
		}
		reason = kernel_only_ ? "same as bullet" : no_inverse_;
		return !kernel_only_ && has_inverse();
	}

	void set_state(const BenchState &s) override {
		build_map(s);
		if (free_root_)
			set_root_pose(s);
		for (int i = first_link_body(); i < model_.n(); i++)
			set_joint_position(i, s.q);
		const std::vector<double> u = map_.u_to_engine(s.u);
		set_velocities(u);
		set_forces(map_.tau_to_engine(s.tau));
#ifdef BENCH_BULLET_INVERSE
		if (inverse_)
			inverse_->set_state(s);
#endif
	}

	void forward_dynamics() override {
		if (!kernel_only_)
			for (int i = 0; i < body_->getNumLinks(); i++)
				body_->getLink(i).updateCacheMultiDof();
		body_->computeAccelerationsArticulatedBodyAlgorithmMultiDof(0, scratch_r_, scratch_v_, scratch_m_, false, false,
		                                                            false);
	}

	std::vector<double> udot() const override {
		const btScalar *out = &scratch_r_[body_->getNumDofs()]; // root 6, then the joints
		return map_.udot_from_engine(free_root_ ? out : out + 6, model_.nu);
	}

#ifdef BENCH_BULLET_INVERSE
	void inverse_dynamics() override { inverse_->inverse_dynamics(); }
	void mass_matrix() override { inverse_->mass_matrix(); }
	std::vector<double> tau() const override { return inverse_->tau(); }
	std::vector<double> M() const override { return inverse_->M(); }
#else
	void inverse_dynamics() override {}
	void mass_matrix() override {}
	std::vector<double> tau() const override { return {}; }
	std::vector<double> M() const override { return {}; }
#endif

  private:
	bool has_inverse() const {
#ifdef BENCH_BULLET_INVERSE
		return inverse_ != nullptr;
#else
		return false;
#endif
	}

	int first_link_body() const { return free_root_ ? 1 : 0; }
	int link_of(int body) const { return body - first_link_body(); }

	void build() {
		const BenchBody &root = model_.bodies[0];
		const int links = model_.n() - first_link_body();
		const Vec3 d = free_root_ ? principal_[0].d : Vec3{};
		body_ = std::make_unique<btMultiBody>(links, free_root_ ? root.mass : 0, vec(d), !free_root_, false);
		body_->setLinearDamping(0);
		body_->setAngularDamping(0);
		body_->setBasePos(btVector3(0, 0, 0));
		body_->setWorldToBaseRot(btQuaternion(0, 0, 0, 1));
		for (int i = first_link_body(); i < model_.n(); i++)
			setup_link(i);
		body_->finalizeMultiDof();
	}

	void setup_link(int i) {
		const BenchBody &b = model_.bodies[i];
		const Mat3 &R_BC = principal_[i].R;
		const Mat3 R_parent = b.parent < 0 ? identity3 : principal_[b.parent].R;
		const Vec3 com_parent = b.parent < 0 ? Vec3{} : model_.bodies[b.parent].com;
		const Quat rot = quaternion(mul(transpose(R_BC), mul(transpose(b.R_PF), R_parent)));
		const btVector3 to_pivot = vec(tmul(R_parent, sub(b.p_PF, com_parent)));
		const btVector3 to_com = vec(tmul(R_BC, b.com));
		const btVector3 inertia = vec(principal_[i].d);
		const int link = link_of(i), parent = b.parent < 0 ? -1 : link_of(b.parent);
		if (b.joint == JointKind::revolute)
			body_->setupRevolute(link, b.mass, inertia, parent, quat(rot), vec(tmul(R_BC, unit_axis(b.axis))), to_pivot,
			                     to_com, true);
		else
			body_->setupSpherical(link, b.mass, inertia, parent, quat(rot), to_pivot, to_com, true);
	}

	void set_root_pose(const BenchState &s) {
		const Mat3 R = rotation(joint_quaternion(model_.bodies[0], s.q));
		const Vec3 com = add({s.q[0], s.q[1], s.q[2]}, mul(R, model_.bodies[0].com));
		body_->setBasePos(vec(com));
		body_->setWorldToBaseRot(quat(quaternion(transpose(mul(R, principal_[0].R)))));
	}

	void set_joint_position(int i, const std::vector<double> &q) {
		const BenchBody &b = model_.bodies[i];
		if (b.joint == JointKind::revolute) {
			body_->setJointPosMultiDof(link_of(i), &q[b.q0]);
			return;
		}
		const Quat r = joint_quaternion(b, q);
		const Vec3 v = tmul(principal_[i].R, {r[1], r[2], r[3]});
		const double xyzw[4] = {v[0], v[1], v[2], r[0]};
		body_->setJointPosMultiDof(link_of(i), xyzw);
	}

	void set_velocities(const std::vector<double> &u) {
		if (free_root_) {
			body_->setBaseOmega(btVector3(u[0], u[1], u[2]));
			body_->setBaseVel(btVector3(u[3], u[4], u[5]));
		}
		for (int i = first_link_body(); i < model_.n(); i++)
			body_->setJointVelMultiDof(link_of(i), &u[map_.joints[i].engine]);
	}

	void set_forces(const std::vector<double> &tau) {
		const btVector3 g = vec(model_.gravity);
		body_->clearForcesAndTorques();
		if (free_root_) {
			body_->addBaseTorque(btVector3(tau[0], tau[1], tau[2]));
			body_->addBaseForce(btVector3(tau[3], tau[4], tau[5]) + g * model_.bodies[0].mass);
		}
		for (int i = first_link_body(); i < model_.n(); i++) {
			body_->addLinkForce(link_of(i), g * model_.bodies[i].mass);
			body_->addJointTorqueMultiDof(link_of(i), &tau[map_.joints[i].engine]);
		}
	}

	void build_map(const BenchState &s) {
		map_.joints.clear();
		for (int i = 0; i < model_.n(); i++) {
			const BenchBody &b = model_.bodies[i];
			JointMap m = identity_map(b.u0, b.u0, joint_nu(b.joint));
			if (b.joint == JointKind::spherical) {
				m.set(0, 0, transpose(principal_[i].R));
				m.set_inverse(0, 0, principal_[i].R);
			}
			if (b.joint == JointKind::free)
				set_root_map(m, b, s);
			map_.joints.push_back(m);
		}
	}

	// u_e = (R w, v - Rc x R w); derivative's bias: w_W x (w_W x Rc).
	static void set_root_map(JointMap &m, const BenchBody &b, const BenchState &s) {
		const Mat3 R = rotation(joint_quaternion(b, s.q));
		const Vec3 c = mul(R, b.com), w = mul(R, Vec3{s.u[b.u0 + 3], s.u[b.u0 + 4], s.u[b.u0 + 5]});
		const Mat3 cx = skew(c), minus_cx = transpose(cx);
		m.set(0, 0, Mat3{});
		m.set(0, 3, R);
		m.set(3, 0, identity3);
		m.set(3, 3, mul(minus_cx, R));
		m.set_inverse(0, 0, cx);
		m.set_inverse(0, 3, identity3);
		m.set_inverse(3, 0, transpose(R));
		m.set_inverse(3, 3, Mat3{});
		const Vec3 bias = cross(w, cross(w, c));
		for (int k = 0; k < 3; k++)
			m.b[3 + k] = bias[k];
	}

	const bool kernel_only_;
	BenchModel model_;
	bool free_root_ = false;
	std::vector<Principal> principal_;
	std::unique_ptr<btMultiBody> body_;
	btAlignedObjectArray<btScalar> scratch_r_;
	btAlignedObjectArray<btVector3> scratch_v_;
	btAlignedObjectArray<btMatrix3x3> scratch_m_;
	SpeedMap map_;
	std::string no_inverse_ = "built without the headers of BulletInverseDynamics";
#ifdef BENCH_BULLET_INVERSE
	std::unique_ptr<BulletInverse> inverse_;
#endif
};

} // namespace

std::unique_ptr<Engine> make_bullet() { return std::make_unique<BulletEngine>(false); }
std::unique_ptr<Engine> make_bullet_kernel() { return std::make_unique<BulletEngine>(true); }

} // namespace bench
