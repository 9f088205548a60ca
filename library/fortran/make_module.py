# SPDX-License-Identifier: BSD-3-Clause
"""Makes the Fortran module ringside.f90 of the parts in this folder and of ringside.h:

    make_module.py HEADER MODULE

A line `!@ NAME` of a part stands for Fortran that a function below makes: constants, structs and interfaces from the header, and
procedures that differ only in a type or a rank. In procedures with a `self` the parts leave out the declarations that are always
the same: `self`, `stat` and `status`."""

import pathlib
import re
import sys

PARTS = ("module", "writer", "reader", "values")
PUBLIC_STRUCTS = ("ringside_step_info", "ringside_counts")
PUBLIC_FUNCTIONS = ("ringside_interface", "ringside_dtype_bytes", "ringside_catch_bus_errors")
NOT_BOUND = ("ringside_variable_bytes", "ringside_reader_find_variable")  # docs/publish/library.md gives the reasons
LOGICAL = ("rebuilt", "broke_lease")  # members of ringside_record in Fortran
KINDS = {"int32_t": "integer(c_int32_t)", "uint32_t": "integer(c_int32_t)", "ringside_status": "integer(c_int32_t)",
         "uint16_t": "integer(c_int16_t)", "int64_t": "integer(c_int64_t)", "uint64_t": "integer(c_int64_t)",
         "size_t": "integer(c_size_t)", "double": "real(c_double)", "unsigned char": "integer(c_int8_t)", "char": "character(kind=c_char)"}
ZEROS = {"integer(c_int8_t)": "0_c_int8_t", "integer(c_int16_t)": "0_c_int16_t", "character(kind=c_char)": "c_null_char",
         "type(c_ptr)": "c_null_ptr"}
# Fortran has no unsigned integers: its integers also hold the bits of unsigned values.
POINTEES = {"f32": ("real(c_float)", "RINGSIDE_F32"), "f64": ("real(c_double)", "RINGSIDE_F64"),
            "c64": ("complex(c_float_complex)", "RINGSIDE_C64"), "c128": ("complex(c_double_complex)", "RINGSIDE_C128"),
            "i8": ("integer(c_int8_t)", "RINGSIDE_I8, RINGSIDE_U8"), "i16": ("integer(c_int16_t)", "RINGSIDE_I16, RINGSIDE_U16"),
            "i32": ("integer(c_int32_t)", "RINGSIDE_I32, RINGSIDE_U32"), "i64": ("integer(c_int64_t)", "RINGSIDE_I64, RINGSIDE_U64")}
RANKS = (1, 2, 3, 4)


class Header:
    def __init__(self, text):
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
        self.constants = [re.findall(r"(RINGSIDE_\w+) = (-?\d+)", body) for body in re.findall(r"\benum \{(.*?)\};", text, re.DOTALL)]
        self.structs = {name: re.findall(r"^ *([^;]*?)\b(\w+)(?:\[(\w+)\])?;", body, re.MULTILINE)
                        for name, body in re.findall(r"typedef struct (\w+) \{(.*?)\}", text, re.DOTALL)}
        self.functions = [(result, name, re.findall(r"([^,]+?)(\w+)(?:,|$)", "" if arguments == "void" else arguments))
                          for result, name, arguments in re.findall(r"RINGSIDE_API ([^;]*?)(\w+)\(([^)]*)\);", text)]


def own_name(name, public):
    """The name that the module gives to a struct or function of the header."""
    return name if name in public else name.replace("ringside_", "c_", 1)


def constants(header):
    for group in header.constants:
        yield "  integer, parameter, public :: " + ", &\n    ".join(f"{name} = {value}" for name, value in group)


def structs(header):
    for name, members in header.structs.items():
        yield f"  type,{' public,' if name in PUBLIC_STRUCTS else ''} bind(c) :: {own_name(name, PUBLIC_STRUCTS)}"
        for kind, member, extent in members:
            kind = "type(c_ptr)" if "*" in kind else KINDS[kind.strip()]
            yield f"    {kind} :: {member}{f'({extent})' if extent else ''} = {ZEROS.get(kind, '0')}"
        yield "  end type"


def argument(header, kind, name, names):
    """The declaration of a C function's argument."""
    constant, pointers = kind.strip().startswith("const "), kind.count("*")
    kind = re.sub(r"\bconst\b|\*", "", kind).strip()
    if pointers == 0:
        return f"{KINDS[kind]}, value :: {name}"
    listed = "(*)" if f"{name.removesuffix('s')}_count" in names or (name == "out" and "room" in names) or name == "arrays" else ""
    if pointers == 2:
        return f"type(c_ptr), intent({'in' if listed else 'out'}) :: {name}{listed}"
    if kind == "ringside_value":  # eight bytes that contain one of two types
        return f"real(c_double), intent(in), optional :: {name}(*)" if constant else f"integer(c_int64_t), intent(inout) :: {name}"
    if kind in header.structs:
        kind = f"type({own_name(kind, PUBLIC_STRUCTS)})"
    elif kind in KINDS and kind != "char":
        kind = KINDS[kind]
    else:  # a handle, text or bytes
        return f"type(c_ptr), value :: {name}"
    return f"{kind}, intent({'in' if constant else 'inout'}) :: {name}{listed}"


