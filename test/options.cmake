# SPDX-License-Identifier: Apache-2.0
# What single tests need beyond cmake/CalderTests.cmake.

# It makes HDF5 files that the library would never write.
target_link_libraries(test_view_hostile_results PRIVATE ${calder_adapter_libraries})

# The web server belongs to the command line.
target_sources(test_cli_server_thread PRIVATE ${PROJECT_SOURCE_DIR}/cli/server.c)
target_compile_definitions(test_cli_server_thread PRIVATE ${calder_cli_definitions})
target_link_libraries(test_cli_server_thread PRIVATE ${calder_cli_libraries})

# A live run without web server, clock and page, which the test plays itself.
foreach(part live live_command live_control live_hand live_lab interrupt common json doubts options read_options)
	target_sources(test_cli_live_answers PRIVATE ${PROJECT_SOURCE_DIR}/cli/${part}.c)
endforeach()
target_link_libraries(test_cli_live_answers PRIVATE ${calder_cli_libraries})

# api.null: calls of every public function, made from the headers.
find_package(Python3 QUIET COMPONENTS Interpreter)
if(Python3_FOUND)
	file(GLOB calder_headers CONFIGURE_DEPENDS include/calder/*.h)
	set(null_calls ${PROJECT_BINARY_DIR}/test/null_calls.c)
	set(null_generator ${PROJECT_SOURCE_DIR}/test/api/null_calls.py)
	add_custom_command(OUTPUT ${null_calls} VERBATIM
		COMMAND sh -c "\"$0\" \"$@\" >${null_calls}" ${Python3_EXECUTABLE} ${null_generator}
			${PROJECT_SOURCE_DIR}/test/api/null_calls.h ${calder_headers}
		DEPENDS ${null_generator} test/api/null_calls.h ${calder_headers})
	add_executable(test_api_null test/api/null.c ${null_calls})
	target_link_libraries(test_api_null PRIVATE ${calder_test_libraries} calder_test_flags)
	set_target_properties(test_api_null PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/test)
	add_test(NAME api.null COMMAND test_api_null)
	set_tests_properties(api.null PROPERTIES LABELS api TIMEOUT ${calder_test_limit})
endif()

# The model of step times belongs to a bench.
target_sources(test_bench_rank_model PRIVATE ${PROJECT_SOURCE_DIR}/bench/ranks/rank_model.c)

# math.trio: the operations once per width of registers, and in lanes.
set(trio_cases ${PROJECT_SOURCE_DIR}/test/math/trio_cases.c)
target_sources(test_math_trio PRIVATE ${trio_cases})
function(trio_cases_variant suffix)
	set(variant ${PROJECT_BINARY_DIR}/test/trio_cases_${suffix}.c)
	file(CONFIGURE OUTPUT ${variant} CONTENT "#include \"${trio_cases}\"\n")
	set_property(SOURCE ${variant} PROPERTY COMPILE_OPTIONS ${ARGN})
	set_property(SOURCE ${variant} PROPERTY INCLUDE_DIRECTORIES ${PROJECT_SOURCE_DIR}/test/math)
	target_sources(test_math_trio PRIVATE ${variant})
endfunction()
trio_cases_variant(x4 -DCAL_LANES=4)
if(calder_wide_kernels)
	target_compile_definitions(test_math_trio PRIVATE CALDER_WIDE_KERNELS)
	trio_cases_variant(avx2 -DCAL_ISA=avx2 -mavx2)
	trio_cases_variant(avx512 -DCAL_ISA=avx512 -mavx512vl -mavx512dq)
endif()

# fmu.fmu: an importer of functional mock-up units, which loads nothing of Calder but the unit.
if(TARGET calder_fmu)
	add_executable(fmu_importer test/fmu/importer.c)
	target_include_directories(fmu_importer PRIVATE ${PROJECT_SOURCE_DIR})
	target_link_libraries(fmu_importer PRIVATE calder_flags m ${CMAKE_DL_LIBS})
	set_target_properties(fmu_importer PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/test)
endif()

# fmu.fmu_calls: the functions of units, linked here.
foreach(source fmi2 fmi3 fmu_instance fmu_inputs fmu_model)
	target_sources(test_fmu_fmu_calls PRIVATE ${PROJECT_SOURCE_DIR}/fmu/${source}.c)
endforeach()
target_include_directories(test_fmu_fmu_calls PRIVATE ${PROJECT_SOURCE_DIR})
