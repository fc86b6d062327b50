// SPDX-License-Identifier: BSD-3-Clause
// The manual pages, made from what there is already: commands and their options from the command line's own description
// (so that --help and dyngrid-run(1) cannot differ), routines from the comments of the C headers and, below each
// synopsis, the statements of the Fortran modules, the environment from the list of `dyngrid env`.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <sstream>

#include "command.hpp"
#include "control/variables.hpp"
#include "text.hpp"

namespace command {
namespace {

struct Options {
  std::string folder, overview;
  std::vector<std::string> headers, modules, guides;
};

/// Text as troff wants it: every line begins with no control character, hyphens of options stay hyphens.
std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n'))
      out += std::string("\\&") + c;
    else
      out += c;
  }
  return out;
}

std::string first_lower(std::string text) {
  // "The processes" -> "the processes", but "DYNGRID_..." and "BLACS" stay
  if (text.size() > 1 && std::islower(static_cast<unsigned char>(text[1])))
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

std::string heading(const std::string& name, int section) {
  return fmt::format(".\\\" SPDX-License-Identifier: BSD-3-Clause\n.TH \"{}\" {} \"\" \"dyngrid {}\" \"dyngrid\"\n",
                     upper(name), section, DYNGRID_VERSION);
}

std::string see_also(const std::vector<std::string>& pages) {
  std::string text = ".SH SEE ALSO\n";
  for (std::size_t k = 0; k < pages.size(); ++k) {
    const std::size_t open = pages[k].find('(');
    text += fmt::format(".BR {} {}{}\n", roff(pages[k].substr(0, open)), pages[k].substr(open),
                        k + 1 < pages.size() ? "," : "");
  }
  return text;
}

void write(const std::string& folder, const std::string& name, int section, const std::string& text) {
  const std::filesystem::path directory = std::filesystem::path(folder) / fmt::format("man{}", section);
  std::filesystem::create_directories(directory);
  std::ofstream file(directory / fmt::format("{}.{}", name, section));
  if (!(file << text)) throw Failure(fmt::format("man: {} cannot be written", (directory / name).string()), 1);
}

// ---- commands ----

/// `words`: as it is typed after dyngrid, "run" or "slurm submit".
std::string command_page(const CommandLine& root, const CommandLine& app, const std::string& words) {
  std::string name = "dyngrid-" + words;
  std::replace(name.begin(), name.end(), ' ', '-');
  std::string page = heading(name, 1);
  page += fmt::format(".SH NAME\n{} \\- {}\n.SH SYNOPSIS\n.B dyngrid {}\n", roff(name),
                      roff(first_lower(app.description())), roff(words));
  std::string options, required;
  for (const base::OptionText& o : app.options()) {
    const bool is_positional = o.names.empty();
    const std::string shown =
        is_positional ? (o.type.empty() ? o.name : o.type) : fmt::format("{}", fmt::join(o.names, ","));
    if (is_positional)
      required += fmt::format(".I {}\n", roff(shown));
    else if (o.is_required)
      required += fmt::format(".B {}\n.I {}\n", roff(o.name), roff(o.type));
    options +=
        fmt::format(".TP\n.B {}{}\n{}{}\n", roff(shown), is_positional || o.type.empty() ? "" : " " + roff(o.type),
                    roff(o.help.empty() ? "see the description" : o.help),
                    o.default_value.empty() ? "" : roff(fmt::format(" (default: {})", o.default_value)));
  }
  std::vector<std::string> inner;
  std::string commands;
  for (const auto& below : app.commands()) {
    if (below->group().empty()) continue;
    inner.push_back(fmt::format("{}-{}(1)", name, below->name()));
    commands += fmt::format(".TP\n.BR {} (1)\n{}\n", roff(fmt::format("{}-{}", name, below->name())),
                            roff(below->description()));
  }
  if (!commands.empty()) page += ".I command\n";
  page += ".RI [ options ]\n" + required + (commands.empty() ? "" : ".SH COMMANDS\n" + commands) + ".SH OPTIONS\n" +
          options;
  if (const std::string footer = app.footer(); !footer.empty()) page += ".SH NOTES\n.nf\n" + roff(footer) + "\n.fi\n";
  page += ".SH EXIT STATUS\n0 when all went well, 2 for arguments that cannot be, 1 for everything else; one line on "
          "standard error then.\n";
  std::vector<std::string> others;
  for (const auto& other : root.commands())
    if (other.get() != &app && !other->group().empty()) others.push_back(fmt::format("dyngrid-{}(1)", other->name()));
  std::vector<std::string> pages{"dyngrid(1)"};
  pages.insert(pages.end(), inner.begin(), inner.end());
  pages.insert(pages.end(), others.begin(), others.end());
  pages.emplace_back("dyngrid(7)");
  return page + see_also(pages);
}

std::string root_page(const CommandLine& root) {
  std::string page = heading("dyngrid", 1);
  page += ".SH NAME\ndyngrid \\- " + roff(first_lower(root.description())) +
          "\n.SH SYNOPSIS\n.B dyngrid\n.I command\n.RI [ options ]\n.SH COMMANDS\n";
  std::vector<std::string> pages;
  std::string group;
  for (const auto& app : root.commands()) {
    if (app->group().empty()) continue;
    if (app->group() != group) page += ".SS " + (group = app->group()) + "\n";
    page += fmt::format(".TP\n.BR dyngrid\\-{} (1)\n{}\n", roff(app->name()), roff(app->description()));
    pages.push_back(fmt::format("dyngrid-{}(1)", app->name()));
  }
  page += ".SH NOTES\n" + roff(root.footer()) + "\n";
  pages.emplace_back("dyngrid(7)");
  return page + see_also(pages);
}

// ---- overview ----

std::string overview_page(const std::string& file_name) {
  std::ifstream file(file_name);
  if (!file) throw Failure(fmt::format("man: {} cannot be read", file_name), 1);
  std::string text((std::istreambuf_iterator<char>(file)), {}), environment;
  for (const control::Variable& v : control::variables())
    if (!v.is_internal)
      environment += fmt::format(".TP\n.BR {} = \\fI{}\\fP\n{}. Default: {}.\n", roff(v.name), roff(v.value),
                                 roff(v.meaning), roff(v.fallback));
  const std::string marks[2] = {"@ENVIRONMENT@\n", "@VERSION@"};
  const std::string values[2] = {environment, DYNGRID_VERSION};
  for (int k = 0; k < 2; ++k) {
    const std::size_t at = text.find(marks[k]);
    if (at == std::string::npos) throw Failure(fmt::format("man: {} has no {}", file_name, marks[k]), 1);
    text.replace(at, marks[k].size(), values[k]);
  }
  return text;
}

// ---- guides: pages of docs/ ----

/// As it stands: where code is shown every character is itself.
std::string verbatim(const std::string& text) {
  std::string out = !text.empty() && text[0] == '.' ? "\\&" : "";
  for (const char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if (c == '\'')
      out += "\\(aq";
    else if (c == '^')
      out += "\\(ha";
    else if (c == '~')
      out += "\\(ti";
    else
      out += c;
  }
  return out;
}

/// A line of text: `code` and **this** in bold, *this* in italics, of [words](link) the words.
std::string with_fonts(const std::string& text) {
  std::string out;
  bool is_code = false, is_bold = false, is_italic = false;
  char font = 'R';
  std::size_t end_of_words = std::string::npos;
  for (std::size_t k = 0; k < text.size(); ++k) {
    if (text[k] == '`')
      is_code = !is_code;
    else if (!is_code && text.compare(k, 2, "**") == 0)
      is_bold = !is_bold, ++k;
    else if (!is_code && text[k] == '*')
      is_italic = !is_italic;
    else if (!is_code && text[k] == '[' && text.find("](", k) != std::string::npos)
      end_of_words = text.find("](", k);
    else if (k == end_of_words)
      k = std::min(text.find(')', k), text.size() - 1);
    else {
      const char wanted = is_code || is_bold ? 'B' : is_italic ? 'I' : 'R';
      if (wanted != font) out += fmt::format("\\f{}", wanted);
      font = wanted;
      out += k == 0 || is_code ? verbatim(text.substr(k, 1)) : text[k] == '-' ? "\\-" : text.substr(k, 1);
    }
  }
  return out + (font == 'R' ? "" : "\\fR");
}

/// Section 7 of what of Markdown these pages use: headings, paragraphs, lists, tables of two columns, blocks of code.
std::string guide_page(const std::string& file_name, const std::string& name) {
  std::ifstream file(file_name);
  if (!file) throw Failure(fmt::format("man: {} cannot be read", file_name), 1);
  std::string page = heading(name, 7), line;
  bool is_fenced = false, is_indented = false, is_new = true; // is_new: a paragraph begins with the next line
  while (std::getline(file, line)) {
    const bool is_fence = line.compare(0, 3, "```") == 0, is_code = line.compare(0, 4, "    ") == 0;
    if (is_fenced && !is_fence) {
      page += verbatim(line) + "\n";
      continue;
    }
    if (is_indented != (is_code && (is_indented || is_new))) {
      is_indented = !is_indented;
      page += is_indented ? ".PP\n.RS 4\n.nf\n" : ".fi\n.RE\n";
    }
    if (is_indented) {
      page += verbatim(line.substr(4)) + "\n";
    } else if (is_fence) {
      is_fenced = !is_fenced;
      page += is_fenced ? ".PP\n.RS 4\n.nf\n" : ".fi\n.RE\n";
    } else if (line.compare(0, 2, "# ") == 0) {
      page += fmt::format(".SH NAME\n{} \\- {}\n.SH DESCRIPTION\n", roff(name), roff(first_lower(line.substr(2))));
    } else if (line.compare(0, 3, "## ") == 0) {
      page += fmt::format(".SH \"{}\"\n", with_fonts(line.substr(3)));
    } else if (line.compare(0, 2, "|-") == 0) {
      continue;
    } else if (line.compare(0, 2, "| ") == 0) {
      const std::size_t bar = line.find(" | ", 2), end = line.rfind(" |");
      if (bar == std::string::npos || bar >= end)
        throw Failure(fmt::format("man: {}: not two columns: {}", file_name, line), 1);
      page += fmt::format(".TP\n{}\n{}\n", with_fonts(line.substr(2, bar - 2)),
                          with_fonts(line.substr(bar + 3, end - bar - 3)));
    } else if (line.compare(0, 2, "- ") == 0) {
      page += ".IP \\(bu 2\n" + with_fonts(line.substr(2)) + "\n";
    } else if (!line.empty()) {
      const std::size_t begin = line.find_first_not_of(' ');
      page += (is_new ? ".PP\n" : "") + with_fonts(line.substr(begin)) + "\n";
    }
    is_new = line.empty();
  }
  return page + see_also({"dyngrid(7)", "dyngrid_resize_point(3)", "dyngrid_matrix_create(3)", "dyngrid_share(3)",
                          "dyngrid_on_change(3)", "dyngrid-run(1)"});
}

// ---- routines ----

/// A routine, or a type, of a header with the comment before it.
struct Declaration {
  std::string name; ///< empty: not a routine
  std::string text, comment;
};
struct Group {
  std::string title;
  std::vector<Declaration> declarations;
};

std::string without_margin(const std::string& comment) { // the text between /* and */
  std::string text;
  std::istringstream lines(comment);
  for (std::string line; std::getline(lines, line);) {
    std::size_t at = line.find_first_not_of(" \t");
    if (at == std::string::npos) continue;
    if (line.compare(at, 2, "/*") == 0)
      at += 2;
    else if (line[at] == '*' && line.compare(at, 2, "*/") != 0)
      at += 1;
    std::string words = line.substr(at);
    if (const std::size_t end = words.find("*/"); end != std::string::npos) words.resize(end);
    const std::size_t begin = words.find_first_not_of(" \t"), last = words.find_last_not_of(" \t");
    if (begin != std::string::npos) text += (text.empty() ? "" : "\n") + words.substr(begin, last - begin + 1);
  }
  return text;
}

std::vector<Group> read_header(const std::string& file_name) {
  std::ifstream file(file_name);
  if (!file) throw Failure(fmt::format("man: {} cannot be read", file_name), 1);
  std::vector<Group> groups;
  std::string comment;
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, 7, "/* ----") == 0) {
      std::string title = line.substr(8);
      title.resize(title.find(" ----"));
      groups.push_back({title, {}});
      comment.clear();
    } else if (line.compare(0, 2, "/*") == 0) {
      comment = line;
      while (comment.find("*/") == std::string::npos && std::getline(file, line)) comment += "\n" + line;
    } else if (!groups.empty() && (line.compare(0, 11, "DYNGRID_API") == 0 || line.compare(0, 7, "typedef") == 0 ||
                                   line.compare(0, 4, "enum") == 0)) {
      const bool is_routine = line[0] == 'D';
      std::string text = line;
      const auto is_over = [&] { // at a ; outside braces
        int depth = 0;
        for (const char c : text) {
          depth += c == '{' ? 1 : c == '}' ? -1 : 0;
          if (c == ';' && depth == 0) return true;
        }
        return false;
      };
      while (!is_over() && std::getline(file, line)) text += "\n" + line;
      Declaration d{"", text, without_margin(comment)};
      if (is_routine) {
        d.text = text.substr(12, text.find(';') - 11);
        const std::size_t open = d.text.find('(');
        std::size_t begin = open;
        while (begin > 0 && (std::isalnum(static_cast<unsigned char>(d.text[begin - 1])) || d.text[begin - 1] == '_'))
          --begin;
        d.name = d.text.substr(begin, open - begin);
        if (const std::size_t remark = text.find("/*"); remark != std::string::npos) {
          const std::string said = without_margin(text.substr(remark));
          d.comment += (d.comment.empty() ? "" : "\n") + said;
        }
      }
      groups.back().declarations.push_back(d);
      if (!is_routine) comment.clear(); // what is said of a type is not said of the routine after it
    }
  }
  return groups;
}

