// SPDX-License-Identifier: BSD-3-Clause
// Files that a command writes beside what it prints.
#pragma once

#include <cstddef>
#include <fstream>
#include <string>

namespace command {

/// @throws Failure, status 1, naming the option
std::ofstream open_file(const char* option, const std::string& path);
/// A picture by gnuplot; script: all but terminal and output. @throws Failure where the name does not end in .svg or
/// .png, or gnuplot fails
void plot(const std::string& path, std::size_t width, std::size_t height, const std::string& script);

} // namespace command
