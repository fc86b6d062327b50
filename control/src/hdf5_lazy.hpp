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
#define H5_libinit_g (*control::in_hdf5<decltype(::H5_libinit_g)>("H5_libinit_g")) // of H5OPEN from 2.0 on
#define H5_libterm_g (*control::in_hdf5<decltype(::H5_libterm_g)>("H5_libterm_g"))
#define H5Aclose (*control::in_hdf5<decltype(::H5Aclose)>("H5Aclose"))
#define H5Acreate2 (*control::in_hdf5<decltype(::H5Acreate2)>("H5Acreate2"))
#define H5Aexists (*control::in_hdf5<decltype(::H5Aexists)>("H5Aexists"))
#define H5Aget_space (*control::in_hdf5<decltype(::H5Aget_space)>("H5Aget_space"))
#define H5Aget_type (*control::in_hdf5<decltype(::H5Aget_type)>("H5Aget_type"))
#define H5Aopen (*control::in_hdf5<decltype(::H5Aopen)>("H5Aopen"))
#define H5Aread (*control::in_hdf5<decltype(::H5Aread)>("H5Aread"))
#define H5Awrite (*control::in_hdf5<decltype(::H5Awrite)>("H5Awrite"))
#define H5Dclose (*control::in_hdf5<decltype(::H5Dclose)>("H5Dclose"))
#define H5Dcreate2 (*control::in_hdf5<decltype(::H5Dcreate2)>("H5Dcreate2"))
#define H5Dget_space (*control::in_hdf5<decltype(::H5Dget_space)>("H5Dget_space"))
#define H5Dopen2 (*control::in_hdf5<decltype(::H5Dopen2)>("H5Dopen2"))
#define H5Dread (*control::in_hdf5<decltype(::H5Dread)>("H5Dread"))
#define H5Dwrite (*control::in_hdf5<decltype(::H5Dwrite)>("H5Dwrite"))
#define H5Eget_auto2 (*control::in_hdf5<decltype(::H5Eget_auto2)>("H5Eget_auto2"))
#define H5Eset_auto2 (*control::in_hdf5<decltype(::H5Eset_auto2)>("H5Eset_auto2"))
#define H5Ewalk2 (*control::in_hdf5<decltype(::H5Ewalk2)>("H5Ewalk2"))
#define H5Fclose (*control::in_hdf5<decltype(::H5Fclose)>("H5Fclose"))
#define H5Fcreate (*control::in_hdf5<decltype(::H5Fcreate)>("H5Fcreate"))
#define H5Fopen (*control::in_hdf5<decltype(::H5Fopen)>("H5Fopen"))
#define H5Gclose (*control::in_hdf5<decltype(::H5Gclose)>("H5Gclose"))
#define H5Gcreate2 (*control::in_hdf5<decltype(::H5Gcreate2)>("H5Gcreate2"))
#define H5Gget_info (*control::in_hdf5<decltype(::H5Gget_info)>("H5Gget_info"))
#define H5Gopen2 (*control::in_hdf5<decltype(::H5Gopen2)>("H5Gopen2"))
#define H5Oclose (*control::in_hdf5<decltype(::H5Oclose)>("H5Oclose"))
#define H5Oopen_by_idx (*control::in_hdf5<decltype(::H5Oopen_by_idx)>("H5Oopen_by_idx"))
#define H5P_CLS_DATASET_CREATE_ID_g                                                                                    \
  (*control::in_hdf5<decltype(::H5P_CLS_DATASET_CREATE_ID_g)>("H5P_CLS_DATASET_CREATE_ID_g"))
