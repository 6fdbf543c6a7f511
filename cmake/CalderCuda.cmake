# SPDX-License-Identifier: Apache-2.0
#
# Batches on a GPU (src/gpu, docs/batch.md): nothing of CUDA is looked for unless CALDER_WITH_CUDA is ON.
#
#   cmake -B build/cuda -DCALDER_WITH_CUDA=ON -DCMAKE_CUDA_ARCHITECTURES=90
#
# gpu_exact.cu is compiled without fused multiply-adds: the bits of a processor; gpu_fast.cu with them.

option(CALDER_WITH_CUDA "Batches on NVIDIA GPUs (cal_batch_to_device); needs the CUDA toolkit, 12.1 or later" OFF)

function(calder_cuda target)
	if(NOT CALDER_WITH_CUDA)
		return()
	endif()
	file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/gpu/*.cu)
	target_sources(${target} PRIVATE ${sources})
	set_property(SOURCE ${PROJECT_SOURCE_DIR}/src/gpu/gpu_exact.cu APPEND PROPERTY COMPILE_OPTIONS -fmad=false)
	set_target_properties(${target} PROPERTIES CUDA_VISIBILITY_PRESET hidden)
endfunction()

if(CALDER_WITH_CUDA)
	if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
		set(CMAKE_CUDA_ARCHITECTURES 90 CACHE STRING "Compute capabilities of the devices, as 80;90")
	endif()
	enable_language(CUDA)
	find_package(CUDAToolkit 12.1 REQUIRED)
	list(APPEND calder_adapter_libraries CUDA::cudart_static)
	list(APPEND calder_adapter_definitions CALDER_WITH_CUDA=1)
	list(APPEND calder_pc_libs -L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -lrt -ldl)
	message(STATUS "CUDA ${CUDAToolkit_VERSION}: on, for compute capability ${CMAKE_CUDA_ARCHITECTURES}")
endif()
