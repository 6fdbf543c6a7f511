// SPDX-License-Identifier: Apache-2.0
/*
 * gpu_transfer.cuh — rows of the caller's arrays, [state][number], to columns of the kernels, [number][state], and back.
 */
#ifndef CALDER_GPU_GPU_TRANSFER_CUH
#define CALDER_GPU_GPU_TRANSFER_CUH

#include <cstdint>

namespace {

enum { TILE = 32, TILE_ROWS = 8 };

/* columns[k * column_stride + i] = rows[i * stride + k]; a block takes a tile of TILE x TILE numbers. */
__global__ void take_rows(const double *rows, int64_t stride, int64_t count, int width, double *columns,
                          int64_t column_stride) {
	__shared__ double tile[TILE][TILE + 1];
	const int64_t first = (int64_t)blockIdx.x * TILE;
	const int number = (int)blockIdx.y * TILE;
	for (int r = (int)threadIdx.y; r < TILE; r += TILE_ROWS) {
		const int64_t i = first + r;
		const int k = number + (int)threadIdx.x;
		if (i < count && k < width)
			tile[r][threadIdx.x] = rows[i * stride + k];
	}
	__syncthreads();
	for (int r = (int)threadIdx.y; r < TILE; r += TILE_ROWS) {
		const int64_t i = first + threadIdx.x;
		const int k = number + r;
		if (i < count && k < width)
			columns[k * column_stride + i] = tile[threadIdx.x][r];
	}
}

/* rows[i * width + k] = columns[k * column_stride + i] of states that did not fail. */
__global__ void put_rows(const double *columns, int64_t column_stride, int64_t count, int width, const uint8_t *failed,
                         double *rows) {
	__shared__ double tile[TILE][TILE + 1];
	const int64_t first = (int64_t)blockIdx.x * TILE;
	const int number = (int)blockIdx.y * TILE;
	for (int r = (int)threadIdx.y; r < TILE; r += TILE_ROWS) {
		const int64_t i = first + threadIdx.x;
		const int k = number + r;
		if (i < count && k < width)
			tile[r][threadIdx.x] = columns[k * column_stride + i];
	}
	__syncthreads();
	for (int r = (int)threadIdx.y; r < TILE; r += TILE_ROWS) {
		const int64_t i = first + r;
		const int k = number + (int)threadIdx.x;
		if (i < count && k < width && !failed[i])
			rows[i * width + k] = tile[threadIdx.x][r];
	}
}

/* to[k * to_stride + i] = from[k * from_stride + i] of states that did not fail. */
__global__ void put_columns(const double *from, int64_t from_stride, int64_t count, int width, const uint8_t *failed,
                            double *to, int64_t to_stride) {
	const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
	for (int k = 0; k < width && i < count; ++k) {
		if (!failed[i])
			to[k * to_stride + i] = from[k * from_stride + i];
	}
}

inline dim3 tiles(int64_t count, int width) {
	return dim3((unsigned)((count + TILE - 1) / TILE), (unsigned)((width + TILE - 1) / TILE));
}

} // namespace

#endif
