// SPDX-License-Identifier: BSD-3-Clause
// Contents of the file of a program or a shared library, and the file of a routine of this process.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace base {

/// The dynamic loader that a program names; empty for a static program, and for a file that is no 64-bit ELF file.
std::string loader_of(const std::string& file);

/// Whether it is a 64-bit ELF file: no script, and no program of another architecture.
bool is_elf(const std::string& file);

/// Which of these routines or variables the file has in itself: in its whole table of symbols, or, where that was
/// stripped, among those that it exports.
std::set<std::string> defined_in(const std::string& file, const std::vector<std::string>& names);

/// The program and the shared libraries that it needs, in the order in which symbols are looked for. What cannot be
/// found is not in it. Empty: the loader does not say.
std::vector<std::string> files_of_program(const std::string& file);

/// The file in which this address lies, in this process; empty when it is in none.
std::string file_of(const void* address);

/// The file whose routine of that name is called where this process calls it by its name; empty when none is visible.
std::string file_that_answers(const char* name);

} // namespace base
