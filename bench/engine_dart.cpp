// SPDX-License-Identifier: Apache-2.0
// DART. It caches per joint and ignores a position that does not change, so that each call sets the
// positions anew, alternating between the state and one beside it; that is part of the timed call, as
// DART has no cheaper way to say "recompute". Its free joint is a body twist: u_e = (w, R^T v).
#include "engines.h"
#include "mapping.h"

#include <dart/config.hpp>
#include <dart/dynamics/BallJoint.hpp>
#include <dart/dynamics/BodyNode.hpp>
#include <dart/dynamics/FreeJoint.hpp>
#include <dart/dynamics/RevoluteJoint.hpp>
#include <dart/dynamics/Skeleton.hpp>

#include <memory>

namespace bench {
namespace {

using dart::dynamics::BodyNode;
using dart::dynamics::Skeleton;

constexpr int max_bodies = 2000;
constexpr double nudge = 1e-3; // rad or m

Eigen::Vector3d vec(const Vec3 &v) { return {v[0], v[1], v[2]}; }

Eigen::Matrix3d mat(const Mat3 &m) {
	Eigen::Matrix3d out;
	out << m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7], m[8];
	return out;
}

Eigen::VectorXd vector(const std::vector<double> &v) {
	return Eigen::Map<const Eigen::VectorXd>(v.data(), static_cast<Eigen::Index>(v.size()));
}

template <class Joint>
BodyNode *add_joint(Skeleton &skeleton, BodyNode *parent, const typename Joint::Properties &properties,
                    const std::string &name) {
	BodyNode::Properties body;
	body.mName = name;
	return skeleton.createJointAndBodyNodePair<Joint>(parent, properties, body).second;
}

class DartEngine : public Engine {
  public:
	std::string name() const override { return "dart"; }
	std::string version() const override { return DART_VERSION; }

	bool load(const BenchModel &model, std::string &reason) override {
		if (model.n() > max_bodies) {
			reason = "building the skeleton takes minutes";
			return false;
		}
		model_ = model;
		skeleton_ = Skeleton::create(model.name);
		skeleton_->setGravity(vec(model.gravity));
		nodes_.clear();
		for (const BenchBody &b : model.bodies)
			add(b);
		return true;
	}

	void set_state(const BenchState &s) override {
		build_map(s);
		q_[0] = positions(s);
		q_[1] = q_[0] + Eigen::VectorXd::Constant(model_.nu, nudge);
		skeleton_->setPositions(q_[1]);
		skeleton_->setVelocities(vector(map_.u_to_engine(s.u)));
		skeleton_->setForces(vector(map_.tau_to_engine(s.tau)));
		skeleton_->setAccelerations(vector(map_.udot_to_engine(s.udot)));
		next_ = 0;
	}

	void forward_dynamics() override {
		touch_positions();
		skeleton_->computeForwardDynamics();
	}

	void inverse_dynamics() override {
		touch_positions();
		skeleton_->computeInverseDynamics(false, false, false);
	}

	void mass_matrix() override {
		touch_positions();
		skeleton_->getMassMatrix();
	}

	void mass_inverse() override {
		touch_positions();
		skeleton_->getInvMassMatrix();
	}

	void jacobian() override {
		touch_positions();
		J_ = skeleton_->getWorldJacobian(nodes_.back());
	}

	std::vector<double> udot() const override {
		return map_.udot_from_engine(skeleton_->getAccelerations().data(), model_.nu);
	}

	std::vector<double> tau() const override { return map_.tau_from_engine(skeleton_->getForces().data(), model_.nu); }

	std::vector<double> M() const override {
		const Eigen::MatrixXd &m = skeleton_->getMassMatrix();
		return map_.M_from_engine([&](int i, int j) { return m(i, j); }, model_.nu);
	}

	std::vector<double> Minv() const override {
		const Eigen::MatrixXd &m = skeleton_->getInvMassMatrix();
		return map_.Minv_from_engine([&](int i, int j) { return m(i, j); }, model_.nu);
	}

