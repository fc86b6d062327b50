// SPDX-License-Identifier: BSD-3-Clause
#include "plot.hpp"

#include <optional>

#include <fmt/format.h>

#include "base/file_descriptor.hpp"
#include "base/process.hpp"
#include "shared/failure.hpp"

namespace command {

std::ofstream open_file(const char* option, const std::string& path) {
  std::ofstream file(path);
  if (!file) throw Failure(fmt::format("{}: cannot write '{}'", option, path), 1);
  return file;
}

void plot(const std::string& path, std::size_t width, std::size_t height, const std::string& script) {
  const std::string end = path.size() > 4 ? path.substr(path.size() - 4) : "";
  if (end != ".svg" && end != ".png") throw Failure("--plot: the file's name must end in .svg or .png");
  std::string quoted = "'";
  for (const char c : path) quoted += c == '\'' ? std::string("''") : std::string(1, c);
  const std::string head =
      fmt::format("set terminal {} size {},{} {}\nset output {}'\n", end == ".svg" ? "svg" : "pngcairo", width, height,
                  end == ".svg" ? "background 'white'" : "", quoted);
  const base::FileDescriptor in = base::memory_file("gnuplot", head + script);
  const base::Outcome drawn = base::run({{"gnuplot"}, std::nullopt, in.get()}, -1);
  if (drawn.status != 0)
    throw Failure(fmt::format("--plot: gnuplot did not draw '{}' (status {}): {}", path, drawn.status, drawn.output),
                  1);
}

} // namespace command
