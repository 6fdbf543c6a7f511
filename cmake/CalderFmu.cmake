# SPDX-License-Identifier: Apache-2.0
#
# calder_fmu: the shared object of functional mock-up units (fmu/, docs/fmi.md), which `calder fmu` writes into every unit. It holds
# the library and needs nothing but the C library, so that a unit runs on machines without Calder: everything is linked
# statically. Where a static library is missing there is none, and the command says so.

set(calder_fmu_libraries "")
set(calder_fmu_missing "")

# What the library calls from a model file to a step; the other adapters are for results and robot files.
set(calder_fmu_wanted "")
if(calder_have_YAML)
	list(APPEND calder_fmu_wanted yaml)
else()
	list(APPEND calder_fmu_missing yaml)
endif()
if(calder_have_SUNDIALS)
	list(APPEND calder_fmu_wanted sundials_cvode sundials_nvecserial)
endif()
foreach(library IN LISTS calder_fmu_wanted)
	find_library(CALDER_STATIC_${library} lib${library}.a)
	if(CALDER_STATIC_${library})
		list(APPEND calder_fmu_libraries ${CALDER_STATIC_${library}})
	else()
		list(APPEND calder_fmu_missing ${library})
	endif()
endforeach()

if(calder_fmu_missing OR NOT CALDER_SHARED OR NOT CALDER_THREADS OR CALDER_WITH_CUDA)
	message(STATUS "Functional mock-up units: off (static libraries that are missing: ${calder_fmu_missing})")
else()
	add_library(calder_fmu MODULE fmu/fmi2.c fmu/fmi3.c fmu/fmu_instance.c fmu/fmu_inputs.c fmu/fmu_model.c)
	target_include_directories(calder_fmu PRIVATE include)
	add_dependencies(calder_fmu calder)
	target_link_libraries(calder_fmu PRIVATE calder_flags $<TARGET_FILE:calder> ${calder_fmu_libraries} m ${CMAKE_DL_LIBS}
		Threads::Threads)
	set_target_properties(calder_fmu PROPERTIES C_VISIBILITY_PRESET hidden PREFIX "" LINK_DEPENDS $<TARGET_FILE:calder>)
	# Its own copy of everything, whatever else the importer has loaded.
	target_link_options(calder_fmu PRIVATE -Wl,-Bsymbolic -Wl,--exclude-libs,ALL -Wl,--gc-sections -Wl,--as-needed -s)
endif()

# The source file that takes the shared object in.
function(calder_fmu_in source)
	if(TARGET calder_fmu)
		set(licenses ${PROJECT_SOURCE_DIR}/fmu/licenses.txt)
		set_property(SOURCE ${source} APPEND PROPERTY COMPILE_DEFINITIONS
			CALDER_FMU_BINARY="${PROJECT_BINARY_DIR}/calder_fmu.so" CALDER_FMU_LICENSES="${licenses}")
		set_property(SOURCE ${source} APPEND PROPERTY OBJECT_DEPENDS "${PROJECT_BINARY_DIR}/calder_fmu.so;${licenses}")
	endif()
endfunction()