	std::vector<double> J() const override {
		return map_.J_from_engine([&](int i, int j) { return J_(i, j); }, model_.nu);
	}

  private:
	void touch_positions() {
		skeleton_->setPositions(q_[next_]);
		next_ ^= 1;
	}

	void add(const BenchBody &b) {
		using namespace dart::dynamics;
		Joint::Properties base;
		base.mName = "j" + std::to_string(nodes_.size());
		base.mT_ParentBodyToJoint.linear() = mat(b.R_PF);
		base.mT_ParentBodyToJoint.translation() = vec(b.p_PF);
		BodyNode *parent = b.parent < 0 ? nullptr : nodes_[b.parent];
		const std::string name = "b" + std::to_string(nodes_.size());
		BodyNode *node = nullptr;
		if (b.joint == JointKind::revolute) {
			RevoluteJoint::Properties p(GenericJoint<dart::math::R1Space>::Properties(base, {}),
			                            RevoluteJoint::UniqueProperties(vec(unit_axis(b.axis))));
			node = add_joint<RevoluteJoint>(*skeleton_, parent, p, name);
		} else if (b.joint == JointKind::spherical) {
			node = add_joint<BallJoint>(*skeleton_, parent,
			                            BallJoint::Properties(BallJoint::Base::Properties(base, {})), name);
		} else {
			node = add_joint<FreeJoint>(*skeleton_, parent,
			                            FreeJoint::Properties(FreeJoint::Base::Properties(base, {})), name);
		}
		node->setInertia(Inertia(b.mass, vec(b.com), mat(b.inertia)));
		nodes_.push_back(node);
	}

	int first_dof(int i) const { return static_cast<int>(nodes_[i]->getParentJoint()->getIndexInSkeleton(0)); }

	Eigen::VectorXd positions(const BenchState &s) const {
		Eigen::VectorXd q(model_.nu);
		for (int i = 0; i < model_.n(); i++) {
			const BenchBody &b = model_.bodies[i];
			const int at = first_dof(i);
			if (b.joint == JointKind::revolute) {
				q[at] = s.q[b.q0];
				continue;
			}
			q.segment<3>(at) = vec(rotation_vector(joint_quaternion(b, s.q)));
			if (b.joint == JointKind::free)
				q.segment<3>(at + 3) = Eigen::Map<const Eigen::Vector3d>(&s.q[b.q0]);
		}
		return q;
	}

	void build_map(const BenchState &s) {
		map_.joints.clear();
		for (int i = 0; i < model_.n(); i++) {
			const BenchBody &b = model_.bodies[i];
			JointMap m = identity_map(b.u0, first_dof(i), joint_nu(b.joint));
			if (b.joint == JointKind::free)
				set_free_map(m, rotation(joint_quaternion(b, s.q)), &s.u[b.u0]);
			map_.joints.push_back(m);
		}
	}

	// u_e = (w, R^T v), so the derivative of its second half is R^T vdot - w x R^T v.
	static void set_free_map(JointMap &m, const Mat3 &r, const double *u) {
		const Vec3 v_B = tmul(r, {u[0], u[1], u[2]});
		const Vec3 bias = cross(v_B, {u[3], u[4], u[5]});
		m.set(0, 0, Mat3{});
		m.set(3, 3, Mat3{});
		m.set(0, 3, identity3);
		m.set(3, 0, transpose(r));
		m.set_inverse(0, 0, Mat3{});
		m.set_inverse(3, 3, Mat3{});
		m.set_inverse(3, 0, identity3);
		m.set_inverse(0, 3, r);
		for (int k = 0; k < 3; k++)
			m.b[3 + k] = bias[k];
	}

	BenchModel model_;
	dart::dynamics::SkeletonPtr skeleton_;
	std::vector<BodyNode *> nodes_;
	SpeedMap map_;
	dart::math::Jacobian J_;
	Eigen::VectorXd q_[2];
	int next_ = 0;
};

} // namespace

std::unique_ptr<Engine> make_dart() { return std::make_unique<DartEngine>(); }

} // namespace bench
