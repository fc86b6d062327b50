#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the Fortran interfaces of dyngrid from its C headers.

    fortran_interface.py module TEMPLATE OUTPUT HEADER...      a module of Fortran 2003
    fortran_interface.py f77 TEMPLATE OUTPUT HEADER...         entry points for Fortran 77, included by fortran77.cpp
    fortran_interface.py include TEMPLATE OUTPUT MODULE-TEMPLATE HEADER...   dyngrid.fh

Types, values and the order of arguments come from the headers. A template is Fortran with lines that begin with @:

    @constants HEADER...       the constants of all enums of these headers (by the end of their names)
    @struct NAME               a bind(C) type with the members of the C struct
    @public                    public statements for what the lines below declare
    @interfaces                in a module with @call: the generic names, and the C functions that are called
    @function NAME(ARGS)       inside an interface block: the C function itself. "= CNAME" where that has another name
    @kernels                   inside an interface block: all subroutines of dyngrid/pblas.h
    @call NAME(ARGS, STATUS)   a subroutine; what the C function returns becomes the last argument
    @integer NAME(), @logical NAME()    a function without arguments
    @each NAME=VALUE;VALUE... NAME=...    the lines up to @end once for each value, with @NAME@ replaced by it
    @external                  in dyngrid.fh: EXTERNAL statements

