# SPDX-License-Identifier: Apache-2.0
#
# Installation: headers, libraries, the command line, calder.pc and the CMake package (calder::calder).

install(TARGETS ${calder_install_targets} EXPORT calderTargets)
install(DIRECTORY include/calder DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)

list(JOIN calder_pc_requires " " CALDER_PC_REQUIRES)
list(JOIN calder_pc_libs " " CALDER_PC_LIBS)
# calder.pc finds the installation from where it lies, so that it can be moved or packed.
file(RELATIVE_PATH CALDER_PC_UP /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/calder.pc.in calder.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/calder.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(calder_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/calder)
install(EXPORT calderTargets NAMESPACE calder:: DESTINATION ${calder_package_dir})
configure_package_config_file(cmake/calderConfig.cmake.in calderConfig.cmake INSTALL_DESTINATION ${calder_package_dir})
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(calderConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/calderConfig.cmake ${PROJECT_BINARY_DIR}/calderConfigVersion.cmake
	DESTINATION ${calder_package_dir})
