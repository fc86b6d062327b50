# SPDX-License-Identifier: BSD-3-Clause
if(CLI11_INCLUDE_DIR AND JSON_INCLUDE_DIR)
  dyngrid_test(apps.cmd_plan SOURCES cmd_plan_test.cpp "${PROJECT_SOURCE_DIR}/apps/dyngrid/cmd_plan.cpp" LINK redist gridmap)
  target_include_directories(test_apps_cmd_plan SYSTEM PRIVATE "${CLI11_INCLUDE_DIR}" "${JSON_INCLUDE_DIR}")
  target_include_directories(test_apps_cmd_plan PRIVATE "${PROJECT_SOURCE_DIR}/apps")
endif()