// ---- the same in Fortran ----

/// One subroutine or function as its module declares it.
struct Procedure {
  std::string head;                      ///< "call f(a, b)", "integer function f(a)"
  std::vector<std::string> declarations; ///< of its arguments and its result
};
using Procedures = std::map<std::string, std::vector<Procedure>>; ///< by name; a generic one has several

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::string trimmed(const std::string& text) {
  const auto begin = text.find_first_not_of(" \t"), end = text.find_last_not_of(" \t");
  return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

/// Split at the commas outside parentheses.
std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> list;
  std::string one;
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == ',' && depth == 0) {
      list.push_back(trimmed(one));
      one.clear();
    } else {
      one += c;
    }
  }
  if (!trimmed(one).empty()) list.push_back(trimmed(one));
  return list;
}

std::string join_list(const std::vector<std::string>& list) {
  std::string text;
  for (const std::string& one : list) text += (text.empty() ? "" : ", ") + one;
  return text;
}

/// Whole statements, comments and continuations gone. Our modules have no ! in a string.
std::vector<std::string> fortran_statements(const std::string& file_name) {
  std::ifstream file(file_name);
  if (!file) throw Failure(fmt::format("man: {} cannot be read", file_name), 1);
  std::vector<std::string> statements;
  bool goes_on = false;
  for (std::string line; std::getline(file, line);) {
    line = trimmed(line.substr(0, line.find('!')));
    if (line.empty()) continue;
    const bool more = line.back() == '&';
    if (more) line = trimmed(line.substr(0, line.size() - 1)) + " ";
    if (goes_on && line[0] == '&') line = trimmed(line.substr(1));
    if (goes_on)
      statements.back() += line;
    else
      statements.push_back(line);
    goes_on = more;
  }
  return statements;
}

