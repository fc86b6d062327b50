// SPDX-License-Identifier: BSD-3-Clause
// HDF5, loaded when the first checkpoint is written or read. Linked, it brings some thirty libraries (curl, Kerberos,
// LDAP, ...) into every process that loads dyngrid, also into the children of a program that preloads it. They took
// half of the loading time.
#pragma once

#include <dlfcn.h>
#include <hdf5.h>

#include <string>

#include "base/status.hpp"

namespace control {

/// A function or a variable of HDF5. @throws Error{unsupported} when the library is not there.
template <class Symbol> Symbol* in_hdf5(const char* name) {
  static void* const library = [] {
    void* handle = dlopen(DYNGRID_HDF5_SONAME, RTLD_NOW | RTLD_LOCAL);
    return handle ? handle : dlopen(DYNGRID_HDF5_FILE, RTLD_NOW | RTLD_LOCAL);
  }();
  void* address = library ? dlsym(library, name) : nullptr;
  if (!address)
    throw base::Error(base::Status::unsupported,
                      std::string("blacs-dyn: checkpoints need HDF5's library " DYNGRID_HDF5_SONAME
                                  ", which cannot be loaded, or has no ") +
                          name);
  return reinterpret_cast<Symbol*>(address);
}

} // namespace control

// What is used of it, each name standing for what it is in the loaded library; also where HDF5's own macros lead to it.
#define DYNGRID_IN_HDF5(name) (*control::in_hdf5<decltype(::name)>(#name))
#define H5_libinit_g DYNGRID_IN_HDF5(H5_libinit_g) // of H5OPEN from 2.0 on
#define H5_libterm_g DYNGRID_IN_HDF5(H5_libterm_g)
#define H5Aclose DYNGRID_IN_HDF5(H5Aclose)
#define H5Acreate2 DYNGRID_IN_HDF5(H5Acreate2)
#define H5Aexists DYNGRID_IN_HDF5(H5Aexists)
#define H5Aget_space DYNGRID_IN_HDF5(H5Aget_space)
#define H5Aget_type DYNGRID_IN_HDF5(H5Aget_type)
#define H5Aopen DYNGRID_IN_HDF5(H5Aopen)
#define H5Aread DYNGRID_IN_HDF5(H5Aread)
#define H5Awrite DYNGRID_IN_HDF5(H5Awrite)
#define H5Dclose DYNGRID_IN_HDF5(H5Dclose)
#define H5Dcreate2 DYNGRID_IN_HDF5(H5Dcreate2)
#define H5Dflush DYNGRID_IN_HDF5(H5Dflush)
#define H5Dget_space DYNGRID_IN_HDF5(H5Dget_space)
#define H5Dopen2 DYNGRID_IN_HDF5(H5Dopen2)
#define H5Dread DYNGRID_IN_HDF5(H5Dread)
#define H5Dwrite DYNGRID_IN_HDF5(H5Dwrite)
#define H5Eget_auto2 DYNGRID_IN_HDF5(H5Eget_auto2)
#define H5Eset_auto2 DYNGRID_IN_HDF5(H5Eset_auto2)
#define H5Ewalk2 DYNGRID_IN_HDF5(H5Ewalk2)
#define H5Fclose DYNGRID_IN_HDF5(H5Fclose)
#define H5Fcreate DYNGRID_IN_HDF5(H5Fcreate)
#define H5Fflush DYNGRID_IN_HDF5(H5Fflush)
#define H5Fget_vfd_handle DYNGRID_IN_HDF5(H5Fget_vfd_handle)
#define H5Fopen DYNGRID_IN_HDF5(H5Fopen)
#define H5Gclose DYNGRID_IN_HDF5(H5Gclose)
#define H5Gcreate2 DYNGRID_IN_HDF5(H5Gcreate2)
#define H5Gget_info DYNGRID_IN_HDF5(H5Gget_info)
#define H5Gopen2 DYNGRID_IN_HDF5(H5Gopen2)
#define H5Oclose DYNGRID_IN_HDF5(H5Oclose)
#define H5Oopen_by_idx DYNGRID_IN_HDF5(H5Oopen_by_idx)
#define H5P_CLS_DATASET_CREATE_ID_g DYNGRID_IN_HDF5(H5P_CLS_DATASET_CREATE_ID_g)
#define H5P_CLS_FILE_ACCESS_ID_g DYNGRID_IN_HDF5(H5P_CLS_FILE_ACCESS_ID_g)
#define H5Pclose DYNGRID_IN_HDF5(H5Pclose)
#define H5Pcreate DYNGRID_IN_HDF5(H5Pcreate)
#define H5Pset_chunk DYNGRID_IN_HDF5(H5Pset_chunk)
#define H5Pset_fclose_degree DYNGRID_IN_HDF5(H5Pset_fclose_degree)
#define H5Pset_file_locking DYNGRID_IN_HDF5(H5Pset_file_locking)
#define H5Pset_fill_time DYNGRID_IN_HDF5(H5Pset_fill_time)
#define H5Pset_fletcher32 DYNGRID_IN_HDF5(H5Pset_fletcher32)
#define H5Pset_libver_bounds DYNGRID_IN_HDF5(H5Pset_libver_bounds)
#define H5Sclose DYNGRID_IN_HDF5(H5Sclose)
#define H5Screate DYNGRID_IN_HDF5(H5Screate)
#define H5Screate_simple DYNGRID_IN_HDF5(H5Screate_simple)
#define H5Sget_simple_extent_dims DYNGRID_IN_HDF5(H5Sget_simple_extent_dims)
#define H5Sget_simple_extent_ndims DYNGRID_IN_HDF5(H5Sget_simple_extent_ndims)
#define H5Sget_simple_extent_npoints DYNGRID_IN_HDF5(H5Sget_simple_extent_npoints)
#define H5Sget_simple_extent_type DYNGRID_IN_HDF5(H5Sget_simple_extent_type)
#define H5Sselect_hyperslab DYNGRID_IN_HDF5(H5Sselect_hyperslab)
#define H5T_C_S1_g DYNGRID_IN_HDF5(H5T_C_S1_g)
#define H5T_NATIVE_DOUBLE_g DYNGRID_IN_HDF5(H5T_NATIVE_DOUBLE_g)
#define H5T_NATIVE_FLOAT_g DYNGRID_IN_HDF5(H5T_NATIVE_FLOAT_g)
#define H5T_NATIVE_INT32_g DYNGRID_IN_HDF5(H5T_NATIVE_INT32_g)
#define H5T_NATIVE_INT64_g DYNGRID_IN_HDF5(H5T_NATIVE_INT64_g)
#define H5T_NATIVE_UINT8_g DYNGRID_IN_HDF5(H5T_NATIVE_UINT8_g)
#define H5T_STD_I64LE_g DYNGRID_IN_HDF5(H5T_STD_I64LE_g)
#define H5T_STD_U8LE_g DYNGRID_IN_HDF5(H5T_STD_U8LE_g)
#define H5Tclose DYNGRID_IN_HDF5(H5Tclose)
#define H5Tcopy DYNGRID_IN_HDF5(H5Tcopy)
#define H5Tcreate DYNGRID_IN_HDF5(H5Tcreate)
#define H5Tget_class DYNGRID_IN_HDF5(H5Tget_class)
#define H5Tget_size DYNGRID_IN_HDF5(H5Tget_size)
#define H5Tinsert DYNGRID_IN_HDF5(H5Tinsert)
#define H5Tis_variable_str DYNGRID_IN_HDF5(H5Tis_variable_str)
#define H5Tset_cset DYNGRID_IN_HDF5(H5Tset_cset)
#define H5Tset_size DYNGRID_IN_HDF5(H5Tset_size)
#define H5check_version DYNGRID_IN_HDF5(H5check_version)
#define H5get_libversion DYNGRID_IN_HDF5(H5get_libversion)
#define H5open DYNGRID_IN_HDF5(H5open)