An argument is a name, with (*) for an array, ? for one that may be left out, ! for one that is read and written. A
@call with 64-bit sizes gets a generic name for default and 64-bit integers, unless the word int64 or default after it
says that it has one kind. no77 after it: there is none in Fortran 77, or fortran77.cpp has it by hand."""
import re
import sys

WIDTH = 110  # columns at which a statement is continued

SCALARS = {"int": "integer(c_int)", "int64_t": "integer(c_int64_t)", "size_t": "integer(c_size_t)",
           "double": "real(c_double)", "float": "real(c_float)", "MPI_Fint": "integer(c_int)"}
HANDLES = {"dyngrid_matrix", "dyngrid_phase", "dyngrid_borders"}  # a Fortran type with a member "handle"
ROUTINES = {"dyngrid_allocator", "dyngrid_distribution", "dyngrid_owner_rule", "dyngrid_change_routine",
            "dyngrid_panel_routine"}
STRUCTS = set()  # of the headers: types with bind(C)


def fail(text):
    sys.exit(f"fortran_interface.py: {text}")


class Headers:
    """What the C headers declare: functions, enum constants, members of structs."""

    def __init__(self, paths):
        self.functions, self.constants, self.structs = {}, {}, {}
        for path in paths:
            with open(path, encoding="utf-8") as file:
                self.read(path, re.sub(r"/\*.*?\*/", " ", file.read(), flags=re.S))

    def read(self, path, text):
        macros = {}
        for name, parameters, body in re.findall(r"#define (DYNGRID_\w+_ARGS)\(([^)]*)\)((?:.*\\\n)*.*)", text):
            macros[name] = (parameters.split(", "), body.replace("\\\n", " "))
        text = re.sub(r"^#(?:.*\\\n)*.*$", "", text, flags=re.M)
        self.constants[path] = re.findall(r"\b(DYNGRID_\w+) = (-?\d+)", text)
        for members, name in re.findall(r"typedef struct \w+ \{([^}]*)\} (\w+);", text):
            self.structs[name] = [m.strip() for m in members.split(";") if m.strip()]
        for result, name, arguments in re.findall(r"DYNGRID_API\s+([\w *]+?)\b(dyngrid_\w+)\((.*?)\);", text, re.S):
            if macro := re.match(r"(DYNGRID_\w+_ARGS)\((.*)\)", arguments):
                parameters, arguments = macros[macro[1]]
                for parameter, value in zip(parameters, macro[2].split(", ")):
                    arguments = re.sub(rf"\b{parameter}\b", value, arguments)
            arguments = " ".join(arguments.split())
            self.functions[name] = (result.strip(), [] if arguments == "void" else arguments.split(", "))

    def of(self, name):
        return self.functions[name] if name in self.functions else fail(f"no header declares {name}")


class Argument:
    """One argument: its C type, and what the template says of it."""

    def __init__(self, c, said):
        match = re.match(r"(\w+)(\(\*\))?([?!]*)$", said)
        if not match:
            fail(f"cannot read the argument '{said}'")
        self.name, self.is_array = match[1], bool(match[2])
        self.is_optional, self.is_inout = "?" in match[3], "!" in match[3]
        c = re.sub(r"\w+$", "", c).strip() if not c.endswith("*") else c
        self.stars, self.is_const = c.count("*"), c.startswith("const ")
        self.base = c.replace("const ", "").replace("*", "").strip()

    def intent(self):
        return "intent(in)" if self.is_const else "intent(inout)" if self.is_inout else "intent(out)"

    def for_c(self, is_private):
        """(type and attributes, name) in the interface of the C function."""
        optional = ", optional" if self.is_optional else ""
        name = self.name + ("(*)" if self.is_array else "")
        if self.base in ROUTINES:
            return "type(c_funptr), value", name
        if self.base == "char" and self.stars == 0:
            # as a number where a dummy is passed on: gfortran 12 passes the address of a character dummy
            return "integer(c_signed_char), value" if is_private else "character(kind=c_char), value", name
        if self.base == "char":
            return f"character(kind=c_char), {self.intent()}{optional}", self.name + "(*)" if is_private else name
        if self.base == "void" and self.stars == 1:
            if is_private:
                return "type(c_ptr), value", name
            return f"type(*), {'intent(in)' if self.is_const else 'intent(inout)'}", self.name + "(*)"
        if self.base in SCALARS:
            attribute = "value" if self.stars == 0 else self.intent() + optional
            return f"{SCALARS[self.base]}, {attribute}", name
        if self.base in STRUCTS:
            attribute = self.intent() + optional
            return f"type({self.base}), {attribute}", name
        return ("type(c_ptr), intent(inout)" if self.stars == 2 else "type(c_ptr), value"), name

    def is_size(self):
        return self.base == "int64_t" and self.stars == 0

    def for_user(self, kind):
        """(type and attributes, name) in a subroutine of the module; kind: of sizes."""
        name = self.name + ("(*)" if self.is_array else "")
        if self.base in ROUTINES:
            return f"procedure({self.base})", name
        if self.base == "char":
            return ("character, intent(in)" if self.stars == 0 else "character(*), intent(in)"), name
        if self.base == "void":
            return "type(c_ptr), intent(in)", name
        if self.base in HANDLES:
            return f"type({self.base}), {'intent(inout)' if self.stars == 2 else 'intent(in)'}", name
        if self.base in STRUCTS:
            return f"type({self.base}), intent(out)", name
        intent = "intent(in)" if self.stars == 0 else self.intent()
        if self.base == "int64_t":
            is_default = kind == "default" and self.stars == 0
            return ("integer" if is_default else "integer(int64)") + f", {intent}", name
        return ("integer" if self.base == "int" else SCALARS[self.base]) + f", {intent}", name

    def passed_on(self, kind):
        """What a subroutine of the module hands to the C function."""
        if self.base in ROUTINES:
            return f"c_funloc({self.name})"
        if self.base == "char":
            return f"iachar({self.name}, c_signed_char)" if self.stars == 0 else f"trim({self.name}) // c_null_char"
        if self.base in HANDLES:
            return f"{self.name}%handle"
        return f"int({self.name}, int64)" if self.is_size() and kind == "default" else self.name


class Line:
    """A line of a template that begins with @ and declares a procedure."""

    def __init__(self, text, headers):
        match = re.match(r"@(\w+) (\w+)\(([^()]*(?:\(\*\)[^()]*)*)\)(.*)$", text)
        if not match:
            fail(f"cannot read '{text}'")
        self.what, self.name, words = match[1], match[2], match[4].split()
        self.c_name = words[words.index("=") + 1] if "=" in words else self.name
        self.words = set(words)
        said = [s.strip() for s in match[3].split(",") if s.strip()]
        self.result, arguments = headers.of(self.c_name)
        self.status = said.pop() if self.what == "call" else None
        if len(said) != len(arguments):
            fail(f"{self.name} has {len(said)} arguments, {self.c_name} in C {len(arguments)}: {', '.join(arguments)}")
        self.arguments = [Argument(c, s) for c, s in zip(arguments, said)]

    def kinds(self):
        if self.what != "call" or not any(a.is_size() for a in self.arguments):
            return [""]
        return [k for k in ("default", "int64") if k in self.words] or ["default", "int64"]

    def is_generic(self):
        return len(self.kinds()) == 2


def folded(text, margin):
    """A statement, continued after a comma where it is long."""
    lines, line = [], " " * margin
    for word in re.findall(r"\S+(?:\s+|$)", text):
        if len(line) + len(word.rstrip()) > WIDTH and line.rstrip().endswith((",", "&", ")")):
            lines.append(line.rstrip() + " &")
            line = " " * (margin + 2)
        line += word
    return "\n".join(lines + [line.rstrip()]) + "\n"


def declarations(pairs, margin):
    """Declarations of one type in one statement, in the order of their first names."""
    grouped = {}
    for kind, name in pairs:
        grouped.setdefault(kind, []).append(name)
    return "".join(folded(f"{kind} :: {', '.join(names)}", margin) for kind, names in grouped.items())


def interface(line, name, is_private):
    """The interface of a C function."""
    kind = SCALARS.get(line.result, "type(c_ptr)")
    bind = "bind(C)" if name == line.c_name else f'bind(C, name="{line.c_name}")'
    names = ", ".join(a.name for a in line.arguments)
    return (folded(f"{kind} function {name}({names}) {bind}", 4) + "      import\n" +
            declarations([a.for_c(is_private) for a in line.arguments], 6) + "    end function\n")


def private_name(line):
    return "c_" + line.c_name.removeprefix("dyngrid_")


def wrapper(line):
    """The procedures of the module for one @call, @integer or @logical."""
    if line.what != "call":
        value = private_name(line) + "()" + (" /= 0" if line.what == "logical" else "")
        return f"  {line.what} function {line.name}()\n    {line.name} = {value}\n  end function\n"
    text = ""
    for kind in line.kinds():
        name = f"{line.name.removeprefix('dyngrid_')}_{kind}" if line.is_generic() else line.name
        names = ", ".join([a.name for a in line.arguments] + [line.status])
        passed = ", ".join(a.passed_on(kind) for a in line.arguments)
        text += (folded(f"subroutine {name}({names})", 2) +
                 declarations([a.for_user(kind) for a in line.arguments] +
                              [("integer, intent(out)", line.status)], 4) +
                 folded(f"{line.status} = {private_name(line)}({passed})", 4) + "  end subroutine\n")
    return text


def constants(headers, ends):
    found = []
    for end in ends:
        paths = [p for p in headers.constants if p.endswith("/" + end)]
        if len(paths) != 1:
            fail(f"@constants {end}: {len(paths)} of the headers end so, expected 1")
        found += headers.constants[paths[0]]
    return found


def struct(name, headers):
    text = f"  type, bind(C), public :: {name}\n"
    for member in headers.structs[name] if name in headers.structs else fail(f"no header declares {name}"):
        kind, names = member.split(" ", 1)
        kind = {"char": "character(kind=c_char)"}.get(kind) or SCALARS[kind]
        text += folded(f"{kind} :: {names.replace('[', '(').replace(']', ')')}", 4)
    return text + "  end type\n"


def kernels(headers):
    """The subroutines of dyngrid/pblas.h, whose names end with an underscore in C."""
    text = ""
    for c_name, (_, arguments) in headers.functions.items():
        if not c_name.endswith("_"):
            continue
        name, letter = c_name.rstrip("_"), c_name[len("dyngrid_p")]
        pairs = []
        for c in arguments:
            argument = c.split("*")[-1].strip()
            base = c.replace("const ", "").split("*")[0].strip()
            is_const = c.startswith("const ")
            is_array = argument.startswith("desc") or argument == "ipiv" or argument in ("a", "b", "c")
            complex_kind = "complex(c_float_complex)" if letter == "c" else "complex(c_double_complex)"
            kind = {"char": "character(kind=c_char)", "void": complex_kind, **SCALARS}[base]
            intent = "in" if is_const else "out" if argument == "info" else "inout"
            pairs.append((f"{kind}, intent({intent})", argument + ("(*)" if is_array else "")))
        names = ", ".join(n.replace("(*)", "") for _, n in pairs)
        text += (folded(f'subroutine {name}({names}) bind(C, name="{c_name}")', 4) + "      import\n" +
                 declarations(pairs, 6) + "    end subroutine\n")
    return text


def rows_of(template):
    """The lines of a template, those of @each repeated; one that begins with @ and ends with & is one with the next."""
    rows = []
    with open(template, encoding="utf-8") as file:
        for row in file:
            if rows and rows[-1].lstrip().startswith("@") and rows[-1].endswith("&\n"):
                rows[-1] = rows[-1][:-2] + row.lstrip()
            else:
                rows.append(row)
            if row.strip() == "@end":
                begin = max(k for k, r in enumerate(rows) if r.lstrip().startswith("@each "))
                rows[begin:] = repeated(rows[begin], rows[begin + 1:-1])
    return rows


def repeated(each, body):
    columns = [(name, values.split(";")) for name, values in (word.split("=") for word in each.split()[1:])]
    if len({len(values) for _, values in columns}) != 1:
        fail(f"the lists of '{each.strip()}' differ in length")
    rows = []
    for k in range(len(columns[0][1])):
        for row in body:
            for name, values in columns:
                row = row.replace(f"@{name}@", values[k])
            rows.append(row)
    return rows


def declared_lines(template, headers):
    return [Line(row.strip(), headers) for row in rows_of(template)
            if re.match(r"\s*@(function|call|integer|logical) ", row)]


def module(template, headers):
    lines = declared_lines(template, headers)
    wrapped = [line for line in lines if line.what != "function"]
    text = f"! Written by cmake/fortran_interface.py from {template.split('/')[-1]} and the C headers.\n"
    for row in rows_of(template):
        word, _, rest = row.strip().partition(" ")
        if not word.startswith("@"):
            text += row
        elif word == "@constants":
            for name, value in constants(headers, rest.split()):
                text += f"  integer(c_int), parameter, public :: {name} = {value}\n"
        elif word == "@struct":
            text += struct(rest, headers)
        elif word == "@kernels":
            text += kernels(headers)
        elif word == "@public":
            names = [line.name for line in lines if line.name.startswith("dyngrid_")]
            if rest == "kernels":
                names += [n.rstrip("_") for n in headers.functions if n.endswith("_")]
            text += "".join(f"  public :: {name}\n" for name in names)
        elif word == "@interfaces":
            for line in wrapped:
                if line.is_generic():
                    short = line.name.removeprefix("dyngrid_")
                    text += (f"  interface {line.name}\n    module procedure {short}_default, {short}_int64\n"
                             "  end interface\n")
            text += "  interface\n" + "".join(interface(line, private_name(line), True) for line in wrapped)
            text += "  end interface\n"
        else:
            line = Line(row.strip(), headers)
            text += (interface(line, line.name, line.name.startswith("c_")) if line.what == "function" else
                     wrapper(line))
    return text


def in_f77(template, headers):
    return [line for line in declared_lines(template, headers) if line.what != "function" and "no77" not in line.words]


def f77(template, headers):
    """Entry points whose arguments are addresses; a CHARACTER argument has its length by value after the others."""
    text = f"// Written by cmake/fortran_interface.py from {template.split('/')[-1]} and the C headers.\n"
    for line in in_f77(template, headers):
        if line.what != "call":
            text += f"FORTRAN77(int, {line.name}, ()) {{\n  return {line.c_name}();\n}}\n"
            continue
        parameters, lengths, passed, made = [], [], [], None
        for a in line.arguments:
            if a.base == "char":
                parameters.append(f"const char* {a.name}")
                lengths.append("std::size_t" if a.stars == 0 else f"std::size_t {a.name}_length")
                passed.append(f"*{a.name}" if a.stars == 0 else f"text_of({a.name}, {a.name}_length).c_str()")
            elif a.base in HANDLES and a.stars == 2:
                parameters.append(f"std::int64_t* {a.name}")
                passed.append("&made")
                made = a
            elif a.base in HANDLES:
                parameters.append(f"const std::int64_t* {a.name}")
                passed.append(f"{a.base.removeprefix('dyngrid_')}_of({a.name})")
            elif a.base in ("int", "int64_t", "double", "MPI_Fint") and a.stars == 0:
                parameters.append(f"const {'double' if a.base == 'double' else 'int'}* {a.name}")
                passed.append(f"*{a.name}")
            elif a.base in ("int", "double"):
                parameters.append(f"{'const ' if a.is_const else ''}{a.base}* {a.name}")
                passed.append(a.name)
            else:
                fail(f"{line.name}: {a.name} has no form in Fortran 77; write no77 after the line")
        parameters += [f"int* {line.status}"] + lengths
        text += f"FORTRAN77(void, {line.name}, ({', '.join(parameters)})) {{\n"
        if made:
            now = f"{made.base.removeprefix('dyngrid_')}_of({made.name})" if made.is_inout else "nullptr"
            text += f"  {made.base}* made = {now};\n"
        called = f"{line.c_name}({', '.join(passed)})"
        if "text_of" in called:  # which needs memory
            called = f"guard([&] {{ return {called}; }})"
        text += f"  *{line.status} = {called};\n"
        if made:
            text += f"  if (*{line.status} == DYNGRID_SUCCESS) *{made.name} = handle_of(made);\n"
        text += "}\n"
    return text


def include(template, module_template, headers):
    text = ""
    with open(template, encoding="utf-8") as file:
        for row in file:
            word, _, rest = row.strip().partition(" ")
            if word == "@constants":
                for name, value in constants(headers, rest.split()):
                    text += f"      INTEGER {name}\n      PARAMETER ({name} = {value})\n"
            elif word == "@external":
                text += "".join(f"      EXTERNAL {line.name.upper()}\n" for line in in_f77(module_template, headers))
            else:
                text += row
    return text


def main():
    what, template, output, *rest = sys.argv[1:]
    module_template = rest.pop(0) if what == "include" else None
    headers = Headers(rest)
    STRUCTS.update(headers.structs)
    text = (module(template, headers) if what == "module" else f77(template, headers) if what == "f77" else
            include(template, module_template, headers))
    with open(output, "w", encoding="utf-8") as file:
        file.write(text)


main()
