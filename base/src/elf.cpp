// SPDX-License-Identifier: BSD-3-Clause
#include "base/elf.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <sstream>

#include "base/process.hpp"
#include "base/status.hpp"

namespace base {
namespace {

/// A 64-bit ELF file that is read in parts: programs with all of ScaLAPACK in them are large.
class File {
public:
  explicit File(const std::string& path) : in_(path, std::ios::binary) {
    is_elf_ = read(0, &header_, sizeof header_) && std::memcmp(header_.e_ident, ELFMAG, SELFMAG) == 0 &&
              header_.e_ident[EI_CLASS] == ELFCLASS64;
  }
  bool is_elf() const { return is_elf_; }

  std::vector<Elf64_Phdr> segments() { return table<Elf64_Phdr>(header_.e_phoff, header_.e_phnum); }
  std::vector<Elf64_Shdr> sections() { return table<Elf64_Shdr>(header_.e_shoff, header_.e_shnum); }
  template <class Entry> std::vector<Entry> table(std::uint64_t offset, std::uint64_t count) {
    constexpr std::uint64_t most = std::uint64_t{1} << 28; // of a file that says otherwise nothing is believed
    if (!is_elf_ || count > most / sizeof(Entry)) return {};
    std::vector<Entry> entries(count);
    if (!read(offset, entries.data(), count * sizeof(Entry))) return {};
    return entries;
  }

private:
  bool read(std::uint64_t offset, void* to, std::uint64_t bytes) {
    in_.clear();
    return in_.seekg(static_cast<std::streamoff>(offset)) &&
           in_.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes));
  }

  std::ifstream in_;
  Elf64_Ehdr header_{};
  bool is_elf_ = false;
};

} // namespace

bool is_elf(const std::string& file) {
  return File(file).is_elf();
}

std::string loader_of(const std::string& path) {
  File file(path);
  for (const Elf64_Phdr& segment : file.segments()) {
    if (segment.p_type != PT_INTERP) continue;
    std::vector<char> loader = file.table<char>(segment.p_offset, segment.p_filesz);
    loader.push_back('\0');
    return loader.data();
  }
  return {};
}

std::set<std::string> defined_in(const std::string& path, const std::vector<std::string>& names) {
  File file(path);
  const std::vector<Elf64_Shdr> sections = file.sections();
  std::set<std::string> found;
  for (const auto kind : {SHT_SYMTAB, SHT_DYNSYM}) {
    for (const Elf64_Shdr& section : sections) {
      if (section.sh_type != static_cast<Elf64_Word>(kind) || section.sh_link >= sections.size()) continue;
      const Elf64_Shdr& texts = sections[section.sh_link];
      std::vector<char> text = file.table<char>(texts.sh_offset, texts.sh_size);
      text.push_back('\0');
      for (const Elf64_Sym& symbol : file.table<Elf64_Sym>(section.sh_offset, section.sh_size / sizeof(Elf64_Sym))) {
        if (symbol.st_shndx == SHN_UNDEF || symbol.st_name >= text.size()) continue;
        const auto name = std::find(names.begin(), names.end(), text.data() + symbol.st_name);
        if (name != names.end()) found.insert(*name);
      }
    }
  }
  return found;
}

std::vector<std::string> files_of_program(const std::string& file) {
  const std::string loader = loader_of(file);
  if (loader.empty()) return {};
  std::vector<std::string> files{file};
  try { // NAME => PATH (ADDRESS), or PATH (ADDRESS)
    std::istringstream lines(run({{loader, "--list", file}}, 30).output);
    for (std::string line; std::getline(lines, line);) {
      const std::size_t arrow = line.find("=> ");
      std::istringstream words(arrow == std::string::npos ? line : line.substr(arrow + 3));
      std::string path, address;
      if (words >> path >> address && path[0] == '/' && address.compare(0, 3, "(0x") == 0) files.push_back(path);
    }
  } catch (const Error&) { // it does not answer
    return {};
  }
  return files;
}

std::string file_of(const void* address) {
  Dl_info info{};
  link_map* object = nullptr;
  if (address == nullptr || dladdr1(address, &info, reinterpret_cast<void**>(&object), RTLD_DL_LINKMAP) == 0 || !object)
    return {};
  if (object->l_name != nullptr && object->l_name[0] != '\0') return object->l_name;
  return own_program();
}

std::string file_that_answers(const char* name) {
  return file_of(dlsym(RTLD_DEFAULT, name));
}

} // namespace base
