// SPDX-License-Identifier: Apache-2.0
// Calder itself. Speeds and coordinates have the neutral conventions already; only their order may differ,
// because Calder sorts bodies depth first.
#include "engines.h"

#include <calder/calder.h>

namespace bench {
namespace {

CalVec3 to_cal(const Vec3 &v) { return {v[0], v[1], v[2]}; }

CalMat3 to_cal(const Mat3 &m) {
	CalMat3 out;
	for (int i = 0; i < 3; ++i) {
		for (int j = 0; j < 3; ++j)
			out.m[i][j] = m[static_cast<size_t>(3 * i + j)];
	}
	return out;
}

CalQuat quaternion_of(const Mat3 &R) {
	const Quat q = quaternion(R);
	return {q[0], q[1], q[2], q[3]};
}

class CalderEngine final : public Engine {
  public:
	~CalderEngine() override {
		cal_derivatives_destroy(derivatives_);
		cal_work_destroy(work_);
		cal_state_destroy(&state_);
		cal_model_destroy(model_);
		cal_desc_destroy(desc_);
	}

	std::string name() const override { return "calder"; }
	std::string version() const override { return cal_version(); }
	bool closes_loops() const override { return true; }
	bool supports(Algorithm, std::string &) const override { return true; }

	bool load(const BenchModel &model, std::string &reason) override {
		CalError error{};
		if (!describe(model, error)) {
			reason = error.text;
			return false;
		}
		CalCompileOptions options{};
		if (cal_model_compile(desc_, &options, &model_, &error) != CAL_OK) {
			reason = error.text;
			return false;
		}
		if (cal_state_create(model_, &state_) != CAL_OK || cal_work_create(model_, &work_) != CAL_OK) {
			reason = "out of memory";
			return false;
		}
		map_order(model);
		const auto nu = static_cast<size_t>(model.nu);
		tau_.resize(nu), udot_.resize(nu), tau_out_.resize(nu), udot_out_.resize(nu);
		if (model.n() <= 128 && !reserve_dense(nu)) {
			reason = "out of memory";
			return false;
		}
		J_.resize(6 * nu);
		return true;
	}

	void set_state(const BenchState &state) override {
		for (size_t i = 0; i < q_of_.size(); ++i)
			state_.q[q_of_[i]] = state.q[i];
		for (size_t i = 0; i < u_of_.size(); ++i) {
			state_.u[u_of_[i]] = state.u[i];
			tau_[u_of_[i]] = state.tau[i];
			udot_[u_of_[i]] = state.udot[i];
		}
		input_ = {};
		input_.tau = tau_.data();
	}

	void forward_dynamics() override { cal_forward_dynamics(model_, &state_, &input_, work_, udot_out_.data()); }
	void inverse_dynamics() override {
		cal_inverse_dynamics(model_, &state_, udot_.data(), nullptr, work_, tau_out_.data());
	}
	void mass_matrix() override { cal_mass_matrix(model_, &state_, work_, M_.data()); }

	void mass_inverse() override {
		if (cal_mass_factor(model_, &state_, work_) == CAL_OK)
			cal_mass_inverse(model_, work_, Minv_.data());
	}
	void jacobian() override { cal_node_jacobian_at(model_, &state_, tip_, work_, nullptr, J_.data()); }

	void forward_derivatives() override {
		cal_forward_derivatives(model_, &state_, &input_, derivatives_, udot_out_.data(), dq_.data(), du_.data(),
		                        Minv_.data());
	}

	std::vector<double> udot() const override { return neutral(udot_out_); }
	std::vector<double> tau() const override { return neutral(tau_out_); }
	std::vector<double> M() const override { return neutral_matrix(M_); }
	std::vector<double> Minv() const override { return neutral_matrix(Minv_); }
	std::vector<double> J() const override {
		const size_t n = u_of_.size();
		std::vector<double> out(6 * n);
		for (size_t row = 0; row < 6; ++row) {
			for (size_t j = 0; j < n; ++j)
				out[row * n + j] = J_[row * n + u_of_[j]];
		}
		return out;
	}

	std::vector<double> derivatives() const override {
		std::vector<double> out;
		for (const std::vector<double> *m : {&dq_, &du_, &Minv_}) {
			const std::vector<double> part = neutral_matrix(*m);
			out.insert(out.end(), part.begin(), part.end());
		}
		return out;
	}

  private:
	// Dense results, and what derivatives need.
	bool reserve_dense(size_t nu) {
		for (std::vector<double> *m : {&M_, &Minv_, &dq_, &du_})
			m->resize(nu * nu);
		return cal_derivatives_create(model_, &derivatives_) == CAL_OK;
	}

