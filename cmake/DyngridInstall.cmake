# SPDX-License-Identifier: BSD-3-Clause
# What `cmake --install` puts where. Components: runtime (the library), dev (headers, modules, package files, pages to
# read, examples), bin (the command, its man pages and completions), python (the package). The tree can
# be moved as a whole: nothing in it holds the prefix.
include(CMakePackageConfigHelpers)

# A folder of its own for what Fortran's INCLUDE and USE look for: compilers other than C's do not search /usr/include,
# and pkg-config leaves -I/usr/include out.
set(DYNGRID_INSTALL_FORTRANDIR "${CMAKE_INSTALL_INCLUDEDIR}/dyngrid/fortran")
set(DYNGRID_INSTALL_CMAKEDIR "${CMAKE_INSTALL_LIBDIR}/cmake/dyngrid")

install(TARGETS dyngrid EXPORT dyngridTargets LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime
  NAMELINK_COMPONENT dev)
install(TARGETS dyngrid_fortran EXPORT dyngridTargets)
install(TARGETS dyngrid_calls LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/dyngrid" COMPONENT runtime NAMELINK_SKIP)
if(TARGET dyngrid_yield)
  install(TARGETS dyngrid_yield LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/dyngrid" COMPONENT runtime NAMELINK_SKIP)
endif()
install(EXPORT dyngridTargets NAMESPACE dyngrid:: DESTINATION "${DYNGRID_INSTALL_CMAKEDIR}" COMPONENT dev)

# The C interface and the C++ one, which is header-only. The headers of the modules' own namespaces (gridmap/*.hpp,
# redist/*.hpp) stay here: their functions are not exported, see docs/decisions/0018.
install(FILES "${PROJECT_SOURCE_DIR}/blacs-dyn/api/include/dyngrid.h"
  "${PROJECT_SOURCE_DIR}/blacs-dyn/api/include/dyngrid.hpp"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT dev)
file(GLOB public_headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/base/include/dyngrid/*.h"
  "${PROJECT_SOURCE_DIR}/gridmap/include/dyngrid/*.h" "${PROJECT_SOURCE_DIR}/redist/include/dyngrid/*.h"
  "${PROJECT_SOURCE_DIR}/pblas/include/dyngrid/*.h"
  "${PROJECT_SOURCE_DIR}/blacs-dyn/api/include/dyngrid/*.h" "${PROJECT_SOURCE_DIR}/blacs-dyn/api/include/dyngrid/*.hpp")
install(FILES ${public_headers} DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/dyngrid" COMPONENT dev)
install(DIRECTORY "${PROJECT_BINARY_DIR}/mod/" DESTINATION "${DYNGRID_INSTALL_FORTRANDIR}" COMPONENT dev FILES_MATCHING
  PATTERN "dyngrid*.mod")
install(FILES "${PROJECT_BINARY_DIR}/fortran/dyngrid.fh" DESTINATION "${DYNGRID_INSTALL_FORTRANDIR}" COMPONENT
  dev)

# The package for Python, PREFIX/lib/python3/dist-packages in PYTHONPATH. A file in it holds the way to the library.
install(DIRECTORY "${PROJECT_SOURCE_DIR}/python/dyngrid" DESTINATION lib/python3/dist-packages COMPONENT python
  FILES_MATCHING PATTERN "*.py" PATTERN py.typed)
set(library_folder "${CMAKE_INSTALL_LIBDIR}")
if(NOT IS_ABSOLUTE "${library_folder}")
  file(RELATIVE_PATH library_folder "/lib/python3/dist-packages/dyngrid" "/${library_folder}")
endif()
file(WRITE "${PROJECT_BINARY_DIR}/library_folder" "${library_folder}\n")
install(FILES "${PROJECT_BINARY_DIR}/library_folder" DESTINATION lib/python3/dist-packages/dyngrid COMPONENT python)

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/dyngridConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/dyngridConfig.cmake"
  INSTALL_DESTINATION "${DYNGRID_INSTALL_CMAKEDIR}" NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/dyngridConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/dyngridConfig.cmake" "${PROJECT_BINARY_DIR}/dyngridConfigVersion.cmake"
  DESTINATION "${DYNGRID_INSTALL_CMAKEDIR}" COMPONENT dev)

# dyngrid.pc finds the tree from where it lies itself
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(DYNGRID_PC_PREFIX "${CMAKE_INSTALL_PREFIX}")
else()
  file(RELATIVE_PATH up "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
  string(REGEX REPLACE "/$" "" up "${up}")
  set(DYNGRID_PC_PREFIX "\${pcfiledir}/${up}")
endif()
foreach(folder CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR DYNGRID_INSTALL_FORTRANDIR)
  set(PC_${folder} "${${folder}}")
  if(NOT IS_ABSOLUTE "${${folder}}")
    set(PC_${folder} "\${prefix}/${${folder}}")
  endif()
endforeach()
if(DYNGRID_SCALAPACK_BY_PKG_CONFIG)
  set(DYNGRID_PC_REQUIRES "Requires: ${DYNGRID_SCALAPACK_NAME}")
  set(DYNGRID_PC_SCALAPACK "")
else()
  set(DYNGRID_PC_REQUIRES "Requires:")
  set(DYNGRID_PC_SCALAPACK " -l${DYNGRID_SCALAPACK_NAME}")
  if(DYNGRID_SCALAPACK_WORDS)
    list(JOIN DYNGRID_SCALAPACK_WORDS " " words)
    set(DYNGRID_PC_SCALAPACK " ${words}")
  endif()
endif()
configure_file("${PROJECT_SOURCE_DIR}/packaging/dyngrid.pc.in" "${PROJECT_BINARY_DIR}/dyngrid.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/dyngrid.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT dev)

set(docs README.md ARCHITECTURE.md CHANGELOG.md REFERENCES.md LICENSE CITATION.cff)
list(TRANSFORM docs PREPEND "${PROJECT_SOURCE_DIR}/")
install(FILES ${docs} DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT dev)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/examples" DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT dev)
# the pages that these lead to, lying to each other as here
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs" DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT dev
  FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN "mainpage.md" EXCLUDE PATTERN "man" EXCLUDE)
foreach(room advise apps base blacs-dyn calls control gridmap pblas python redist tools)
  install(FILES "${PROJECT_SOURCE_DIR}/${room}/README.md" DESTINATION "${CMAKE_INSTALL_DOCDIR}/${room}" COMPONENT dev)
endforeach()
file(GLOB_RECURSE studies CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/studies/README.md")
foreach(page IN LISTS studies)
  cmake_path(GET page PARENT_PATH folder)
  install(FILES "${PROJECT_SOURCE_DIR}/${page}" DESTINATION "${CMAKE_INSTALL_DOCDIR}/${folder}" COMPONENT dev)
endforeach()
if(PROJECT_IS_TOP_LEVEL)
  include(DyngridPackages)
endif()
