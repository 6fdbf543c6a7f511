# SPDX-License-Identifier: Apache-2.0
#
# wasm/: the small interface of the WebAssembly module, and wasm_check, which runs golden cases and models through it and prints
# every digit. wasm_check is built for this machine too: what both print must be the same (./dev wasm, docs/wasm.md).

set(CALDER_IS_WASM FALSE)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "wasm32")
	set(CALDER_IS_WASM TRUE)
endif()

# What pages do to bodies, joints and parameters is that of `calder run --live`.
set(calder_wasm_sources wasm/calder_wasm.c cli/json.c cli/live_command.c cli/live_hand.c cli/live_lab.c)

function(calder_wasm_program target)
	add_executable(${target} ${ARGN} ${calder_wasm_sources})
	if(NOT CALDER_IS_WASM)
		set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL TRUE)
	endif()
	target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/wasm ${PROJECT_SOURCE_DIR}/cli)
	target_link_libraries(${target} PRIVATE calder calder_flags)
	set_target_properties(${target} PROPERTIES C_VISIBILITY_PRESET hidden RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/wasm)
	if(CALDER_IS_WASM)
		target_sources(${target} PRIVATE wasm/wasi/missing.c)
		set_target_properties(${target} PROPERTIES SUFFIX .wasm)
	endif()
endfunction()

calder_wasm_program(wasm_check wasm/check.c)
target_link_libraries(wasm_check PRIVATE calder_golden)
if(CALDER_IS_WASM)
	calder_wasm_program(calder_wasm)
	set_target_properties(calder_wasm PROPERTIES OUTPUT_NAME calder)
	target_link_options(calder_wasm PRIVATE -mexec-model=reactor -Wl,--export=malloc -Wl,--export=free)
endif()