def interfaces(header):
    for result, name, arguments in header.functions:
        if name in NOT_BOUND:
            continue
        procedure = "subroutine" if result.strip() == "void" else "function"
        kind = "" if procedure == "subroutine" else "type(c_ptr) " if "*" in result else f"{KINDS[result.strip()]} "
        names = [argument_name for _, argument_name in arguments]
        yield f"    {kind}{procedure} {own_name(name, PUBLIC_FUNCTIONS)}({', '.join(names)}) &\n      bind(c, name='{name}')"
        if kind or arguments:
            yield "      import"
        for argument_kind, argument_name in arguments:
            yield f"      {argument(header, argument_kind, argument_name, names)}"
        yield f"    end {procedure}"


def pointer_names(_):
    yield "    procedure " + ", &\n      ".join(", ".join(f"{name}_{rank}" for rank in RANKS) for name in POINTEES)


def pointers(_):
    for name, (kind, dtypes) in POINTEES.items():
        for rank in RANKS:
            shape = "[product(array%shape)]" if rank == 1 else f"array%shape(1:{rank})"
            yield f"""\
  subroutine {name}_{rank}(array, to, stat)
    type(ringside_array), intent(in) :: array
    {kind}, pointer, intent(out) :: to({', '.join(':' * rank)})
    integer, intent(out), optional :: stat
    to => null()
    if (fits(array, [{dtypes}], {rank}, stat)) call c_f_pointer(array%data, to, {shape})
  end subroutine"""


def variables(_):
    for role in ("field", "state"):
        for bits in (32, 64):
            yield f"""\
  function {role}_{bits}(name, shape, unit, dtype) result(variable)
    character(*), intent(in) :: name
    integer(c_int{bits}_t), intent(in) :: shape(:)
    character(*), intent(in), optional :: unit
    integer, intent(in), optional :: dtype
    type(ringside_variable) :: variable
    variable = described(name, int(shape, c_int64_t), RINGSIDE_ROLE_{role.upper()}, unit, dtype)
  end function"""


def copies(header):
    """run_of and record_of: a struct of C as the module's type, whose texts are Fortran strings."""
    for name in ("run", "record"):
        yield f"  type(ringside_{name}) function {name}_of(found) result({name})\n    type(c_{name}), intent(in) :: found"
        for kind, member, _ in header.structs[f"ringside_{name}"]:
            if member not in ("size", "reserved"):
                value = f"fortran_string(found%{member})" if "*" in kind else f"found%{member}{' /= 0' if member in LOGICAL else ''}"
                yield f"    {name}%{member} = {value}"
        yield "  end function"


def errors(_):
    for name in ("writer", "reader"):
        yield f"""\
  !> The line of the last failure{' of the reader or of one of its steps' if name == 'reader' else ''}.
  function {name}_line(self) result(line)
    character(len=:), allocatable :: line
    type(c_error) :: error
    error = last_error(c_{name}_error(self%handle), self%handle, self%refusal)
    line = string_of(error%line)
  end function

  !> Its cause, if its status was RINGSIDE_USAGE: RINGSIDE_REASON_...
  integer function {name}_reason(self) result(reason)
    type(c_error) :: error
    error = last_error(c_{name}_error(self%handle), self%handle, self%refusal)
    reason = error%reason
  end function
"""


def declared(procedure):
    """A procedure of a part with the declarations of self, stat and status that it left out."""
    opening, name, arguments, body = procedure.groups()
    names = re.findall(r"\w+", arguments)
    added = []
    if "self" in names and ":: self\n" not in body:
        added.append(f"class(ringside_{name.split('_')[0]}), intent(in) :: self")
    if "stat" in names and ":: stat\n" not in body:
        added.append("integer, intent(out), optional :: stat")
    if "self" in names and re.search(r"\bstatus = ", body) and not re.search(r":: .*\bstatus\b", body):
        added.append("integer(c_int32_t) :: status")
    return opening + "".join(f"    {line}\n" for line in added) + body


def module(header, folder):
    text = "\n".join((folder / f"{part}.f90").read_text(encoding="utf-8") for part in PARTS)
    text = text.replace("\n! SPDX-License-Identifier: BSD-3-Clause\n", "\n")  # of all parts but the first
    text = re.sub(r"^ *!@ (\w+)\n", lambda line: "\n".join(globals()[line[1]](header)) + "\n", text, flags=re.MULTILINE)
    return re.sub(r"^(  (?:[\w()]+ )*?(?:function|subroutine) (\w+)\(((?:[^)&]|&\n)*)\).*\n)((?:.*\n)*?)(?=  end (?:function|subroutine)\n)",
                  declared, text, flags=re.MULTILINE)


if __name__ == "__main__":
    pathlib.Path(sys.argv[2]).write_text(module(Header(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")), pathlib.Path(__file__).parent),
                                         encoding="utf-8")