/// What the modules make public. What C and Fortran call differently is under the name of Fortran.
Procedures read_modules(const std::vector<std::string>& files) {
  Procedures procedures;
  std::map<std::string, std::vector<std::string>> generics;
  std::set<std::string> is_public;
  for (const std::string& file : files) {
    std::string generic, name;
    std::set<std::string> wanted; ///< names of arguments and of the result of the procedure that is read
    for (const std::string& statement : fortran_statements(file)) {
      const std::string low = lower(statement);
      const auto begins = [&](const char* word) { return low.compare(0, std::string(word).size(), word) == 0; };
      if (begins("public ::"))
        for (const std::string& one : split_list(low.substr(9))) is_public.insert(one);
      else if (begins("interface"))
        generic = trimmed(low.substr(9));
      else if (begins("end interface"))
        generic.clear();
      else if (begins("module procedure") && !generic.empty())
        for (const std::string& one : split_list(low.substr(16))) generics[generic].push_back(one);
      else if (begins("end"))
        wanted.clear(), name.clear();
      else if (const auto at = low.find("function "), sub = low.find("subroutine ");
               name.empty() && low.find('(') != std::string::npos && low.find("::") == std::string::npos &&
               (sub == 0 || at == 0 || (at != std::string::npos && low[at - 1] == ' '))) {
        const std::size_t begin = sub == 0 ? 11 : at + 9, open = statement.find('(', begin),
                          close = statement.find(')', open);
        name = trimmed(low.substr(begin, open - begin));
        std::string arguments = statement.substr(open + 1, close - open - 1), result = name;
        for (const std::string& one : split_list(lower(arguments))) wanted.insert(one);
        if (const auto r = low.find("result(", close); r != std::string::npos)
          result = low.substr(r + 7, low.find(')', r) - r - 7);
        if (sub != 0) wanted.insert(result);
        const std::string list = join_list(split_list(arguments));
        procedures[name].push_back({sub == 0 ? fmt::format("call {}({})", name, list)
                                             : fmt::format("{}function {}({}){}", statement.substr(0, at), name, list,
                                                           result == name ? "" : " result(" + result + ")"),
                                    {}});
      } else if (const auto colons = statement.find("::"); !name.empty() && (colons != std::string::npos)) {
        std::vector<std::string> here;
        for (const std::string& one : split_list(statement.substr(colons + 2)))
          if (wanted.count(lower(trimmed(one.substr(0, one.find('('))))) > 0) here.push_back(one);
        if (!here.empty())
          procedures[name].back().declarations.push_back(
              fmt::format("{} :: {}", trimmed(statement.substr(0, colons)), join_list(here)));
      }
    }
  }
  for (const auto& [generic, specifics] : generics)
    for (const std::string& one : specifics)
      for (Procedure p : procedures[one]) {
        p.head.replace(p.head.find(one + "("), one.size(), generic);
        procedures[generic].push_back(p);
      }
  for (auto it = procedures.begin(); it != procedures.end();)
    it = is_public.count(it->first) == 0 ? procedures.erase(it) : std::next(it);
  return procedures;
}

