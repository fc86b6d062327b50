# SPDX-License-Identifier: BSD-3-Clause
# Fails when Doxygen had anything to say.
file(READ "${WARNINGS}" text)
if(NOT text STREQUAL "")
  message(FATAL_ERROR "Doxygen warns:\n${text}")
endif()
