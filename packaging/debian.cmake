# SPDX-License-Identifier: BSD-3-Clause
# Run by cpack on each component's files before they become a package: what Debian wants and an ordinary installation
# does not.
set(source "${CMAKE_CURRENT_LIST_DIR}/..")
foreach(component runtime dev bin python)
  string(TOUPPER "${component}" upper)
  set(root "${CPACK_TEMPORARY_INSTALL_DIRECTORY}/${component}/usr")
  if(NOT IS_DIRECTORY "${root}")
    continue()
  endif()
  set(package "${CPACK_DEBIAN_${upper}_PACKAGE_NAME}")

  # the library is where the loader looks
  file(GLOB programs "${root}/bin/*" "${root}/libexec/dyngrid/*")
  foreach(program IN LISTS programs)
    file(RPATH_REMOVE FILE "${program}")
  endforeach()

  # copyright and changelog of every package
  file(READ "${source}/LICENSE" license)
  string(REGEX REPLACE "\n\n" "\n.\n" license "${license}")
  string(REGEX REPLACE "\n" "\n " license "${license}")
  string(STRIP "${license}" license)
  file(WRITE "${root}/share/doc/${package}/copyright"
    "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\
Upstream-Name: dyngrid\n\nFiles: *\nCopyright: 2026 The dyngrid developers\nLicense: BSD-3-Clause\n ${license}\n")
  file(WRITE "${root}/share/doc/${package}/changelog.Debian"
    "dyngrid (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium\n\n\
  * See CHANGELOG.md.\n\n -- ${CPACK_PACKAGE_CONTACT}  Sat, 28 Nov 2026 12:00:00 +0000\n")
  file(GLOB_RECURSE pages "${root}/share/man/*" "${root}/share/doc/${package}/changelog.Debian")
  foreach(page IN LISTS pages)
    execute_process(COMMAND gzip -9nf "${page}" COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
  file(GLOB_RECURSE all "${root}/share/*")
  file(CHMOD ${all} PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
endforeach()
