# SPDX-License-Identifier: MIT
"""Field measurements: dips, strikes, trends and plunges as they are written, and the statistics that geologists ask for."""
from __future__ import annotations

import ctypes
import os
from typing import Any, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from ._base import MOST_SEED, column_of, whole_number
from ._compat import Bunch
from ._library import constants, defaults, lender, lib, points_of, sized, structs
from .tuning import checked_rows

NOTATIONS = {"dip-direction": "AST_DIP_DIRECTION", "strike-dip": "AST_STRIKE_DIP", "trend-plunge": "AST_TREND_PLUNGE",
             "azimuth": "AST_AZIMUTH"}
SHAPES = ("uniform", "cluster", "girdle")
DIP_DIRECTION, DIP, STRIKE, TREND, PLUNGE, AZIMUTH = range(1, 7)
FIRST = {"dip-direction": (DIP_DIRECTION, AZIMUTH), "strike-dip": (STRIKE, AZIMUTH),
         "trend-plunge": (TREND, AZIMUTH, DIP_DIRECTION), "azimuth": (AZIMUTH, TREND, DIP_DIRECTION, STRIKE)}
SECOND = {"dip-direction": (DIP, PLUNGE), "strike-dip": (DIP, PLUNGE), "trend-plunge": (PLUNGE, DIP), "azimuth": ()}


class Orientation(Bunch):
    """What `orientation` returns."""

    eigenvalues: NDArray[np.float64]
    axes: NDArray[np.float64]
    shape: str
    shape_ratio: float
    strength: float
    statistic: float
    p: float


class CommonMean(Bunch):
    """What `compare` returns."""

    watson: float
    watson_p: float
    critical: float
    f: float
    f_p: float
    bootstrap_p: float
    kappa_ratio: float
    kappa_p: float
    angle: float
    critical_angle: float
    mean: NDArray[np.float64]
    means: NDArray[np.float64]
    precision: NDArray[np.float64]
    alpha95: NDArray[np.float64]


def word(value: Any) -> bytes | None:
    if value is None:
        return b""
    return repr(float(value)).encode() if isinstance(value, (float, int, np.number)) else str(value).encode()


def field_vectors(first: Iterable[Any], second: Iterable[Any] | None = None, *, notation: str) -> NDArray[np.float32]:
    """Unit vectors of angles in degrees, x east, y north, z up: (N, 3), of azimuths (N, 2).

    notation : "dip-direction", "strike-dip" (right-hand rule), "trend-plunge" or "azimuth"
    first, second : azimuths and inclinations, numbers or words such as "N40E" and "61SE"; without `second` words such as
        "040/61". Missing ones ("n/a", NaN) become NaN.

    >>> import asterism
    >>> asterism.field_vectors([90, "N90E"], [0, "90"], notation="dip-direction").tolist()
    [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    """
    if notation not in NOTATIONS:
        raise ValueError(f"notation is {notation!r}; it must be one of {', '.join(NOTATIONS)}")
    kind, first = constants[NOTATIONS[notation]], list(first)
    others: Sequence[Any] = [None] * len(first) if second is None else list(second)
    if len(others) != len(first):
        raise ValueError(f"there are {len(first)} azimuths and {len(others)} inclinations")
    a, b, vector = ctypes.c_double(), ctypes.c_double(), (ctypes.c_double * 3)()
    result = np.full((len(first), 2 if notation == "azimuth" else 3), np.nan, np.float32)
    for i, (one, other) in enumerate(zip(first, others)):
        azimuth = word(None if one is None or one != one else one)
        inclination = None if second is None else word(None if other is None or other != other else other)
        problem = lib.ast_field_read(kind, azimuth, inclination, ctypes.byref(a), ctypes.byref(b))
        if problem:
            raise ValueError(f"row {i + 1}: {one!r}{'' if second is None else f', {other!r}'} {problem.decode()}")
        if abs(a.value) > 360 or abs(b.value) > 90:
            raise ValueError(f"row {i + 1}: {a.value:g}, {b.value:g} are not an azimuth up to 360 and an inclination up "
                             "to 90 degrees, in this order")
        if notation == "azimuth":
            result[i] = np.sin(np.radians(a.value)), np.cos(np.radians(a.value))
        elif a.value == a.value and b.value == b.value:
            plane = notation != "trend-plunge"
            lib.ast_vector_of(constants["AST_PLANE" if plane else "AST_LINE"],
                              a.value + 90 * (notation == "strike-dip"), b.value, vector)
            result[i] = vector
    return result


