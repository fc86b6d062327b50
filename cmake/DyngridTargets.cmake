# SPDX-License-Identifier: BSD-3-Clause
# Flags that all our targets share. Third-party headers are SYSTEM, so that their warnings are not ours.
add_library(dyngrid_flags INTERFACE)
target_compile_features(dyngrid_flags INTERFACE cxx_std_17 c_std_99)
target_compile_options(dyngrid_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion>
  $<$<COMPILE_LANGUAGE:C>:-Wall -Wextra>
  $<$<COMPILE_LANGUAGE:Fortran>:-Wall>)
if(DYNGRID_WERROR)
  target_compile_options(dyngrid_flags INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:-Werror>)
endif()
# gcc looks for memory to use again when it has taken 200 MB or so, and finds little: a tenth of its time.
target_compile_options(dyngrid_flags INTERFACE
  "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:SHELL:--param ggc-min-heapsize=1000000>")
# MPI's C binding only: the old C++ one is switched off.
target_compile_definitions(dyngrid_flags INTERFACE OMPI_SKIP_MPICXX=1 MPICH_SKIP_MPICXX=1)
if(DYNGRID_SANITIZE)
  # gcc 12 takes what is inside an empty std::optional for uninitialized where a sanitizer looks on
  target_compile_options(dyngrid_flags INTERFACE
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-Wno-maybe-uninitialized>)
  target_compile_options(dyngrid_flags INTERFACE -fsanitize=${DYNGRID_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all)
  target_link_options(dyngrid_flags INTERFACE -fsanitize=${DYNGRID_SANITIZE})
endif()

# A compiler spends most of its time on headers: several sources of a target are compiled as one. Not with ccache, where
# a change of one file shall cost one file; there a forgotten include is found too. In targets of ours only, so that a
# project that has dyngrid in it keeps its own way.
set(default_unity ON)
if(CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache")
  set(default_unity OFF)
endif()
option(DYNGRID_UNITY "Compile several source files as one" ${default_unity})

# Whether targets share compiled headers. With DYNGRID_UNITY alone, for its reasons; and ccache keeps nothing that was
# compiled so. With gcc alone: where the flags differ after all it reads the headers as ever, and clang stops.
set(DYNGRID_SHARES_HEADERS OFF)
if(DYNGRID_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(DYNGRID_SHARES_HEADERS ON)
endif()

# dyngrid_unity(<target> <files at once>)
function(dyngrid_unity target size)
  if(DYNGRID_UNITY)
    # what a .cpp file keeps to itself is a header's there
    target_compile_options(${target} PRIVATE
      $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-Wno-subobject-linkage>)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${size})
  endif()
endfunction()

# What nearly every source includes is compiled once for targets that are compiled alike: by the first of them, for
# which dyngrid_headers(<target> <header>...) names it; others take dyngrid_headers_of(<target> <first>). gcc asks for
# the same -O, -fPIC and macros: where the first belongs to libdyngrid.so, others are compiled as it is.
function(dyngrid_headers target)
  if(DYNGRID_SHARES_HEADERS)
    set(headers "")
    foreach(header IN LISTS ARGN)
      list(APPEND headers "$<$<COMPILE_LANGUAGE:CXX>:<${header}$<ANGLE-R>>")
    endforeach()
    target_precompile_headers(${target} PRIVATE ${headers})
  endif()
endfunction()
function(dyngrid_headers_of target first)
  if(DYNGRID_SHARES_HEADERS)
    get_target_property(origin ${first} PRECOMPILE_HEADERS_REUSE_FROM)
    if(origin)
      set(first ${origin})
    endif()
    get_target_property(is_for_library ${first} POSITION_INDEPENDENT_CODE)
    if(is_for_library)
      target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:-fPIC;-fvisibility=hidden>")
    endif()
    target_compile_definitions(${target} PRIVATE $<TARGET_PROPERTY:fmt::fmt,INTERFACE_COMPILE_DEFINITIONS>)
    target_precompile_headers(${target} REUSE_FROM ${first})
    set_target_properties(${target} PROPERTIES PCH_WARN_INVALID OFF)
  endif()
endfunction()

# dyngrid_needs_no_speed(<target>): texts and decisions, which cost the most to compile with it. gcc takes a fifth less
# time for -Og than for -O1.
function(dyngrid_needs_no_speed target)
  target_compile_options(${target} PRIVATE $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-Og>)
endfunction()

# dyngrid_alone(<source>...): compiled by itself, in the folder of its target. So is all that defines C functions and
# may be linked into a program that has libdyngrid.so too: the linker takes a whole object of a static library, and what
# is in the program hides the same name of libdyngrid.so, its last message for one.
function(dyngrid_alone)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# dyngrid_module(<name> SOURCES ... LINK ... [HEADERS_OF first]): one of the three layers, a static library that goes
# whole into libdyngrid.so.
# Its public headers are <folder>/include; <folder>/src is visible to its own tests only (target <name>_private).
function(dyngrid_module name)
  cmake_parse_arguments(arg "" "HEADERS_OF" "SOURCES;LINK" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden
    C_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON Fortran_MODULE_DIRECTORY "${PROJECT_BINARY_DIR}/mod")
  dyngrid_unity(${name} 80)
  if(arg_HEADERS_OF)
    dyngrid_headers_of(${name} ${arg_HEADERS_OF})
  endif()
  target_include_directories(${name} PUBLIC "${CMAKE_CURRENT_SOURCE_DIR}/include"
    "${PROJECT_BINARY_DIR}/mod" PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}/src")
  target_link_libraries(${name} PUBLIC dyngrid_flags ${arg_LINK})
  add_library(${name}_private INTERFACE)
  target_include_directories(${name}_private INTERFACE "${CMAKE_CURRENT_SOURCE_DIR}/src")
  target_link_libraries(${name}_private INTERFACE ${name})
endfunction()