/// Broken after a comma where it is long, as Fortran goes on.
std::string folded(const std::string& text, const std::string& margin) {
  constexpr std::size_t most = 92;
  std::string out, line = margin;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (line.size() + word.size() + 3 > most && line.size() > margin.size() && line[line.size() - 2] == ',') {
      out += line + "&\n";
      line = margin + "    ";
    }
    line += word + " ";
  }
  line.pop_back();
  return out + line + "\n";
}

/// Alternatives with the same arguments in one: "integer, intent(in) :: m" and below it "or integer(int64), intent(in)
/// :: m".
std::string fortran_synopsis(const std::vector<Procedure>& procedures) {
  std::string text;
  std::set<std::string> done;
  for (const Procedure& first : procedures) {
    if (!done.insert(first.head).second) continue;
    text += folded(first.head, "");
    for (std::size_t k = 0; k < first.declarations.size(); ++k) {
      std::set<std::string> told{first.declarations[k]};
      text += folded(first.declarations[k], "    ");
      for (const Procedure& other : procedures)
        if (other.head == first.head && k < other.declarations.size() && told.insert(other.declarations[k]).second)
          text += folded("or " + other.declarations[k], "      ");
    }
  }
  return text;
}

void write_routines(const Options& o) {
  const Procedures modules = read_modules(o.modules);
  std::set<std::string> done;
  for (const std::string& header : o.headers)
    for (const Group& group : read_header(header)) {
      std::string names, synopsis, fortran, description, page_name;
      std::vector<std::string> others;
      const std::string* said = nullptr;
      for (const Declaration& d : group.declarations) {
        if (d.name.empty()) {
          synopsis += roff(d.text) + "\n\n";
          if (const auto star = d.text.find("(*"); star != std::string::npos) // what a routine takes as an argument
            if (const auto it = modules.find(d.text.substr(star + 2, d.text.find(')', star) - star - 2));
                it != modules.end())
              fortran += roff(fortran_synopsis(it->second));
          continue;
        }
        if (!done.insert(d.name).second) continue; // declared in two headers
        names += (names.empty() ? "" : ", ") + roff(d.name);
        if (page_name.empty())
          page_name = d.name;
        else
          others.push_back(d.name);
        synopsis += roff(d.text) + "\n";
        if (const auto it = modules.find(d.name); it != modules.end()) fortran += roff(fortran_synopsis(it->second));
        const bool same = said != nullptr && *said == d.comment;
        description += fmt::format(".TP\n.BR {} ()\n{}\n", roff(d.name),
                                   same ? "As above." : roff(d.comment.empty() ? "See the synopsis." : d.comment));
        said = &d.comment;
      }
      if (page_name.empty()) continue;
      std::string page = heading(page_name, 3);
      page += fmt::format(".SH NAME\n{} \\- {}\n.SH SYNOPSIS\n.nf\n.B #include <dyngrid.h>\n\n{}.fi\n", names,
                          roff(group.title), synopsis);
      if (!fortran.empty()) page += ".SS Fortran\n.nf\n.B use dyngrid\n\n" + fortran + ".fi\n";
      page += ".PP\nIn C++ by dyngrid.hpp, in Fortran by the module dyngrid or dyngrid.fh; see\n.BR dyngrid (7).\n";
      page += ".SH DESCRIPTION\n" + description;
      page += ".SH RETURN VALUE\nWhere nothing else is said: 0 or an outcome (DYNGRID_SAME, DYNGRID_RESIZED, "
              "DYNGRID_LEAVE, DYNGRID_REDIRECT), or a negative status of\n"
              ".IR dyngrid/status.h ,\nthe same on all processes of a collective call; dyngrid_last_message() then "
              "says what, got, wanted, where.\n";
      page += see_also({"dyngrid(7)", "dyngrid(1)"});
      write(o.folder, page_name, 3, page);
      for (const std::string& other : others) write(o.folder, other, 3, fmt::format(".so man3/{}.3\n", page_name));
    }
}

} // namespace

