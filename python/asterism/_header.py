# SPDX-License-Identifier: MIT
"""Reads the C header into ctypes: enums, structs and functions as they stand there.

The header is the only place where the layout of a struct is written down, so that the two can never differ. It is no C
parser: it knows the plain declarations of asterism.h, and leaves out what it does not know. A test has a C compiler
confirm the size of every struct and the offset of every field.
"""
from __future__ import annotations

import ctypes
import math
import re
from pathlib import Path
from typing import Any, Iterable

PLAIN = {
    "int": ctypes.c_int, "double": ctypes.c_double, "float": ctypes.c_float, "size_t": ctypes.c_size_t,
    "ptrdiff_t": ctypes.c_ssize_t, "int32_t": ctypes.c_int32, "uint32_t": ctypes.c_uint32,
    "uint64_t": ctypes.c_uint64, "int64_t": ctypes.c_int64, "uint16_t": ctypes.c_uint16, "uint8_t": ctypes.c_uint8,
    "void": None,
}
GROUP = re.compile(r"\bstruct \{([^{}]*)\} (\w+);")
DECLARATOR = re.compile(r"(?P<stars>(?:\*\s*)*)(?P<name>\w*)\s*(?P<counts>(?:\[\w+\])*)$")


class Header:
    """What a header declares: `constants`, `structs` by name, `functions` as name: (result, arguments), and the
    `defaults` that the _init function of a struct sets, as pairs such as ("merge.angle", nan)."""

    def __init__(self, paths: Iterable[Path]) -> None:
        self.constants: dict[str, int] = {}
        self.structs: dict[str, type[ctypes.Structure]] = {}
        self.functions: dict[str, tuple[Any, list[Any]]] = {}
        self.defaults: dict[str, list[tuple[str, float]]] = {}
        self._types: dict[str, Any] = dict(PLAIN)
        for path in paths:
            self._read(re.sub(r"/\*.*?\*/", " ", path.read_text(encoding="utf-8"), flags=re.S))

    @property
    def version(self) -> str:
        return ".".join(str(self.constants[f"AST_VERSION_{part}"]) for part in ("MAJOR", "MINOR", "PATCH"))

    def _read(self, text: str) -> None:
        for name, value in re.findall(r"^#define (\w+) (\d+)\s*$", text, flags=re.M):
            self.constants[name] = int(value)
        pattern = r"typedef enum (\w+) \{(.*?)\} \w+;|typedef struct (\w+) \{(.*?)\} \3;|^AST_API ([^;{]+);"
        for enum, names, struct, fields, function in re.findall(pattern, text, flags=re.S | re.M):
            if enum:
                self._enum(enum, names)
            elif struct:
                self._struct(struct, fields)
            else:
                self._function(" ".join(function.split()))
        for name, body in re.findall(r"^static inline void (\w+)_init\(.*?\{\n(.*?)^\}", text, flags=re.S | re.M):
            set_fields = re.findall(r"options->([\w.]+) = (?:\(double\))?([\w.+-]+);", body)
            if name in self.structs:
                self.defaults[name] = [(field, self._value(value)) for field, value in set_fields]

    def _value(self, text: str) -> float:
        if text in self.constants:
            return self.constants[text]
        if text in ("NAN", "INFINITY"):
            return math.nan if text == "NAN" else math.inf
        return int(text) if re.fullmatch(r"-?\d+", text) else float(text)

    def _enum(self, name: str, body: str) -> None:
        value = -1
        for entry in filter(None, (part.strip() for part in body.split(","))):
            constant, _, given = (part.strip() for part in entry.partition("="))
            value = int(given, 0) if given else value + 1
            self.constants[constant] = value
        self._types[name] = ctypes.c_int

    def _struct(self, name: str, body: str) -> None:
        body = GROUP.sub(lambda group: self._group(name, group[2], group[1]), body)
        fields = []
        for line in filter(None, (" ".join(part.split()) for part in body.split(";"))):
            found = self._fields(line)
            if found is None:
                return
            fields += found
        self._types[name] = type(name, (ctypes.Structure,), {"_fields_": fields})
        if "." not in name:
            self.structs[name] = self._types[name]

    def _group(self, struct: str, field: str, body: str) -> str:
        """Reads `struct { ... } field;` inside a struct, and returns a field of a type with the name "struct.field"."""
        self._struct(f"{struct}.{field}", body)
        return f"{struct}.{field} {field};"

    def _fields(self, line: str) -> list[tuple[str, Any]] | None:
        """`const float *mean`, `size_t width, height`, `double rotation[4]` or `int (*progress)(...)`."""
        pointer = re.match(r".*\(\*(\w+)\)\(.*\)$", line)
        if pointer:
            return [(pointer[1], ctypes.c_void_p)]
        first, *rest = line.split(",")
        base, declarator = split_type(first)
        found = [self._typed(base, one) for one in (declarator, *rest)]
        return None if None in found else found

    def _typed(self, base: str, declarator: str) -> tuple[str, Any] | None:
        match = DECLARATOR.match(declarator.strip())
        if not match or (base not in self._types and not match["stars"]):
            return None
        kind = self._types.get(base)
        if match["stars"]:
            kind = ctypes.c_char_p if (base, match["stars"].strip()) == ("char", "*") else ctypes.c_void_p
        for count in reversed(re.findall(r"\w+", match["counts"])):
            kind = kind * (int(count) if count.isdigit() else self.constants[count])
        return match["name"], kind

    def _function(self, declaration: str) -> None:
        match = re.match(r"(.*?)(\w+)\((.*)\)$", declaration)
        if not match:
            return
        result = self._typed(*split_type(match[1] + "result"))
        given = [] if match[3] in ("", "void") else match[3].split(",")
        given = [re.sub(r"(\w+)(\[\w*\])+$", r"*\1", one) for one in given]  # an array is passed as a pointer
        arguments = [self._typed(*split_type(one)) for one in given]
        if result is not None and None not in arguments:
            self.functions[match[2]] = (result[1], [kind for _, kind in arguments])


def split_type(declaration: str) -> tuple[str, str]:
    """"const float *mean" -> ("float", "*mean")."""
    words = re.sub(r"\b(const|struct)\b", " ", declaration).split(None, 1)
    return words[0], (words[1] if len(words) > 1 else "")
