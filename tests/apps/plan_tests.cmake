# SPDX-License-Identifier: BSD-3-Clause
if(TARGET dyngrid_command_core)
  dyngrid_test(apps.plan_exchange SOURCES plan_exchange_test.cpp IN test_apps LINK dyngrid_command_core)
  dyngrid_test(apps.plan_decision SOURCES plan_decision_test.cpp IN test_apps LINK dyngrid_command_core)

  # one line on stderr and status 2, through the program itself
  add_test(NAME apps.dyngrid_plan_bad_grid COMMAND dyngrid_command plan exchange --from 2y2 --to 3x3 --m 6 --n 6)
  add_test(NAME apps.dyngrid_plan_bad_schedule COMMAND dyngrid_command plan exchange --from 2x2 --to 3x3 --m 6 --n 6
    --schedule slow)
  set_tests_properties(apps.dyngrid_plan_bad_grid apps.dyngrid_plan_bad_schedule PROPERTIES LABELS pure
    PASS_REGULAR_EXPRESSION "^dyngrid plan exchange: .*expected")
endif()
