# SPDX-License-Identifier: Apache-2.0
#
# Options of the build, and `calder_flags`: the compiler and linker flags of every target of the project.
# Nothing of this reaches a project that uses the installed library.

option(CALDER_SHARED "Build the shared library beside the static one" ON)
option(CALDER_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(CALDER_FUZZ "Build the libFuzzer programs (clang)" OFF)
option(CALDER_BENCH "Build the benchmark against other engines (C++)" OFF)
option(CALDER_WERROR "Treat warnings as errors; our presets do" OFF)
option(CALDER_STATIC_CLI "Link the command line statically" OFF)
option(CALDER_PORTABLE_PATHS "Keep the paths of the build out of the binaries" OFF)
option(CALDER_THREADS "Use threads; without them the caller does all the work (WebAssembly)" ON)
set(CALDER_SANITIZE "" CACHE STRING "Sanitizers for everything, as for -fsanitize= (address,undefined)")
set(CALDER_MARCH "" CACHE STRING "Instruction set, as for -march=; baseline: what every CPU of the kind has; empty: default")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
	set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

add_library(calder_flags INTERFACE)
# -ffp-contract=off: a*b+c rounds twice everywhere, so that every compiler and CPU gives the same bits.
# -fno-math-errno: sqrt is one instruction; nothing in the library reads errno after it.
# Kernels of src/gpu have their own (cmake/CalderCuda.cmake).
set(calder_not_cuda "$<NOT:$<COMPILE_LANGUAGE:CUDA>>")
target_compile_options(calder_flags INTERFACE "$<${calder_not_cuda}:-ffp-contract=off;-fno-math-errno>")
# gcc up to 12 fuses multiplications with alternating additions (vfmaddsub) in spite of -ffp-contract=off where the processor
# can, e.g. with -march=native.
if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND CMAKE_C_COMPILER_VERSION VERSION_LESS 13)
	target_compile_options(calder_flags INTERFACE $<${calder_not_cuda}:-fno-tree-slp-vectorize>)
endif()
# 32-bit x86 computes in 80 bits unless told otherwise, and rounds wherever a register is spilled.
if(CMAKE_SIZEOF_VOID_P EQUAL 4 AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(i.86|x86|x86_64|AMD64|amd64)$")
	target_compile_options(calder_flags INTERFACE "$<${calder_not_cuda}:-msse2;-mfpmath=sse>")
endif()
target_compile_options(calder_flags INTERFACE $<$<COMPILE_LANGUAGE:C>:-Wall -Wextra -pedantic -Wconversion -Wshadow>)
# How vectors wider than a register are passed has changed between versions of gcc; ours never leave the library.
target_compile_options(calder_flags INTERFACE $<$<AND:${calder_not_cuda},$<C_COMPILER_ID:GNU>>:-Wno-psabi>)
# gcc 10 takes a compound literal among designated initializers for the end of them.
target_compile_options(calder_flags INTERFACE
	$<$<AND:$<C_COMPILER_ID:GNU>,$<VERSION_LESS:$<C_COMPILER_VERSION>,11>>:-Wno-missing-field-initializers>)
# Our anonymous enums are named integers: as doubles they are exact. clang counts that to -Wconversion from 18 on.
target_compile_options(calder_flags INTERFACE $<$<C_COMPILER_ID:Clang,AppleClang>:-Wno-enum-float-conversion>)
if(CALDER_WERROR)
	target_compile_options(calder_flags INTERFACE $<$<COMPILE_LANGUAGE:C>:-Werror>)
endif()
target_compile_features(calder_flags INTERFACE c_std_17)
set(CMAKE_C_EXTENSIONS OFF)

if(CALDER_SANITIZE)
	target_compile_options(calder_flags INTERFACE -fsanitize=${CALDER_SANITIZE} -fno-sanitize-recover=all
		-fno-omit-frame-pointer)
	target_link_options(calder_flags INTERFACE -fsanitize=${CALDER_SANITIZE})
endif()
# CAL_ASSERT (src/base/assert.h) is code in builds that look for bugs, and nowhere else.
if(CALDER_SANITIZE)
	target_compile_definitions(calder_flags INTERFACE CALDER_ASSERTIONS)
else()
	target_compile_definitions(calder_flags INTERFACE $<$<CONFIG:Debug>:CALDER_ASSERTIONS>)
endif()
if(CALDER_MARCH STREQUAL "baseline")
	if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
		target_compile_options(calder_flags INTERFACE -march=x86-64 -mtune=generic)
	elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
		target_compile_options(calder_flags INTERFACE -march=armv8-a)
	endif()
elseif(CALDER_MARCH)
	target_compile_options(calder_flags INTERFACE -march=${CALDER_MARCH})
endif()
if(CALDER_PORTABLE_PATHS)
	# The build folder last, that is, tried first: it may lie inside the source folder.
	target_compile_options(calder_flags INTERFACE -ffile-prefix-map=${PROJECT_SOURCE_DIR}=.
		-ffile-prefix-map=${PROJECT_BINARY_DIR}=build)
endif()