def read_field(path: str | os.PathLike[str], notation: str, columns: Sequence[str] | None = None
               ) -> NDArray[np.float32]:
    """The vectors of a text with a header: the columns whose names say azimuth and inclination, in any order, or
    `columns`, their names. The command reads more kinds of files.

    >>> import asterism, io
    >>> asterism.read_field(io.StringIO("site;dip;strike\\nA;61,0;N40E\\n"), "strike-dip").round(2).tolist()
    [[0.6700000166893005, -0.5600000023841858, 0.47999998927116394]]
    """
    if notation not in NOTATIONS:
        raise ValueError(f"notation is {notation!r}; it must be one of {', '.join(NOTATIONS)}")
    if hasattr(path, "read"):
        lines = path.read().splitlines()
    else:
        with open(path, encoding="utf-8-sig") as file:
            lines = file.read().splitlines()
    lines = [line for line in lines if line.strip() and not line.startswith("#")]
    if lines and lines[0].startswith(("tab\t", "tab ")):
        lines = lines[1:]
    if not lines:
        raise ValueError("the file has no line")
    separator = next((s for s in "\t;," if s in lines[0]), None)
    rows = [[cell.strip().strip('"') for cell in line.split(separator)] for line in lines]
    header, rows = rows[0], rows[1:]
    chosen = [choose_column(header, kinds) for kinds in (FIRST[notation], SECOND[notation]) if kinds]
    if columns is not None:
        chosen = [header.index(name) if name in header else None for name in columns]
    if None in chosen or not rows:
        raise ValueError(f"the columns of the header are {', '.join(header)}, and not those of {notation}; "
                         "`columns` names them")
    for number, row in enumerate(rows):
        if len(row) != len(header):
            raise ValueError(f"row {number + 1} has {len(row)} columns, but the header has {len(header)}")
    angles = [[row[c] for row in rows] for c in chosen if c is not None]
    return field_vectors(angles[0], angles[1] if len(angles) > 1 else None, notation=notation)


def choose_column(header: Sequence[str], kinds: Sequence[int]) -> int | None:
    found = [column_of(name) for name in header]
    return next((found.index(kind) for kind in kinds if kind in found), None)


def orientation(X: Any, *, axial: bool = False) -> Orientation:
    """The orientation tensor of directions in three dimensions and Gine's test of uniformity.

    A dictionary whose keys are attributes too: `eigenvalues`, largest first, and their `axes`; Woodcock's `shape_ratio`
    K and `strength` C; `shape`: cluster, girdle or uniform; `statistic` and `p` of Gine's F, of axes Gine's G.

    >>> import asterism, numpy as np
    >>> angle = np.linspace(0, np.pi, 50, endpoint=False)
    >>> asterism.orientation(np.c_[np.cos(angle), np.sin(angle), 0 * angle], axial=True).shape
    'girdle'
    """
    X = checked_rows(X)
    found = sized("ast_orientation")
    view = points_of(X)
    with lender.borrow(None, X.size) as context:
        context.check(lib.ast_orientation_of(context.handle, ctypes.byref(view), int(axial), ctypes.byref(found)))
    return Orientation(eigenvalues=np.array(found.eigenvalues), axes=np.array([list(axis) for axis in found.axes]),
                       shape=SHAPES[found.shape], shape_ratio=found.shape_ratio, strength=found.strength,
                       statistic=found.statistic, p=found.p)


def compare(*sets: Any, axial: bool = False, reversal: bool = False, simulations: int = 5000,
            random_state: int = 1) -> CommonMean:
    """Whether sets of directions in three dimensions have one mean and one concentration: `asterism compare`.

    A dictionary whose keys are attributes too: `watson`, `watson_p` (by draws), `bootstrap_p`; `f`, `f_p` (Watson and
    Williams, equal concentrations); `kappa_ratio`, `kappa_p` (Bartlett); the common `mean`; `angle` between two means
    and the `critical_angle` at 5%; and for each set `means`, `precision` and `alpha95`.

    >>> import asterism
    >>> X, _ = asterism.sample(80, dimension=3, clusters=1, kappa=30)
    >>> asterism.compare(X[:40], X[40:]).watson_p > 0.05
    True
    """
    simulations = whole_number("simulations", simulations, 100)
    options = defaults("ast_common_mean_options")
    options.axial, options.reversal, options.simulations = int(axial), int(reversal), simulations
    options.seed = whole_number("random_state", random_state, 0, MOST_SEED)
    arrays = [checked_rows(X) for X in sets]
    if len(arrays) < 2:
        raise ValueError(f"a comparison needs at least two sets, not {len(arrays)}")
    views = [points_of(X) for X in arrays]
    given = (structs["ast_points"] * len(views))(*views)
    each, found = (structs["ast_set_mean"] * len(views))(), sized("ast_common_mean")
    with lender.borrow(None, sum(X.size for X in arrays)) as context:
        context.check(lib.ast_common_mean_of(context.handle, given, len(views), ctypes.byref(options), each,
                                             ctypes.byref(found)))
    names = ("watson", "watson_p", "critical", "f", "f_p", "bootstrap_p", "kappa_ratio", "kappa_p", "angle",
             "critical_angle")
    return CommonMean(**{name: getattr(found, name) for name in names}, mean=np.array(found.mean),
                      means=np.array([list(one.mean) for one in each]),
                      precision=np.array([one.precision for one in each]),
                      alpha95=np.array([one.alpha95 for one in each]))
