# SPDX-License-Identifier: Apache-2.0
#
# Each test/fuzz/fuzz_NAME.c is one libFuzzer program (clang only). Build with CALDER_SANITIZE=address,undefined
# and the preset `fuzz`, which instruments the library too.

if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
	message(FATAL_ERROR "CALDER_FUZZ needs clang; configure with the preset fuzz")
endif()
target_compile_options(calder_flags INTERFACE -fsanitize=fuzzer-no-link)
file(GLOB calder_fuzz_sources CONFIGURE_DEPENDS test/fuzz/fuzz_*.c)
foreach(source IN LISTS calder_fuzz_sources)
	get_filename_component(name ${source} NAME_WE)
	add_executable(${name} ${source})
	target_link_libraries(${name} PRIVATE calder calder_flags)
	target_link_options(${name} PRIVATE -fsanitize=fuzzer)
	set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
endforeach()
