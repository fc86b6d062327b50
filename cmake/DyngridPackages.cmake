# SPDX-License-Identifier: BSD-3-Clause
# `cpack` in the build folder: libdyngrid<SOVERSION> (the library), libdyngrid-dev (headers, modules, package files),
# dyngrid-bin (the command), python3-dyngrid. With the preset `package` (scripts/package) the files go to where Debian
# has them, /usr/lib/<machine>.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME dyngrid)
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
# no address of ours is public yet
set(CPACK_PACKAGE_CONTACT "The dyngrid developers <developers@dyngrid.invalid>")
set(CPACK_PACKAGE_VENDOR dyngrid)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_DIRECTORY "${PROJECT_BINARY_DIR}/packages")
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL runtime dev bin python)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
  WORLD_EXECUTE)
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/packaging/debian.cmake")
set(CPACK_VERBATIM_VARIABLES ON)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION math)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${PROJECT_BINARY_DIR}/lib")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(what "A library for ScaLAPACK programs that grow and shrink their process grid\n\
while they run: new processes are started and join, others leave, and the\n\
distributed matrices are moved to the new grid.")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME libdyngrid${DYNGRID_SOVERSION})
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
# what links against the library depends on its package, and the loader's cache is made anew by a trigger
file(WRITE "${PROJECT_BINARY_DIR}/debian/shlibs"
  "libdyngrid ${DYNGRID_SOVERSION} ${CPACK_DEBIAN_RUNTIME_PACKAGE_NAME} (>= ${PROJECT_VERSION})\n")
file(WRITE "${PROJECT_BINARY_DIR}/debian/triggers" "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA "${PROJECT_BINARY_DIR}/debian/shlibs"
  "${PROJECT_BINARY_DIR}/debian/triggers")
if(DYNGRID_HDF5_FILE) # loaded when it is needed, which shlibdeps does not see
  file(REAL_PATH "${DYNGRID_HDF5_FILE}" hdf5_file)
  execute_process(COMMAND dpkg-query -S "${hdf5_file}" OUTPUT_VARIABLE hdf5_package ERROR_QUIET)
  if(hdf5_package MATCHES "^([^:,]+):")
    set(CPACK_DEBIAN_RUNTIME_PACKAGE_DEPENDS "${CMAKE_MATCH_1}")
  endif()
endif()
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "ScaLAPACK process grids that grow and shrink - library\n${what}")
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libdyngrid-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS
  "${CPACK_DEBIAN_RUNTIME_PACKAGE_NAME} (= ${PROJECT_VERSION}-1), ${DYNGRID_DEV_PACKAGES}")
set(CPACK_COMPONENT_DEV_DESCRIPTION "ScaLAPACK process grids that grow and shrink - headers\n${what}\n.\n\
This package has the headers for C and C++, the Fortran modules, and what\n\
pkg-config and CMake need.")
set(CPACK_DEBIAN_BIN_PACKAGE_NAME dyngrid-bin)
set(CPACK_DEBIAN_BIN_PACKAGE_DEPENDS
  "${CPACK_DEBIAN_RUNTIME_PACKAGE_NAME} (= ${PROJECT_VERSION}-1), ${DYNGRID_MPI_PACKAGE}")
set(CPACK_COMPONENT_BIN_DESCRIPTION "ScaLAPACK process grids that grow and shrink - command\n${what}\n.\n\
This package has the command dyngrid, which starts such programs, looks for\n\
what would keep them from growing, and answers questions about grids.")
set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-dyngrid)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS
  "python3 (>= 3.10), python3-numpy, ${CPACK_DEBIAN_RUNTIME_PACKAGE_NAME} (= ${PROJECT_VERSION}-1)")
set(CPACK_DEBIAN_PYTHON_PACKAGE_RECOMMENDS dyngrid-bin)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS python3-mpi4py)
set(CPACK_COMPONENT_PYTHON_DESCRIPTION "ScaLAPACK process grids that grow and shrink - Python\n${what}\n.\n\
This package has the Python module dyngrid: matrices as numpy arrays, and linear\n\
algebra on worker processes.")
include(CPack)
