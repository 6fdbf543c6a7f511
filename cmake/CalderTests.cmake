# SPDX-License-Identifier: Apache-2.0
#
# Tests: each test/AREA/test_NAME.c is a cmocka program, each test/AREA/test_NAME.sh a bash script; both become
# the ctest AREA.NAME with the label AREA. Folders mirror src/; those within each other are joined by dots:
# test/dynamics/loop/test_loops.c is dynamics.loop.loops. The programs see src/ and link the static library, the textbook
# algorithms (test/reference) and the helpers (test/support). Names that contain determinism, thread, worker_pool
# or branches also get the label `threads` (run under TSan). Scripts get CALDER (the command line), BUILD_DIR and SOURCE_DIR.
# test/options.cmake, if there, holds what single tests need beyond this.

# Against hangs only: no test may depend on how busy the machine is [s].
set(calder_test_limit 3600)

find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
	pkg_check_modules(CMOCKA QUIET IMPORTED_TARGET cmocka)
endif()
if(NOT CMOCKA_FOUND)
	message(STATUS "Tests: cmocka not found (Debian: libcmocka-dev); built without them")
	return()
endif()
find_package(Threads REQUIRED)

add_library(calder_test_flags INTERFACE)
target_include_directories(calder_test_flags INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/test)
target_compile_definitions(calder_test_flags INTERFACE
	TEST_DATA_DIR="${PROJECT_SOURCE_DIR}/test/data" SOURCE_DIR="${PROJECT_SOURCE_DIR}" ${calder_adapter_definitions})
target_link_libraries(calder_test_flags INTERFACE calder_golden calder calder_flags PkgConfig::CMOCKA Threads::Threads m)

set(calder_test_libraries "")
foreach(part support reference)
	file(GLOB sources CONFIGURE_DEPENDS test/${part}/*.c)
	list(FILTER sources EXCLUDE REGEX "/test_[^/]*$")
	if(sources)
		add_library(calder_${part} STATIC ${sources})
		target_link_libraries(calder_${part} PRIVATE calder_test_flags)
		list(APPEND calder_test_libraries calder_${part}) # support may use reference
	endif()
endforeach()

# AREA.NAME and the label AREA for test/AREA/test_NAME.EXT
function(calder_test_name source name area)
	file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR}/test ${source})
	get_filename_component(folder ${path} DIRECTORY)
	get_filename_component(stem ${path} NAME_WE)
	string(REPLACE "/" "." folder "${folder}")
	string(REGEX REPLACE "^test_" "" stem ${stem})
	if(folder)
		set(${area} ${folder} PARENT_SCOPE)
		set(${name} ${folder}.${stem} PARENT_SCOPE)
	else()
		set(${area} general PARENT_SCOPE)
		set(${name} ${stem} PARENT_SCOPE)
	endif()
endfunction()

file(GLOB_RECURSE calder_test_sources CONFIGURE_DEPENDS test/test_*.c)
list(FILTER calder_test_sources EXCLUDE REGEX "/test/(fuzz|install)/")
add_custom_target(calder_thread_tests)
foreach(source IN LISTS calder_test_sources)
	calder_test_name(${source} name area)
	string(REPLACE "." "_" target test_${name})
	add_executable(${target} ${source})
	target_link_libraries(${target} PRIVATE ${calder_test_libraries} calder_test_flags)
	set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/test)
	add_test(NAME ${name} COMMAND ${target})
	set(labels ${area})
	if(name MATCHES "determinism|thread|worker_pool|branches")
		list(APPEND labels threads)
		add_dependencies(calder_thread_tests ${target})
	endif()
	if(name MATCHES "^(integrate\\.flexible_invariants|examples\\.(station|events)|dynamics\\.flex\\.spin_up|sim\\.(threads|balance))$") # long runs: without ASan (threads: with TSan)
		list(APPEND labels slow)
	endif()
	set_tests_properties(${name} PROPERTIES LABELS "${labels}" TIMEOUT ${calder_test_limit})
endforeach()

file(GLOB_RECURSE calder_test_scripts CONFIGURE_DEPENDS test/test_*.sh)
foreach(source IN LISTS calder_test_scripts)
	calder_test_name(${source} name area)
	add_test(NAME ${name} COMMAND bash ${source})
	set(slow "")
	if(name MATCHES "^(cli\\.(examples|distribute|interrupt|sweep|zoo)|math\\.no_libm|install\\.(amalgamation|release))$") # whole runs by the dozen, symbols: without sanitizers only
		set(slow ";slow")
	endif()
	set_tests_properties(${name} PROPERTIES LABELS "${area};script${slow}" TIMEOUT ${calder_test_limit} SKIP_RETURN_CODE 77 ENVIRONMENT
		"CALDER=${PROJECT_BINARY_DIR}/bin/calder;BUILD_DIR=${PROJECT_BINARY_DIR};SOURCE_DIR=${PROJECT_SOURCE_DIR}")
endforeach()

include(${PROJECT_SOURCE_DIR}/test/options.cmake OPTIONAL)

# A fresh clone has no record of what a test costs: the longest first, so that no core waits for them in the end.
foreach(name cli.scaling cli.distribute cli.interrupt examples.models checkpoint.checkpoint sim.subsystem sim.balance
		sim.threads component.branches dynamics.flex.spin_up examples.events)
	if(TEST ${name})
		set_tests_properties(${name} PROPERTIES COST 100)
	endif()
endforeach()
