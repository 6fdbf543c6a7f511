// SPDX-License-Identifier: Apache-2.0
// Suite "derivatives": cal_forward_derivatives(), that is dudot/dq, dudot/du and M^-1, against one-sided differences of forward
// dynamics (one evaluation per coordinate, one per speed, and one at the state), interleaved. Before timing, both must agree
// as far as the differences go.
#include "derivatives.h"
#include "flexible_models.h"
#include "models.h"
#include "table.h"
#include "timing.h"

#include <calder/calder.h>

#include <cmath>
#include <cstdio>
#include <functional>
#include <random>
#include <stdexcept>

namespace bench {
namespace {

// Steps of the differences: forward dynamics of a model with loops has round-off of 1e-9.
constexpr double step_open = 1e-7, step_closed = 1e-5;
constexpr double agreement = 1e-4; // of both: error of the differences, to first order
constexpr double frequency_bound = 2 * 3.14159265358979323846 * 200; // rad/s

CalVec3 to_cal(const Vec3 &v) { return {v[0], v[1], v[2]}; }

CalMat3 to_cal(const Mat3 &m) {
	CalMat3 out;
	for (int i = 0; i < 9; ++i)
		out.m[i / 3][i % 3] = m[static_cast<size_t>(i)];
	return out;
}

void require(bool good, const CalError &error) {
	if (!good)
		throw std::runtime_error(error.text);
}

// A rigid tree of models.h as a description.
std::unique_ptr<CalDesc, DescDeleter> describe(const BenchModel &model) {
	CalDesc *desc = nullptr;
	CalError error{};
	require(cal_desc_create(nullptr, &desc) == CAL_OK, error);
	std::unique_ptr<CalDesc, DescDeleter> made(desc);
	cal_desc_set_gravity(desc, CalGroupId{0}, to_cal(model.gravity));
	std::vector<CalBodyId> ids;
	for (const BenchBody &from : model.bodies) {
		const std::string number = std::to_string(ids.size()), name = "b" + number, joint_name = "j" + number;
		CalBodyDef body = cal_body_def();
		body.name = name.c_str(), body.mass = from.mass, body.com = to_cal(from.com),
		body.inertia = to_cal(from.inertia);
		CalJointDef joint = cal_joint_def(from.joint == JointKind::revolute    ? CAL_JOINT_REVOLUTE
		                                  : from.joint == JointKind::spherical ? CAL_JOINT_SPHERICAL
		                                                                       : CAL_JOINT_FREE);
		const Quat q = quaternion(from.R_PF);
		joint.name = joint_name.c_str();
		joint.axis = {from.axis == 0 ? 1.0 : 0.0, from.axis == 1 ? 1.0 : 0.0, from.axis == 2 ? 1.0 : 0.0};
		joint.inboard = {to_cal(from.p_PF), {q[0], q[1], q[2], q[3]}};
		CalBodyId id;
		require(cal_desc_add_body(desc, &body, &id, &error) == CAL_OK, error);
		const CalNodeId inboard =
			from.parent < 0 ? CalNodeId{0} : cal_desc_body_node(desc, ids[static_cast<size_t>(from.parent)]);
		require(cal_desc_attach(desc, inboard, &joint, cal_desc_body_node(desc, id), nullptr, &error) == CAL_OK, error);
		ids.push_back(id);
	}
	return made;
}

class Subject {
  public:
	Subject(const std::string &name, unsigned long long seed) {
		const BenchModel rigid = make_model(name, seed);
		CalError error{};
		std::unique_ptr<CalDesc, DescDeleter> desc =
			rigid.n() > 0 ? describe(rigid) : make_flexible(name, frequency_bound).desc;
		require(desc != nullptr, error);
		CalCompileOptions options{};
		require(cal_model_compile(desc.get(), &options, &model_, &error) == CAL_OK, error);
		require(cal_state_create(model_, &state_) == CAL_OK && cal_state_create(model_, &moved_) == CAL_OK, error);
		require(cal_work_create(model_, &work_) == CAL_OK && cal_derivatives_create(model_, &derivatives_) == CAL_OK,
		        error);
		n = static_cast<size_t>(cal_model_u_count(model_));
		for (std::vector<double> *m : {&dq, &du, &dtau, &dq_by_differences, &du_by_differences})
			m->resize(n * n);
		udot_.resize(n), at_.resize(n), delta_.resize(n), tau_.resize(n);
		choose_state(seed);
	}
	~Subject() {
		cal_derivatives_destroy(derivatives_);
		cal_work_destroy(work_);
		cal_state_destroy(&state_);
		cal_state_destroy(&moved_);
		cal_model_destroy(model_);
	}
	Subject(const Subject &) = delete;
	Subject &operator=(const Subject &) = delete;

