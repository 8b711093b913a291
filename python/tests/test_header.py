# SPDX-License-Identifier: MIT
"""The layout that is read out of the header is the compiler's, and what is not understood is known."""
import ctypes
import os
import re
import subprocess

import pytest

from asterism._header import Header
from asterism._library import defaults, exception_of, find_headers, header, lib


def test_the_compiler_agrees_on_every_struct(tmp_path):
    lines, expected = [], []
    for name, struct in header.structs.items():
        lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
        expected.append(f"{name} {ctypes.sizeof(struct)}")
        for field, offset, size in fields_of(struct):
            lines.append(f'printf("{name}.{field} %zu %zu\\n", offsetof({name}, {field}), sizeof((({name} *)0)->{field}));')
            expected.append(f"{name}.{field} {offset} {size}")
    assert "ast_options.mixture.kappa" in " ".join(expected)
    assert run_c(tmp_path, lines) == expected


def fields_of(struct, prefix="", start=0):
    """(name, offset, size) of every field and, for a group such as `mixture`, of the fields in it."""
    for field, kind in struct._fields_:
        at = getattr(struct, field)
        yield prefix + field, start + at.offset, at.size
        if issubclass(kind, ctypes.Structure):
            yield from fields_of(kind, f"{prefix}{field}.", start + at.offset)


def test_the_compiler_agrees_on_every_constant(tmp_path):
    lines = [f'printf("{name} %lld\\n", (long long){name});' for name in header.constants]
    assert run_c(tmp_path, lines) == [f"{name} {value}" for name, value in header.constants.items()]


def test_the_compiler_agrees_on_every_default(tmp_path):
    assert {"ast_options", "ast_stream_options", "ast_tune_options", "ast_depth_options"} <= set(header.defaults)
    lines = [f'{{ {name} o; {name}_init(&o); for (size_t i = 0; i < sizeof o; i++) printf("%02x", '
             f'((unsigned char *)&o)[i]); puts(""); }}' for name in header.defaults]
    assert run_c(tmp_path, lines) == [bytes(defaults(name)).hex() for name in header.defaults]


def run_c(folder, lines):
    headers = "".join(f'#include "{path}"\n' for path in find_headers())
    program = f"#include <stdio.h>\n#include <stddef.h>\n{headers}int main(void) {{\n" + "\n".join(lines) + "\n}\n"
    (folder / "layout.c").write_text(program)
    subprocess.run([os.environ.get("CC", "cc"), "-o", folder / "layout", folder / "layout.c"], check=True)
    return subprocess.run([folder / "layout"], check=True, capture_output=True, text=True).stdout.splitlines()


def test_every_function_of_the_header_is_known_and_exported():
    text = "".join(path.read_text() for path in find_headers())
    declared = re.findall(r"^AST_API [^;]*?(\w+)\(", text, flags=re.M)
    assert sorted(declared) == sorted(header.functions)
    assert not [name for name in declared if not hasattr(lib, name)]


def test_it_reads_what_c_can_say_and_leaves_out_the_rest(tmp_path):
    source = tmp_path / "other.h"
    source.write_text("""#define SIZE 3
        typedef enum colour { RED, GREEN = 5, BLUE } colour;
        typedef struct point { double at[SIZE], far; /* a comment; with a semicolon */ const char *name; colour c;
                               float grid[2][SIZE]; struct { int32_t x, y; } corner; } point;
        typedef struct odd { wchar_t what; } odd;
        typedef struct odder { int fine; struct { wchar_t what; } group; } odder;
        typedef struct hidden hidden;
        int private_function(void);
AST_API hidden *open_it(const point *p, size_t many, uint64_t *out, double at[3]);
AST_API wchar_t strange(void);
    """)
    other = Header([source])
    assert (other.constants["RED"], other.constants["BLUE"]) == (0, 6)
    assert list(other.structs) == ["point"]
    *fields, (group, corner) = other.structs["point"]._fields_
    assert (group, corner._fields_) == ("corner", [("x", ctypes.c_int32), ("y", ctypes.c_int32)])
    assert fields == [("at", ctypes.c_double * 3), ("far", ctypes.c_double),
                      ("name", ctypes.c_char_p), ("c", ctypes.c_int),
                      ("grid", ctypes.c_float * 3 * 2)]
    pointer = ctypes.c_void_p
    assert other.functions == {"open_it": (pointer, [pointer, ctypes.c_size_t, pointer, pointer])}


@pytest.mark.parametrize("status, kind", [(1, ValueError), (2, ValueError), (3, MemoryError), (4, KeyboardInterrupt),
                                          (5, RuntimeError), (99, RuntimeError)])
def test_statuses_are_exceptions(status, kind):
    assert exception_of(status) is kind
