// SPDX-License-Identifier: Apache-2.0
/*
 * gpu_kernels.cuh — the kernels: each thread takes one state after another through the sweeps of gpu_forward.h or the steps of
 * gpu_step.h. Compiled twice, by gpu_exact.cu without and by gpu_fast.cu with fused multiply-adds.
 *
 * A model of usual size is a parameter of the launch and so in constant memory: no copy of it is shared by launches, and any
 * number of batches run side by side. The grid has as many blocks as the device holds at once, so that scratch memory is bounded.
 */
#ifndef CALDER_GPU_GPU_KERNELS_CUH
#define CALDER_GPU_GPU_KERNELS_CUH

#include "gpu/gpu_launch.h"
#include "gpu/gpu_step.h"

namespace {

enum { BLOCK = GPU_BLOCK };

/** A launch with the model in it. */
struct ParamCall {
	GpuCall call;
	GpuLink links[GPU_PARAM_LINKS];
	GpuDof dofs[GPU_PARAM_DOFS];
	GpuSegment segments[GPU_PARAM_SEGMENTS];
};
static_assert(sizeof(ParamCall) <= 32764, "parameters of a kernel");

/** A launch whose model is in device memory. */
struct TableCall {
	GpuCall call;
};

__device__ __forceinline__ GpuTables tables_of(const ParamCall &p) {
	const GpuTables at = {p.links, p.dofs, p.segments};
	return at;
}
__device__ __forceinline__ GpuTables tables_of(const TableCall &p) { return p.call.at; }

__device__ __forceinline__ GpuScratch scratch_of(const GpuCall &c, double *near_memory, int64_t thread) {
	GpuScratch s;
	s.near = near_memory + threadIdx.x;
	s.far = c.far + thread;
	s.near_stride = BLOCK;
	s.far_stride = c.far_stride;
	s.near_motions = c.near_motions;
	s.near_dofs = c.near_dofs;
	s.accumulators = (int64_t)c.model.slot_count * GPU_SLOT;
	s.far_gains = s.accumulators + (int64_t)c.model.accumulator_count * GPU_BODY;
	return s;
}

__device__ __forceinline__ void forward_one(GpuSweep &s, const GpuCall &c, int64_t i) {
	s.state.q = {c.q + i, c.q_stride};
	s.state.u = {c.u + i, c.u_stride};
	c.failed[i] = (uint8_t)(sweep_forward(&s, c.udot + i, c.udot_stride) != 0);
}

/* Time at the end of k steps. */
__device__ __forceinline__ double time_after(double t, int64_t k, double step) {
	return k == 0 ? t : t + (double)k * step;
}

template <int WORK> __device__ __forceinline__ void steps_one(GpuSweep &s, const GpuCall &c, int64_t i) {
	const GpuMoving x = {c.q_moving + i, c.u_moving + i, c.moving_stride};
	const double t = c.t ? c.t[i] : 0;
	const int nu = c.model.nu;
	const int64_t n = s.keep.far_stride;
	double *stages = s.keep.far + c.stages * n;
	const GpuStages at = {stages, stages + 4 * nu * n, stages + 8 * nu * n, stages + (8 * nu + c.model.nq) * n, n};
	s.state.q = {WORK == GPU_RK4 ? at.q : x.q, WORK == GPU_RK4 ? n : x.stride};
	s.state.u = {WORK == GPU_RK4 ? at.u : x.u, WORK == GPU_RK4 ? n : x.stride};
	int bad = c.failed[i];
#pragma unroll 1
	for (int64_t k = c.first_step; k < c.first_step + c.steps && !bad; ++k) {
		const double h = time_after(t, k + 1, c.step) - time_after(t, k, c.step);
		if (WORK == GPU_RK4)
			bad = step_rk4(&s, h, at, x);
		else
			bad = step_cromer(&s, h, x);
	}
	c.failed[i] = (uint8_t)(bad != 0);
}

template <int WORK, int PLAIN, class P>
__global__ void __launch_bounds__(BLOCK, GPU_BLOCKS) run_states(const __grid_constant__ P p) {
	extern __shared__ double near_memory[];
	const GpuCall &c = p.call;
	const int64_t thread = (int64_t)blockIdx.x * BLOCK + threadIdx.x;
	GpuSweep s;
	s.mode = {GPU_EXACT, PLAIN};
	s.model = &c.model;
	s.at = tables_of(p);
	s.keep = scratch_of(c, near_memory, thread);
#pragma unroll 1
	for (int64_t i = thread; i < c.count; i += (int64_t)gridDim.x * BLOCK) {
		s.state.tau = {c.tau ? c.tau + i : nullptr, c.tau_stride};
		if (WORK == GPU_FORWARD)
			forward_one(s, c, i);
		else
			steps_one<WORK>(s, c, i);
	}
}

/* ---- launches --------------------------------------------------------------------------------------------- */

template <class P> using Kernel = void (*)(const P);

template <class P> Kernel<P> kernel_for(GpuWork work, bool plain) {
	if (work == GPU_FORWARD)
		return plain ? run_states<GPU_FORWARD, 1, P> : run_states<GPU_FORWARD, 0, P>;
	if (work == GPU_CROMER)
		return plain ? run_states<GPU_CROMER, 1, P> : run_states<GPU_CROMER, 0, P>;
	return plain ? run_states<GPU_RK4, 1, P> : run_states<GPU_RK4, 0, P>;
}

template <class P>
cudaError_t launch(const P &p, GpuWork work, bool plain, int blocks, size_t near_bytes, cudaStream_t stream) {
	const Kernel<P> kernel = kernel_for<P>(work, plain);
	const cudaError_t status =
		cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)near_bytes);
	if (status != cudaSuccess)
		return status;
	kernel<<<blocks, BLOCK, near_bytes, stream>>>(p);
	return cudaGetLastError();
}

cudaError_t launch_any(const GpuLaunch &l, cudaStream_t stream) {
	const GpuModel &m = l.call.model;
	if (m.link_count > GPU_PARAM_LINKS || m.nu > GPU_PARAM_DOFS || m.segment_count > GPU_PARAM_SEGMENTS) {
		const TableCall p = {l.call};
		return launch(p, l.work, l.plain, l.blocks, l.near_bytes, stream);
	}
	ParamCall p = {};
	p.call = l.call;
	memcpy(p.links, l.tables.links, sizeof *p.links * (size_t)m.link_count);
	memcpy(p.dofs, l.tables.dofs, sizeof *p.dofs * (size_t)m.nu);
	memcpy(p.segments, l.tables.segments, sizeof *p.segments * (size_t)m.segment_count);
	return launch(p, l.work, l.plain, l.blocks, l.near_bytes, stream);
}

} // namespace

#endif
