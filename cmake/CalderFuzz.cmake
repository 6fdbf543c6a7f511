# SPDX-License-Identifier: Apache-2.0
#
# The fuzz program (clang only): the targets of test/fuzz, and of the command line what they exercise. Build it with the
# preset `fuzz`, which instruments the library too. One program holds all targets, so that moving it moves all.

if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
	message(FATAL_ERROR "CALDER_FUZZ needs clang; configure with the preset fuzz")
endif()
target_compile_options(calder_flags INTERFACE -fsanitize=fuzzer-no-link)
file(GLOB calder_fuzz_sources CONFIGURE_DEPENDS test/fuzz/*.c)
file(GLOB calder_fuzz_cli CONFIGURE_DEPENDS cli/*.c)
list(FILTER calder_fuzz_cli EXCLUDE REGEX "/(main|server|clock|page|fmu|fmu_[a-z_]*)\\.c$") # which test/fuzz plays itself, or reads no file
add_executable(fuzz ${calder_fuzz_sources} ${calder_fuzz_cli})
target_include_directories(fuzz PRIVATE src test)
target_compile_definitions(fuzz PRIVATE EXAMPLES_DIR="${PROJECT_SOURCE_DIR}/examples" ${calder_adapter_definitions})
target_link_libraries(fuzz PRIVATE calder_golden calder calder_flags ${calder_adapter_libraries} Threads::Threads m)
target_link_options(fuzz PRIVATE -fsanitize=fuzzer)
set_target_properties(fuzz PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
