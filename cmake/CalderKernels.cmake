# SPDX-License-Identifier: Apache-2.0
#
# What single source files of the library need beyond the common flags; everything else is built alike.
#
#   calder_file_options(FILE OPTION...)
#       adds compiler options to one file, e.g. calder_file_options(src/dynamics/tree/articulated.c -O3)
#   calder_file_variant(FILE SUFFIX DEFINITION...)
#       builds the file once more with further definitions, into the same library; the file gives its
#       symbols other names under them, e.g. calder_file_variant(src/batch/lanes.c x2 CAL_LANES=2);
#       arguments that begin with a dash are compiler options

set(calder_variants "")

function(calder_file_options file)
	set_property(SOURCE ${PROJECT_SOURCE_DIR}/${file} APPEND PROPERTY COMPILE_OPTIONS ${ARGN})
endfunction()

# A variant is a generated file of one line, so that it is a source like any other.
function(calder_file_variant file suffix)
	string(REGEX REPLACE "^src/(.*)\\.c$" "\\1" stem ${file})
	set(variant ${PROJECT_BINARY_DIR}/variants/${stem}_${suffix}.c)
	file(CONFIGURE OUTPUT ${variant} CONTENT "#include \"${PROJECT_SOURCE_DIR}/${file}\"\n")
	foreach(argument IN LISTS ARGN)
		if(argument MATCHES "^-")
			set_property(SOURCE ${variant} APPEND PROPERTY COMPILE_OPTIONS ${argument})
		else()
			set_property(SOURCE ${variant} APPEND PROPERTY COMPILE_DEFINITIONS ${argument})
		endif()
	endforeach()
	get_filename_component(folder ${PROJECT_SOURCE_DIR}/${file} DIRECTORY)
	set_property(SOURCE ${variant} APPEND PROPERTY INCLUDE_DIRECTORIES ${folder})
	list(APPEND calder_variants ${variant})
	set(calder_variants ${calder_variants} PARENT_SCOPE)
endfunction()

# Adds the variants to a library.
function(calder_kernels target)
	target_sources(${target} PRIVATE ${calder_variants})
endfunction()

# ---- the list ----------------------------------------------------------------------------------

# The sweeps are long straight runs of scalar arithmetic: pairing them up costs inverse dynamics more in moves
# than it saves (gcc 12, chain of 32: 40 ns per body with it, 33 without) and changes the others by little.
file(GLOB_RECURSE calder_sweeps ${PROJECT_SOURCE_DIR}/src/dynamics/*.c)
list(APPEND calder_sweeps ${PROJECT_SOURCE_DIR}/src/component/interface.c ${PROJECT_SOURCE_DIR}/src/component/interface_join.c
	${PROJECT_SOURCE_DIR}/src/derivative/derivative_sweep.c ${PROJECT_SOURCE_DIR}/src/derivative/derivative_solve.c)
foreach(sweep IN LISTS calder_sweeps)
	set_property(SOURCE ${sweep} APPEND PROPERTY COMPILE_OPTIONS -fno-tree-slp-vectorize)
endforeach()

# Small dense matrices: rows of fixed length, which only -O3 takes two numbers at a time.
calder_file_options(src/math/min_norm.c -O3)

# The sweeps over several states of one model at once (src/math/real.h, src/batch/lanes.h): two with the registers that every
# processor has; wider ones below.
set(calder_lane_sweeps src/joint/primitive.c src/flexbody/flex_body.c src/model/work.c src/dynamics/tree/general_link.c src/dynamics/flex/flexible.c
	src/dynamics/tree/articulated.c src/dynamics/tree/inverse.c src/batch/lanes.c)
foreach(sweep IN LISTS calder_lane_sweeps)
	calder_file_variant(${sweep} x2 CAL_LANES=2)
endforeach()

# Forward and inverse dynamics and composite bodies for wider registers: the same bits, since nothing is fused and sums keep their order
# (docs/decisions/0011). 256 bits hold four modes of a flexible body; 512 bring twice the registers.
option(CALDER_WIDE_KERNELS "compile the sweeps for AVX2 and AVX-512 too, chosen at run time" ON)
set(calder_wide_kernels OFF)
if(CALDER_WIDE_KERNELS AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
	set(calder_wide_kernels ON)
	foreach(sweep src/joint/primitive.c src/flexbody/flex_body.c src/dynamics/tree/general_link.c src/dynamics/flex/flexible.c
			src/dynamics/flex/flexible_linear.c src/dynamics/loop/loop_compliance.c src/dynamics/loop/loop_elimination.c src/dynamics/loop/loop_min_norm.c src/dynamics/loop/loop_sweep.c src/dynamics/tree/articulated.c
			src/dynamics/tree/inverse.c src/dynamics/tree/composite.c src/dynamics/tree/factor.c src/dynamics/tree/columns.c
			src/component/interface.c src/component/interface_join.c src/derivative/derivative_sweep.c src/derivative/derivative_solve.c
			src/sim/subsystem/tie_algebra.c)
		calder_file_variant(${sweep} avx2 CAL_ISA=avx2 -mavx2 -fno-tree-slp-vectorize)
		calder_file_variant(${sweep} avx512 CAL_ISA=avx512 -mavx512vl -mavx512dq -fno-tree-slp-vectorize -falign-functions=64)
	endforeach()
	foreach(sweep IN LISTS calder_lane_sweeps)
		calder_file_variant(${sweep} x4_avx2 CAL_LANES=4 CAL_ISA=avx2 -mavx2 -fno-tree-slp-vectorize)
		calder_file_variant(${sweep} x8_avx512 CAL_LANES=8 CAL_ISA=avx512 -mavx512vl -mavx512dq -fno-tree-slp-vectorize)
	endforeach()
	# Products of rows of the sparse solver of finite-element models.
	calder_file_variant(src/fe/fe_row_products.c avx2 CAL_ISA=avx2 -mavx2)
	calder_file_variant(src/fe/fe_row_products.c avx512 CAL_ISA=avx512 -mavx512vl -mavx512dq)
	foreach(file src/base/cpu.c src/fe/fe_kernels.c src/dynamics/tree/kernels.c src/dynamics/tree/factor_kernels.c src/dynamics/loop/loop_kernels.c src/component/interface_kernels.c
			src/derivative/derivative_kernels.c src/sim/subsystem/tie_kernels.c src/batch/lane_kernels.c)
		set_property(SOURCE ${PROJECT_SOURCE_DIR}/${file} APPEND PROPERTY COMPILE_DEFINITIONS CALDER_WIDE_KERNELS)
	endforeach()
endif()