void add_man(CommandLine& root) {
  CommandLine& app = root.add_command("man", "Writes the manual pages; for the build");
  auto o = std::make_shared<Options>();
  app.add_option("--folder", o->folder, "where man1, man3 and man7 go").required();
  app.add_option("--overview", o->overview, "dyngrid(7) with a place for the environment").required();
  app.add_option("--header", o->headers, "C headers").required();
  app.add_option("--fortran", o->modules, "sources of the Fortran modules");
  app.add_option("--guide", o->guides, "pages in Markdown: docs/porting.md becomes dyngrid-porting(7)");
  app.action([o, &root, &app] {
    write(o->folder, "dyngrid", 1, root_page(root));
    for (const auto& command : root.commands())
      if (command.get() != &app) {
        write(o->folder, "dyngrid-" + command->name(), 1, command_page(root, *command, command->name()));
        for (const auto& below : command->commands())
          if (!below->group().empty())
            write(o->folder, fmt::format("dyngrid-{}-{}", command->name(), below->name()), 1,
                  command_page(root, *below, command->name() + " " + below->name()));
      }
    write(o->folder, "dyngrid", 7, overview_page(o->overview));
    for (const std::string& guide : o->guides) {
      const std::string name = "dyngrid-" + std::filesystem::path(guide).stem().string();
      write(o->folder, name, 7, guide_page(guide, name));
    }
    write_routines(*o);
  });
}

} // namespace command
