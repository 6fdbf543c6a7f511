# SPDX-License-Identifier: Apache-2.0
# What single tests need beyond cmake/CalderTests.cmake.

# It makes HDF5 files that the library would never write.
target_link_libraries(test_view_hostile_results PRIVATE ${calder_adapter_libraries})

# The web server belongs to the command line.
target_sources(test_cli_server_thread PRIVATE ${PROJECT_SOURCE_DIR}/cli/server.c)
target_compile_definitions(test_cli_server_thread PRIVATE ${calder_cli_definitions})
target_link_libraries(test_cli_server_thread PRIVATE ${calder_cli_libraries})