	static CalJointDef joint_of(const BenchBody &body, const std::string &name) {
		CalJointDef joint = cal_joint_def(body.joint == JointKind::revolute    ? CAL_JOINT_REVOLUTE
		                                  : body.joint == JointKind::spherical ? CAL_JOINT_SPHERICAL
		                                                                       : CAL_JOINT_FREE);
		joint.name = name.c_str();
		joint.axis = {body.axis == 0 ? 1.0 : 0.0, body.axis == 1 ? 1.0 : 0.0, body.axis == 2 ? 1.0 : 0.0};
		joint.inboard = {to_cal(body.p_PF), quaternion_of(body.R_PF)};
		return joint;
	}

	bool describe(const BenchModel &model, CalError &error) {
		if (cal_desc_create(nullptr, &desc_) != CAL_OK)
			return false;
		cal_desc_set_gravity(desc_, CalGroupId{0}, to_cal(model.gravity));
		for (int i = 0; i < model.n(); ++i) {
			const BenchBody &from = model.bodies[static_cast<size_t>(i)];
			const std::string number = std::to_string(i), body_name = "b" + number, joint_name = "j" + number;
			CalBodyDef body = cal_body_def();
			body.name = body_name.c_str();
			body.mass = from.mass;
			body.com = to_cal(from.com);
			body.inertia = to_cal(from.inertia);
			CalBodyId id;
			if (cal_desc_add_body(desc_, &body, &id, &error) != CAL_OK)
				return false;
			ids_.push_back(id);
			const CalNodeId inboard =
				from.parent < 0 ? CalNodeId{0} : cal_desc_body_node(desc_, ids_[static_cast<size_t>(from.parent)]);
			const CalJointDef joint = joint_of(from, joint_name);
			CalJointId joint_id;
			const CalNodeId outboard = cal_desc_body_node(desc_, id);
			if (cal_desc_attach(desc_, inboard, &joint, outboard, &joint_id, &error) != CAL_OK)
				return false;
		}
		for (size_t i = 0; i < model.loops.size(); ++i) {
			if (!close_loop(model.loops[i], "l" + std::to_string(i), error))
				return false;
		}
		return true;
	}

	CalNodeId node_of(int body) const {
		return body < 0 ? CalNodeId{0} : cal_desc_body_node(desc_, ids_[static_cast<size_t>(body)]);
	}

	bool close_loop(const BenchLoop &from, const std::string &name, CalError &error) {
		CalLoopDef loop = cal_loop_def(CAL_LOOP_REVOLUTE);
		loop.name = name.c_str();
		loop.a.position = to_cal(from.point_a);
		loop.b.position = to_cal(from.point_b);
		const CalNodeId a = node_of(from.body_a), b = node_of(from.body_b);
		return cal_desc_close_loop(desc_, a, &loop, b, nullptr, &error) == CAL_OK;
	}

	void map_order(const BenchModel &model) {
		q_of_.resize(static_cast<size_t>(model.nq));
		u_of_.resize(static_cast<size_t>(model.nu));
		for (int b = 0; b < cal_model_body_count(model_); ++b) {
			CalBodyInfo info;
			cal_model_body(model_, b, &info);
			const BenchBody &from = model.bodies[info.id.value - 1];
			if (static_cast<int>(info.id.value) == model.n())
				tip_ = info.node;
			for (int k = 0; k < info.nq; ++k)
				q_of_[static_cast<size_t>(from.q0 + k)] = static_cast<size_t>(info.q + k);
			for (int k = 0; k < info.nu; ++k)
				u_of_[static_cast<size_t>(from.u0 + k)] = static_cast<size_t>(info.u + k);
		}
	}

	std::vector<double> neutral(const std::vector<double> &x) const {
		std::vector<double> out(x.size());
		for (size_t i = 0; i < x.size(); ++i)
			out[i] = x[u_of_[i]];
		return out;
	}

	std::vector<double> neutral_matrix(const std::vector<double> &M) const {
		const size_t n = u_of_.size();
		std::vector<double> out(n * n);
		for (size_t i = 0; i < n; ++i) {
			for (size_t j = 0; j < n; ++j)
				out[i * n + j] = M[u_of_[i] * n + u_of_[j]];
		}
		return out;
	}

	CalDesc *desc_ = nullptr;
	CalModel *model_ = nullptr;
	CalWork *work_ = nullptr;
	CalDerivatives *derivatives_ = nullptr;
	CalState state_{};
	CalInput input_{};
	std::vector<CalBodyId> ids_;
	std::vector<size_t> q_of_, u_of_; // neutral index -> Calder's
	int tip_ = 0;                     // node of the last body
	std::vector<double> tau_, udot_, tau_out_, udot_out_, M_, Minv_, J_, dq_, du_;
};

} // namespace

std::unique_ptr<Engine> make_calder() { return std::make_unique<CalderEngine>(); }

} // namespace bench