	int bodies() const { return cal_model_body_count(model_); }
	void analytical() {
		sound &= cal_forward_derivatives(model_, &state_, &input_, derivatives_, udot_.data(), dq.data(), du.data(),
		                                 dtau.data()) == CAL_OK;
	}
	void differences() {
		sound &= cal_forward_dynamics(model_, &state_, &input_, work_, udot_.data()) == CAL_OK;
		for (size_t j = 0; j < n; ++j) {
			cal_state_copy(model_, &state_, &moved_);
			delta_[j] = step_;
			cal_config_integrate(model_, state_.q, delta_.data(), moved_.q);
			delta_[j] = 0;
			column(j, dq_by_differences);
			cal_state_copy(model_, &state_, &moved_);
			moved_.u[j] += step_;
			column(j, du_by_differences);
		}
	}

	size_t n = 0;
	bool sound = true;
	std::vector<double> dq, du, dtau, dq_by_differences, du_by_differences;

  private:
	void column(size_t j, std::vector<double> &out) {
		sound &= cal_forward_dynamics(model_, &moved_, &input_, work_, at_.data()) == CAL_OK;
		for (size_t i = 0; i < n; ++i)
			out[i * n + j] = (at_[i] - udot_[i]) / step_;
	}
	// Of a model with loops near its start, where they are closed again.
	void choose_state(unsigned long long seed) {
		const bool closed = cal_model_row_count(model_) > 0;
		const double far = closed ? 0.05 : 1;
		step_ = closed ? step_closed : step_open;
		std::mt19937_64 random(seed);
		const auto number = [&random] { return static_cast<double>(random() >> 11) * 0x1p-52 - 1; };
		for (int b = 0; b < cal_model_body_count(model_); ++b) { // modes deflect by little
			CalBodyInfo info;
			cal_model_body(model_, b, &info);
			for (int k = 0; k < info.nu + info.modes; ++k) {
				const auto u = static_cast<size_t>(info.u + k);
				delta_[u] = far * (k < info.nu ? 1 : 1e-3) * number();
				state_.u[u] = far * (k < info.nu ? 1 : 1e-2) * number();
			}
		}
		for (size_t i = 0; i < n; ++i)
			tau_[i] = number();
		cal_config_integrate(model_, state_.q, delta_.data(), state_.q);
		if (closed)
			sound &= cal_loop_project(model_, &state_, nullptr, work_, nullptr) == CAL_OK;
		std::fill(delta_.begin(), delta_.end(), 0.0);
		input_.tau = tau_.data();
	}

	double step_ = step_open;
	CalModel *model_ = nullptr;
	CalWork *work_ = nullptr;
	CalDerivatives *derivatives_ = nullptr;
	CalState state_{}, moved_{};
	CalInput input_{};
	std::vector<double> udot_, at_, delta_, tau_;
};

double disagreement(const std::vector<double> &a, const std::vector<double> &b) {
	double most = 0, difference = 0;
	for (size_t i = 0; i < a.size(); ++i) {
		most = std::max(most, std::fabs(b[i]));
		difference = std::max(difference, std::fabs(a[i] - b[i]));
	}
	return difference / most;
}

// Least CPU time of a call, ns, over rounds that alternate.
std::pair<double, double> time_both(Subject &s, const Options &options) {
	const std::function<void()> calls[] = {[&s] { s.analytical(); }, [&s] { s.differences(); }};
	double best[2] = {1e300, 1e300};
	for (int round = 0; round < options.rounds; ++round)
		for (size_t c = 0; c < 2; ++c) {
			int count = 0;
			const double begin = cpu_seconds();
			do
				calls[c](), ++count;
			while (cpu_seconds() - begin < options.batch_s);
			best[c] = std::min(best[c], 1e9 * (cpu_seconds() - begin) / count);
		}
	return {best[0], best[1]};
}

} // namespace

const std::vector<std::string> &derivative_names() {
	static const std::vector<std::string> names = {"chain7", "chain32", "humanoid", "jsc49", "jsc49_closed"};
	return names;
}

int run_derivatives(const Options &options) {
	std::vector<Row> rows;
	int failures = 0;
	std::printf("%-12s %6s %14s %16s %8s\n", "model", "dofs", "ns analytical", "ns differences", "ratio");
	for (const std::string &name : options.models.empty() ? derivative_names() : options.models) {
		Subject s(name, options.seed);
		s.analytical();
		s.differences();
		const double error = std::max(disagreement(s.dq_by_differences, s.dq), disagreement(s.du_by_differences, s.du));
		const std::pair<double, double> ns = time_both(s, options);
		const bool good = s.sound && error <= agreement;
		failures += !good;
		std::printf("%-12s %6zu %14.0f %16.0f %8.1f   differ by %.1e  %s\n", name.c_str(), s.n, ns.first, ns.second,
		            ns.second / ns.first, error, good ? "agree" : "FAILED");
		Row r;
		r.suite = "derivatives", r.algorithm = "forward_derivatives", r.model = name, r.engine = "calder";
		r.version = cal_version(), r.n = s.bodies(), r.ns_best = r.ns_median = ns.first;
		r.more = {{"ns_differences", ns.second}};
		rows.push_back(r);
	}
	if (!options.json.empty() && !write_json(rows, options.json)) {
		std::fprintf(stderr, "calder-bench: error: cannot write %s\n", options.json.c_str());
		return 1;
	}
	return failures ? 1 : 0;
}

} // namespace bench
