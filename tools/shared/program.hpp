// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace tools {

/// Why these words are no program with its arguments that mpirun would start as such; empty when they are. mpirun's own
/// options stand before the program's name. A ':' as a word begins the next program, with options again.
inline std::string trouble_with_program(const std::vector<std::string>& words) {
  if (words.empty() || words[0].empty()) return "no program is given; write it after --";
  if (words[0][0] == '-')
    return "'" + words[0] +
           "' is no program: it begins with '-', as options of mpirun do (./ before it, if it is a file's name)";
  for (const std::string& word : words)
    if (word == ":")
      return "':' as a word of its own cannot be an argument: mpirun takes what follows for another program";
  return "";
}

} // namespace tools
