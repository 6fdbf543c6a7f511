# SPDX-License-Identifier: Apache-2.0
#
# Optional libraries. Each has a switch AUTO (used if it is there), ON (required) or OFF.
# Sets calder_adapter_libraries, calder_adapter_definitions, calder_pc_requires and calder_pc_libs.

set(calder_adapter_libraries "")
set(calder_adapter_definitions "")
set(calder_pc_requires "")
set(calder_pc_libs "")

if(CALDER_STATIC_CLI)
	set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
endif()

foreach(adapter YAML SUNDIALS)
	set(CALDER_WITH_${adapter} AUTO CACHE STRING "Use ${adapter}: AUTO, ON or OFF")
	set_property(CACHE CALDER_WITH_${adapter} PROPERTY STRINGS AUTO ON OFF)
	set(calder_have_${adapter} FALSE)
endforeach()

# Ends the search for an adapter: says what was found, and fails where it was required.
function(calder_adapter_report adapter package)
	if(calder_have_${adapter})
		message(STATUS "Adapter ${adapter}: on")
	elseif(CALDER_WITH_${adapter} STREQUAL "AUTO")
		message(STATUS "Adapter ${adapter}: not found (Debian: ${package}); built without it")
	elseif(CALDER_WITH_${adapter})
		message(FATAL_ERROR "CALDER_WITH_${adapter} is ON but the library was not found; install ${package}")
	endif()
endfunction()

if(CALDER_WITH_YAML)
	find_package(PkgConfig QUIET)
	if(PkgConfig_FOUND)
		pkg_check_modules(YAML QUIET IMPORTED_TARGET yaml-0.1)
	endif()
	if(YAML_FOUND)
		set(calder_have_YAML TRUE)
		list(APPEND calder_adapter_libraries PkgConfig::YAML)
		list(APPEND calder_adapter_definitions CALDER_WITH_YAML=1)
		list(APPEND calder_pc_requires yaml-0.1)
	endif()
endif()
calder_adapter_report(YAML libyaml-dev)

# By name and not by SUNDIALSConfig.cmake: Debian's also wants MPI, PETSc and OpenMP found.
if(CALDER_WITH_SUNDIALS)
	set(calder_have_SUNDIALS TRUE)
	set(sundials_libraries "")
	find_path(SUNDIALS_INCLUDE_DIR cvode/cvode.h)
	foreach(part cvode nvecserial)
		find_library(SUNDIALS_${part}_LIBRARY sundials_${part})
		list(APPEND sundials_libraries sundials_${part})
		if(NOT SUNDIALS_INCLUDE_DIR OR NOT SUNDIALS_${part}_LIBRARY)
			set(calder_have_SUNDIALS FALSE)
		endif()
	endforeach()
	if(calder_have_SUNDIALS)
		list(APPEND calder_adapter_libraries ${sundials_libraries})
		list(APPEND calder_adapter_definitions CALDER_WITH_SUNDIALS=1)
		list(TRANSFORM sundials_libraries PREPEND "-l" OUTPUT_VARIABLE calder_pc_libs)
	endif()
endif()
calder_adapter_report(SUNDIALS libsundials-dev)