#define H5P_CLS_FILE_ACCESS_ID_g (*control::in_hdf5<decltype(::H5P_CLS_FILE_ACCESS_ID_g)>("H5P_CLS_FILE_ACCESS_ID_g"))
#define H5Pclose (*control::in_hdf5<decltype(::H5Pclose)>("H5Pclose"))
#define H5Pcreate (*control::in_hdf5<decltype(::H5Pcreate)>("H5Pcreate"))
#define H5Pset_chunk (*control::in_hdf5<decltype(::H5Pset_chunk)>("H5Pset_chunk"))
#define H5Pset_fclose_degree (*control::in_hdf5<decltype(::H5Pset_fclose_degree)>("H5Pset_fclose_degree"))
#define H5Pset_fill_time (*control::in_hdf5<decltype(::H5Pset_fill_time)>("H5Pset_fill_time"))
#define H5Pset_fletcher32 (*control::in_hdf5<decltype(::H5Pset_fletcher32)>("H5Pset_fletcher32"))
#define H5Pset_libver_bounds (*control::in_hdf5<decltype(::H5Pset_libver_bounds)>("H5Pset_libver_bounds"))
#define H5Sclose (*control::in_hdf5<decltype(::H5Sclose)>("H5Sclose"))
#define H5Screate (*control::in_hdf5<decltype(::H5Screate)>("H5Screate"))
#define H5Screate_simple (*control::in_hdf5<decltype(::H5Screate_simple)>("H5Screate_simple"))
#define H5Sget_simple_extent_dims                                                                                      \
  (*control::in_hdf5<decltype(::H5Sget_simple_extent_dims)>("H5Sget_simple_extent_dims"))
#define H5Sget_simple_extent_ndims                                                                                     \
  (*control::in_hdf5<decltype(::H5Sget_simple_extent_ndims)>("H5Sget_simple_extent_ndims"))
#define H5Sget_simple_extent_npoints                                                                                   \
  (*control::in_hdf5<decltype(::H5Sget_simple_extent_npoints)>("H5Sget_simple_extent_npoints"))
#define H5Sget_simple_extent_type                                                                                      \
  (*control::in_hdf5<decltype(::H5Sget_simple_extent_type)>("H5Sget_simple_extent_type"))
#define H5Sselect_hyperslab (*control::in_hdf5<decltype(::H5Sselect_hyperslab)>("H5Sselect_hyperslab"))
#define H5T_C_S1_g (*control::in_hdf5<decltype(::H5T_C_S1_g)>("H5T_C_S1_g"))
#define H5T_NATIVE_DOUBLE_g (*control::in_hdf5<decltype(::H5T_NATIVE_DOUBLE_g)>("H5T_NATIVE_DOUBLE_g"))
#define H5T_NATIVE_FLOAT_g (*control::in_hdf5<decltype(::H5T_NATIVE_FLOAT_g)>("H5T_NATIVE_FLOAT_g"))
#define H5T_NATIVE_INT32_g (*control::in_hdf5<decltype(::H5T_NATIVE_INT32_g)>("H5T_NATIVE_INT32_g"))
#define H5T_NATIVE_INT64_g (*control::in_hdf5<decltype(::H5T_NATIVE_INT64_g)>("H5T_NATIVE_INT64_g"))
#define H5T_NATIVE_UINT8_g (*control::in_hdf5<decltype(::H5T_NATIVE_UINT8_g)>("H5T_NATIVE_UINT8_g"))
#define H5T_STD_I64LE_g (*control::in_hdf5<decltype(::H5T_STD_I64LE_g)>("H5T_STD_I64LE_g"))
#define H5T_STD_U8LE_g (*control::in_hdf5<decltype(::H5T_STD_U8LE_g)>("H5T_STD_U8LE_g"))
#define H5Tclose (*control::in_hdf5<decltype(::H5Tclose)>("H5Tclose"))
#define H5Tcopy (*control::in_hdf5<decltype(::H5Tcopy)>("H5Tcopy"))
#define H5Tcreate (*control::in_hdf5<decltype(::H5Tcreate)>("H5Tcreate"))
#define H5Tget_class (*control::in_hdf5<decltype(::H5Tget_class)>("H5Tget_class"))
#define H5Tget_size (*control::in_hdf5<decltype(::H5Tget_size)>("H5Tget_size"))
#define H5Tinsert (*control::in_hdf5<decltype(::H5Tinsert)>("H5Tinsert"))
#define H5Tis_variable_str (*control::in_hdf5<decltype(::H5Tis_variable_str)>("H5Tis_variable_str"))
#define H5Tset_cset (*control::in_hdf5<decltype(::H5Tset_cset)>("H5Tset_cset"))
#define H5Tset_size (*control::in_hdf5<decltype(::H5Tset_size)>("H5Tset_size"))
#define H5check_version (*control::in_hdf5<decltype(::H5check_version)>("H5check_version"))
#define H5get_libversion (*control::in_hdf5<decltype(::H5get_libversion)>("H5get_libversion"))
#define H5open (*control::in_hdf5<decltype(::H5open)>("H5open"))
