# SPDX-License-Identifier: Apache-2.0
# What single tests need beyond cmake/CalderTests.cmake.

# It makes HDF5 files that the library would never write.
target_link_libraries(test_view_hostile_results PRIVATE ${calder_adapter_libraries})
