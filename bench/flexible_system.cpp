// SPDX-License-Identifier: Apache-2.0
// Calder on a system of the suite "flexible". Random states follow from the seed; joints get the same numbers
// whatever the number of modes.
#include "flexible_system.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <stdexcept>

namespace bench {
namespace {

double uniform(std::mt19937_64 &generator, double half) {
	return half * (static_cast<double>(generator() >> 11) * 0x1p-52 - 1);
}

void require(CalStatus status, const char *text) {
	if (status != CAL_OK)
		throw std::runtime_error(text && *text ? text : cal_status_text(status));
}

bool finite(const double *x, int n) {
	return std::all_of(x, x + n, [](double v) { return std::isfinite(v); });
}

} // namespace

FlexEngine::FlexEngine(const FlexSystem &system, CalSolver solver, unsigned long long seed, int branches, int threads,
                       double stir) {
	CalCompileOptions options{};
	options.solver = solver;
	CalError error{};
	require(cal_model_compile(system.desc.get(), &options, &model_, &error), error.text);
	require(cal_work_create(model_, &work_), nullptr);
	require(cal_state_create(model_, &state_), nullptr);
	require(cal_state_create(model_, &start_), nullptr);
	CalIntegratorOptions stepping{};
	stepping.method = CAL_METHOD_EULER_CROMER;
	stepping.step = 1e-3;
	stepping.projection = system.projection;
	stepping.input = give_input;
	stepping.user = this;
	CalBranchOptions cut{};
	cut.threads = threads, cut.branches = branches;
	if (branches > 0)
		require(cal_branches_create(model_, &cut, &branches_, &error), error.text);
	if (branches_ && cal_branches_count(branches_) == 1) { // a partition is not faster
		cal_branches_destroy(branches_);
		branches_ = nullptr;
	}
	CalSystemPart part{};
	part.model = model_, part.work = work_, part.branches = branches_;
	CalSystem whole{};
	whole.parts = &part, whole.count = 1;
	require(cal_integrator_create_system(&whole, &stepping, &integrator_), nullptr);
	const auto nu = static_cast<std::size_t>(speeds());
	tau_.resize(nu), udot_.resize(nu), modal_.resize(nu);
	if (system.stepped)
		choose_start(system);
	else
		choose_random(system, seed);
	for (std::size_t i = 0; i < nu && stir > 0; i++)
		start_.u[i] = stir * std::sin(1.7 * static_cast<double>(i + 1));
	input_.tau = tau_.data();
	input_.wrenches = wrenches_.data();
	input_.wrench_count = static_cast<int>(wrenches_.size());
	start();
}

FlexEngine::~FlexEngine() {
	cal_integrator_destroy(integrator_);
	cal_branches_destroy(branches_);
	cal_state_destroy(&start_);
	cal_state_destroy(&state_);
	cal_work_destroy(work_);
	cal_model_destroy(model_);
}

int FlexEngine::give_input(void *user, const CalModel *, const CalState *, CalInput *input) {
	*input = static_cast<FlexEngine *>(user)->input_;
	return 0;
}

void FlexEngine::choose_random(const FlexSystem &system, unsigned long long seed) {
	std::mt19937_64 joints(seed), modes(seed + 1);
	for (int b = 0; b < bodies(); b++) {
		CalBodyInfo info;
		cal_model_body(model_, b, &info);
		start_.q[info.q] = uniform(joints, 1);
		start_.u[info.u] = uniform(joints, 1);
		tau_[static_cast<std::size_t>(info.u)] = uniform(joints, 10);
		for (int k = 0; k < info.modes; k++) {
			start_.q[info.q + info.nq + k] = uniform(modes, system.deflection[static_cast<std::size_t>(k)]);
			start_.u[info.u + info.nu + k] = uniform(modes, std::sqrt(system.deflection[static_cast<std::size_t>(k)]));
			modal_[static_cast<std::size_t>(info.u + info.nu + k)] = true;
		}
	}
}

void FlexEngine::choose_start(const FlexSystem &system) {
	const auto body = [this](const std::string &name) {
		CalBodyInfo info;
		require(cal_model_body(model_, cal_model_find_body(model_, name.c_str()), &info), name.c_str());
		return info;
	};
	for (const auto &[name, angle] : system.angles)
		start_.q[body(name).q] = angle;
	for (const auto &[name, torque] : system.torques)
		tau_[static_cast<std::size_t>(body(name).u)] = torque;
	for (const FlexLoad &load : system.loads)
		wrenches_.push_back({cal_model_find_node(model_, load.node.c_str()), CAL_FRAME_WORLD, load.f});
	for (int b = 0; b < bodies(); b++) {
		CalBodyInfo info;
		cal_model_body(model_, b, &info);
		std::fill_n(modal_.begin() + info.u + info.nu, info.modes, true);
	}
}

void FlexEngine::start() {
	cal_state_copy(model_, &start_, &state_);
	cal_integrator_reset(integrator_);
	status_ = CAL_OK;
}

void FlexEngine::simulate(double time, double step) {
	const int steps = static_cast<int>(std::lround(time / step));
	for (int i = 0; i < steps && status_ == CAL_OK; i++)
		status_ = cal_integrator_step(integrator_, &state_, step);
}

bool FlexEngine::sound() const {
	return status_ == CAL_OK && finite(state_.q, cal_model_q_count(model_)) && finite(state_.u, speeds()) &&
	       finite(udot_.data(), speeds());
}

double FlexEngine::disagreement(const FlexEngine &reference) const {
	double worst[2] = {0, 0}, scale[2] = {0, 0};
	for (std::size_t i = 0; i < udot_.size(); i++) {
		worst[modal_[i]] = std::max(worst[modal_[i]], std::fabs(udot_[i] - reference.udot_[i]));
		scale[modal_[i]] = std::max(scale[modal_[i]], std::fabs(reference.udot_[i]));
	}
	return std::max(worst[0] / scale[0], scale[1] > 0 ? worst[1] / scale[1] : 0);
}

double FlexEngine::residual(const FlexEngine &reference) {
	const std::size_t n = udot_.size();
	std::vector<double> M(n * n);
	if (cal_mass_matrix(model_, &state_, work_, M.data()) != CAL_OK)
		return HUGE_VAL;
	double worst = 0;
	for (std::size_t i = 0; i < n; i++) {
		double force = 0, scale = 0;
		for (std::size_t j = 0; j < n; j++) {
			force += M[i * n + j] * (udot_[j] - reference.udot_[j]);
			scale += std::fabs(M[i * n + j] * reference.udot_[j]);
		}
		worst = std::max(worst, std::fabs(force) / scale);
	}
	return worst;
}

double FlexEngine::inverse_residual(const FlexEngine &reference) {
	const std::size_t n = udot_.size();
	std::vector<double> mine(n), theirs(n), all(n), none(n), zero(n), size(n);
	for (std::size_t i = 0; i < n; i++)
		size[i] = std::fabs(reference.udot_[i]);
	if (cal_inverse_dynamics(model_, &state_, udot_.data(), nullptr, work_, mine.data()) != CAL_OK ||
	    cal_inverse_dynamics(model_, &state_, reference.udot_.data(), nullptr, work_, theirs.data()) != CAL_OK ||
	    cal_inverse_dynamics(model_, &state_, size.data(), nullptr, work_, all.data()) != CAL_OK ||
	    cal_inverse_dynamics(model_, &state_, zero.data(), nullptr, work_, none.data()) != CAL_OK)
		return HUGE_VAL;
	double worst[2] = {0, 0}, scale[2] = {0, 0};
	for (std::size_t i = 0; i < n; i++) {
		worst[modal_[i]] = std::max(worst[modal_[i]], std::fabs(mine[i] - theirs[i]));
		scale[modal_[i]] = std::max(scale[modal_[i]], std::fabs(all[i] - none[i]));
	}
	return std::max(scale[0] > 0 ? worst[0] / scale[0] : 0, scale[1] > 0 ? worst[1] / scale[1] : 0);
}

double FlexEngine::loop_residual() {
	const auto rows = static_cast<std::size_t>(cal_model_row_count(model_));
	std::vector<double> g(rows), rate(rows);
	if (rows == 0)
		return 0;
	if (cal_loop_residual(model_, &state_, work_, g.data(), rate.data()) != CAL_OK)
		return HUGE_VAL;
	double worst = 0;
	for (std::size_t i = 0; i < rows; i++)
		worst = std::max({worst, std::fabs(g[i]), std::fabs(rate[i])});
	return worst;
}

double FlexEngine::disagreement(const std::vector<FlexReference> &references) const {
	double worst = 0;
	for (const FlexReference &r : references) {
		CalSpatial a{};
		const int node = cal_model_find_node(model_, r.body.c_str());
		if (node < 0 || cal_node_acceleration(model_, work_, node, &a) != CAL_OK)
			return HUGE_VAL;
		const double mine[] = {a.angular.x, a.angular.y, a.angular.z, a.linear.x, a.linear.y, a.linear.z};
		const double theirs[] = {r.a.angular.x, r.a.angular.y, r.a.angular.z, r.a.linear.x, r.a.linear.y, r.a.linear.z};
		double error = 0, scale = 0;
		for (int i = 0; i < 6; i++) {
			error = std::max(error, std::fabs(mine[i] - theirs[i]));
			scale = std::max(scale, std::fabs(theirs[i]));
		}
		worst = std::max(worst, error / scale);
	}
	return worst;
}

} // namespace bench
