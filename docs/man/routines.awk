# SPDX-License-Identifier: BSD-3-Clause
# awk -v folder=FOLDER -v version=VERSION -f routines.awk MODULE.f90... HEADER.h...: section 3 of the manual. A page is
# a part of a C header (.../include/NAME) between two comments "/* ---- title ---- */": synopses, the statements of the
# Fortran modules with the same names, and of each routine the comment before it. Every further routine of a page is an
# alias of it.

function trim(s) { gsub(/^[ \t]+|[ \t]+$/, "", s); return s }
function roff(s) { # no line begins with a control character, hyphens stay hyphens
  gsub(/\\/, "\\e", s); gsub(/-/, "\\-", s); gsub(/\n\./, "\n\\\\\\&.", s); gsub(/\n'/, "\n\\\\\\&'", s)
  return s ~ /^[.']/ ? "\\&" s : s
}
function split_list(s, list,    k, c, depth, n, one) { # at the commas outside parentheses
  n = 0; one = ""; depth = 0
  for (k = 1; k <= length(s) + 1; ++k) {
    c = k > length(s) ? "," : substr(s, k, 1)
    depth += (c == "(") - (c == ")")
    if (c != "," || (depth > 0 && k <= length(s))) { one = one c; continue }
    if (trim(one) != "") list[++n] = trim(one)
    one = ""
  }
  return n
}
function folded(s, margin,    n, words, k, out, line) { # broken after a comma where it is long, as Fortran goes on
  n = split(s, words, /[ \t]+/); line = margin; out = ""
  for (k = 1; k <= n; ++k) {
    if (length(line) + length(words[k]) + 3 > 92 && line ~ /, $/) { out = out line "&\n"; line = margin "    " }
    line = line words[k] " "
  }
  return out substr(line, 1, length(line) - 1) "\n"
}
# ---- Fortran: heads[name, k] and of each the declarations of its arguments, all[name, k, i] ----
function procedure(s, low,    at, begin, open, close_, list, n, k, args, result) {
  at = index(low, "function "); is_sub = index(low, "subroutine ") == 1
  begin = is_sub ? 12 : at + 9; open = begin + index(substr(s, begin), "(") - 1
  close_ = open + index(substr(s, open), ")") - 1
  name = trim(substr(low, begin, open - begin))
  n = split_list(substr(s, open + 1, close_ - open - 1), list); args = ""
  for (k = 1; k <= n; ++k) { wanted[tolower(list[k])] = 1; args = args (k > 1 ? ", " : "") list[k] }
  result = match(low, /result\([a-z0-9_]*/) ? substr(low, RSTART + 7, RLENGTH - 7) : name
  if (!is_sub) wanted[result] = 1
  ++procedures[name]; declared[name, procedures[name]] = 0
  heads[name, procedures[name]] = is_sub ? "call " name "(" args ")" : \
    substr(s, 1, at - 1) "function " name "(" args ")" (result == name ? "" : " result(" result ")")
}
function declaration(s,    colons, list, n, k, here, word) {
  colons = index(s, "::"); n = split_list(substr(s, colons + 2), list); here = ""
  for (k = 1; k <= n; ++k) {
    word = list[k]; sub(/\(.*/, "", word)
    if (tolower(trim(word)) in wanted) here = here (here == "" ? "" : ", ") list[k]
  }
  if (here == "") return
  all[name, procedures[name], ++declared[name, procedures[name]]] = trim(substr(s, 1, colons - 1)) " :: " here
}
function statement(s,    low, list, n, k) {
  low = tolower(s)
  if (low ~ /^public ::/) { n = split_list(substr(low, 10), list); for (k = 1; k <= n; ++k) is_public[list[k]] = 1 }
  else if (low ~ /^interface/) generic = trim(substr(low, 10))
  else if (low ~ /^end interface/) generic = ""
  else if (low ~ /^module procedure/ && generic != "") {
    n = split_list(substr(low, 17), list); for (k = 1; k <= n; ++k) specific[generic] = specific[generic] " " list[k]
  } else if (low ~ /^end/) { split("", wanted); name = "" }
  else if (name == "" && low ~ /\(/ && low !~ /::/ && " " low ~ / (subroutine|function) /) procedure(s, low)
  else if (name != "" && s ~ /::/) declaration(s)
}
function otherwise(declared_so, h,    at, n, k, list, here) { # its arguments that h declares, but not in the same way
  at = index(declared_so, "::"); here = ""
  if (substr(declared_so, 1, at) == substr(h, 1, index(h, "::"))) return ""
  n = split_list(substr(declared_so, at + 2), list)
  for (k = 1; k <= n; ++k)
    if (index(", " substr(h, index(h, "::") + 3) ", ", ", " list[k] ", ")) here = here (here == "" ? "" : ", ") list[k]
  return here == "" ? "" : substr(declared_so, 1, at - 1) ":: " here
}
function fortran_of(routine,    names, n, k, j, i, d, o, m, text, head, done, told, other, h) { # what the synopsis says
  if (!(routine in is_public)) return ""
  n = split(specific[routine] != "" ? specific[routine] : routine, names, " "); m = 0; text = ""
  for (k = 1; k <= n; ++k)
    for (j = 1; j <= procedures[names[k]]; ++j) {
      h = heads[names[k], j]; i = index(h, names[k] "(")
      head[++m] = substr(h, 1, i - 1) routine substr(h, i + length(names[k])); other[m] = names[k] SUBSEP j
    }
  split("", done)
  for (k = 1; k <= m; ++k) {
    if (head[k] in done) continue
    done[head[k]] = 1; text = text folded(head[k], "")
    for (i = 1; i <= declared[other[k]]; ++i) { # alternatives with the same arguments in one
      h = all[other[k], i]; text = text folded(h, "    "); split("", told)
      for (j = k + 1; j <= m; ++j)
        for (d = 1; head[j] == head[k] && d <= declared[other[j]]; ++d)
          if ((o = otherwise(all[other[j], d], h)) != "" && !(o in told)) {
            told[o] = 1; text = text folded("or " o, "      ")
          }
    }
  }
  return text
}

# ---- C ----
function without_margin(s) { # the text between /* and */
  sub(/[ \t\n]*\*\/.*/, "", s); s = "\n" s
  gsub(/\n[ \t]*(\/\*|\*)?[ \t]*/, "\n", s); gsub(/[ \t]*\n+/, "\n", s); sub(/^\n/, "", s)
  return s
}
function routine(s,    open, word, remark, text) { # a DYNGRID_API declaration
  text = substr(s, 13, index(s, ";") - 12); word = text; sub(/\(.*/, "", word); sub(/.*[^A-Za-z0-9_]/, "", word)
  gsub(/\n            /, "\n", text) # the width of "DYNGRID_API ", which is gone from the first line, too
  remark = comment
  if (open = index(s, "/*")) remark = remark (remark == "" ? "" : "\n") without_margin(substr(s, open))
  if (word in done_c) return # declared in two headers
  done_c[word] = 1; names[++routines] = word; synopsis = synopsis roff(text) "\n"
  fortran = fortran roff(fortran_of(word))
  described = described ".TP\n.BR " roff(word) " ()\n" \
    (routines > 1 && said == remark ? "As above." : roff(remark == "" ? "See the synopsis." : remark)) "\n"
  said = remark
}
function page(    file, k, list) { # writes what was read of the last part
  if (routines > 0) {
    for (k = 1; k <= routines; ++k) list = list (k > 1 ? ", " : "") roff(names[k])
    file = folder "/" names[1] ".3"
    print ".\\\" SPDX-License-Identifier: BSD-3-Clause" >file
    printf ".TH \"%s\" 3 \"\" \"dyngrid %s\" \"dyngrid\"\n", toupper(names[1]), version >file
    print ".SH NAME\n" list " \\- " roff(title) "\n.SH SYNOPSIS\n.nf\n.B #include <" header ">\n\n" synopsis ".fi" >file
    if (fortran != "") print ".SS Fortran\n.nf\n.B use dyngrid\n\n" fortran ".fi" >file
    print ".PP\nIn C++ by dyngrid.hpp, in Fortran by the module dyngrid or dyngrid.fh; see\n.BR dyngrid (7)." >file
    printf ".SH DESCRIPTION\n%s", described >file
    close(file)
    for (k = 2; k <= routines; ++k) print ".so man3/" names[1] ".3" >(folder "/" names[k] ".3")
  }
  routines = 0; synopsis = fortran = described = ""
}

FILENAME ~ /\.f90$/ { # whole statements; our modules have no ! in a string
  sub(/!.*/, ""); line = trim($0)
  if (line == "") next
  more = sub(/&$/, "", line); line = trim(line)
  if (goes_on) sub(/^& */, "", line)
  whole = goes_on ? whole " " line : line
  goes_on = more
  if (!more) statement(whole)
  next
}
FNR == 1 { page(); is_part = 0; header = FILENAME; sub(/.*\/include\//, "", header) }
/^\/\* ----/ { page(); title = substr($0, 9); sub(/ ----.*/, "", title); comment = ""; is_part = 1; next }
/^\/\*/ {
  comment = $0
  while (comment !~ /\*\// && (getline more_text) > 0) comment = comment "\n" more_text
  comment = without_margin(comment)
  next
}
is_part && /^(DYNGRID_API|typedef|enum)/ {
  text = $0
  while (!over(text) && (getline more_text) > 0) text = text "\n" more_text
  if (/^DYNGRID_API/) routine(text)
  else { type(text); if (/^typedef/) comment = "" } # what is said of an enum is said of the routine that takes it
}
END { page() }
function over(s) { while (sub(/\{[^{}]*\}/, "", s)) continue; return s !~ /\{/ && s ~ /;/ } # at a ; outside braces
function type(s,    star, word) { # what is said of a type is not said of the routine after it
  synopsis = synopsis roff(s) "\n\n"
  if (!(star = index(s, "(*"))) return
  word = substr(s, star + 2); sub(/\).*/, "", word); fortran = fortran roff(fortran_of(word))
}
