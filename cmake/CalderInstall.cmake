# SPDX-License-Identifier: Apache-2.0
#
# Installation: headers, libraries, the command line with its manual pages and completions, documentation, examples, the JSON
# schema of model files, calder.pc and the CMake package (calder::calder).

# Parts that can be installed alone, `cmake --install BUILD --component PART`: runtime (the shared library), development, tool (the
# command line), documentation. Each library and the program has an export of its own, so that the CMake package finds what
# is there and asks for nothing else.
set(calder_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/calder)
install(TARGETS calder EXPORT calderStatic ARCHIVE COMPONENT development)
install(EXPORT calderStatic NAMESPACE calder:: FILE calder-static.cmake DESTINATION ${calder_package_dir} COMPONENT development)
if(TARGET calder_shared)
	install(TARGETS calder_shared EXPORT calderShared LIBRARY COMPONENT runtime NAMELINK_COMPONENT development)
	install(EXPORT calderShared NAMESPACE calder:: FILE calder-shared.cmake DESTINATION ${calder_package_dir} COMPONENT development)
endif()
if(TARGET calder_cli)
	install(TARGETS calder_cli EXPORT calderTool RUNTIME COMPONENT tool)
	install(EXPORT calderTool NAMESPACE calder:: FILE calder-tool.cmake DESTINATION ${calder_package_dir} COMPONENT tool)
endif()
install(DIRECTORY include/calder DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development FILES_MATCHING PATTERN "*.h")

list(JOIN calder_pc_requires " " CALDER_PC_REQUIRES)
list(JOIN calder_pc_libs " " CALDER_PC_LIBS)
# calder.pc finds the installation from where it lies, so that it can be moved or packed.
file(RELATIVE_PATH CALDER_PC_UP /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/calder.pc.in calder.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/calder.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

configure_package_config_file(cmake/calderConfig.cmake.in calderConfig.cmake INSTALL_DESTINATION ${calder_package_dir})
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(calderConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/calderConfig.cmake ${PROJECT_BINARY_DIR}/calderConfigVersion.cmake
	DESTINATION ${calder_package_dir} COMPONENT development)

# ---- documentation ------------------------------------------------------------------------------

# Side by side as in the sources: pages link to each other and to examples.
install(FILES README.md CHANGELOG.md CITATION.cff LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT documentation)
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT documentation PATTERN __pycache__ EXCLUDE)
install(FILES docs/calder.schema.json DESTINATION ${CMAKE_INSTALL_DATADIR}/calder COMPONENT tool)

# Made from what `calder help` prints, so it has to run here.
find_package(Python3 QUIET COMPONENTS Interpreter)
if(Python3_FOUND AND TARGET calder_cli AND NOT CMAKE_CROSSCOMPILING AND NOT CALDER_SANITIZE)
	set(calder_manual ${PROJECT_BINARY_DIR}/manual)
	add_custom_command(OUTPUT ${calder_manual}/man1/calder.1
		COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/manual $<TARGET_FILE:calder_cli> ${calder_manual} ${PROJECT_VERSION}
		DEPENDS calder_cli tools/manual COMMENT "Manual pages and completions" VERBATIM)
	add_custom_target(calder_manual ALL DEPENDS ${calder_manual}/man1/calder.1)
	install(DIRECTORY ${calder_manual}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT tool)
	install(FILES ${calder_manual}/bash/calder DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT tool)
	install(FILES ${calder_manual}/zsh/_calder DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT tool)
	install(FILES ${calder_manual}/fish/calder.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT tool)
else()
	message(STATUS "Manual pages: not made (they need Python 3 and a command line that runs here)")
endif()
