# SPDX-License-Identifier: MIT
"""Depth cameras: surface normals of a depth image, their clusters in the shape of the image, and colours for them."""
from __future__ import annotations

import ctypes
import warnings
from typing import Any, NamedTuple

import numpy as np

from ._base import MOST_SEED, flag, real_number, whole_number
from ._library import array_at, constants, defaults, lender, lib, opened, sized, structs
from .stream import DDPVMFMeans

SMOOTH = {"guided": "AST_SMOOTH_GUIDED", "tv": "AST_SMOOTH_TV", "none": "AST_SMOOTH_NONE",
          "planes": "AST_SMOOTH_PLANES", "planes-only": "AST_SMOOTH_PLANES_ONLY", None: "AST_SMOOTH_NONE"}

# Okabe and Ito's hues (Color Universal Design, 2008), which colour-blind people tell apart, and steps towards white
# (above 0) or black for further ids: the colours of the command.
HUES = np.array([[230, 159, 0], [0, 114, 178], [240, 228, 66], [204, 121, 167], [0, 158, 115], [86, 180, 233],
                 [213, 94, 0]])
STEPS = np.array([0, 0.45, -0.4, 0.7, -0.6])


def normals(depth: Any, intrinsics: Any, *, units_per_metre: float | None = None, smooth: str | None = "guided",
            n_threads: int | None = None, **options: Any) -> np.ndarray:
    """(H, W, 3) float32: the unit normals of a depth image, towards the camera; NaN where there is no surface.

    depth: (H, W), uint16 in units of 1 / `units_per_metre` metres (default 1000), or floats in metres; 0 and NaN where
    the camera saw nothing. intrinsics: (fx, fy, cx, cy) in pixels, a 3 x 3 camera matrix, or the name of a camera such
    as "kinect". smooth: "guided" (fast), "tv" (slower, for single images), "planes" (of whole walls, and guided where
    there are none), "planes-only" (NaN there) or "none". options: further fields of ast_depth_options (asterism_depth.h), such as nearest=0.5, window=6, tv_weight=0.2,
    distortion=(k1, k2, p1, p2, k3).

    >>> import asterism
    >>> depth, truth = asterism.hallway(0, size=(160, 120))
    >>> asterism.normals(depth, asterism.hallway_intrinsics((160, 120))).shape
    (120, 160, 3)
    """
    return find_normals(depth, intrinsics, units_per_metre, smooth, n_threads, options)[0]


def find_normals(depth: Any, intrinsics: Any, units_per_metre: float | None, smooth: str | None,
                 n_threads: int | None, options: dict[str, Any]) -> tuple[np.ndarray, Any, np.ndarray | None]:
    """The normals, the ast_depth_report and, with smooth="planes", which pixels are on no plane: (H, W) uint8."""
    values, unit = depth_values(depth, units_per_metre)
    given = depth_options(intrinsics, unit, smooth, options)
    report, late = sized("ast_depth_report"), None
    result = np.empty((*values.shape, 3), np.float32)
    image = sized("ast_depth_image", values=values.ctypes.data, width=values.shape[1], height=values.shape[0],
                                       row_stride=values.strides[0])
    with lender.borrow(n_threads, result.size) as context:
        frame = opened(lib.ast_depth_frame_open, context)
        handle = None
        try:
            handle = opened(lib.ast_depth_open, context, ctypes.byref(given))
            context.check(lib.ast_depth_compute(handle, ctypes.byref(image), None, None, result.ctypes.data, frame))
            context.check(lib.ast_depth_describe(frame, ctypes.byref(report)))
            if report.late:
                late = array_at(report.late, values.shape, np.uint8)
        finally:
            lib.ast_depth_close(handle)
            lib.ast_depth_frame_close(frame)
    return result, report, late


def segment(depth: Any, intrinsics: Any, *, angle: float = 60, stream: Any = None, rotation: Any = None,
            n_threads: int | None = None, **options: Any) -> np.ndarray:
    """(H, W) int32: which direction the surface at every pixel faces; -1 where there is none.

    One image by itself is clustered with DP-vMF-means at `angle`. With `stream`, a `DDPVMFMeans(merge_tracked=True,
    allow_missing=True)`, it is the stream's next frame, and surfaces keep their ids from frame to frame. rotation:
    (3, 3), camera to world, turns the normals first, so that directions stand still while the camera turns. The rest as
    in `normals`, but that smooth is "planes" where it is not given: the normals of whole walls and floors. What lies on
    no plane gets the id of the nearest direction, if that is within the angle, and starts none. A warning says so if more
    than half of the pixels with depth get no id.
    """
    units, smooth = options.pop("units_per_metre", None), options.pop("smooth", "planes")
    found, report, late = find_normals(depth, intrinsics, units, smooth, n_threads, options)
    rows = found.reshape(-1, 3)
    if rotation is not None:
        rows = rows @ np.asarray(rotation, np.float32).reshape(3, 3).T
    if stream is not None and not stream.allow_missing:
        raise ValueError("depth images have holes: the stream needs allow_missing=True")
    model = DDPVMFMeans(angle, allow_missing=True, n_threads=n_threads) if stream is None else stream
    labels = model.partial_fit(rows, late=late).labels_
    warn_of_missing(labels, report, len(rows))
    return labels.reshape(found.shape[:2])


def warn_of_missing(labels: np.ndarray, report: Any, pixels: int) -> None:
    lost = int((labels < 0).sum()) - (pixels - report.pixels)
    if 2 * lost > report.pixels:
        causes = {"are on planes too narrow or too far away for a sure direction": report.uncertain,
                  "are on planes smaller than 1/480 of the image": report.small,
                  "fit no plane: they are curved, cluttered or noisy": report.uneven}
        cause = max(causes, key=lambda name: causes[name]) if any(causes.values()) else "have no normal"
        warnings.warn(f"{lost / report.pixels:.0%} of the pixels with depth have no id: most of them {cause}; "
                      "smooth='guided' gives each pixel a normal of its own", stacklevel=3)


def colors(labels: Any) -> np.ndarray:
    """(..., 3) uint8: a colour for every label, the same as the command's; black for -1.

    >>> import asterism
    >>> asterism.colors([0, 1, -1]).tolist()
    [[230, 159, 0], [0, 114, 178], [0, 0, 0]]
    """
    labels = np.asarray(labels)
    if labels.dtype.kind not in "iub":
        raise ValueError(f"labels are of type {labels.dtype}; they must be integers")
    count = len(HUES) * len(STEPS)
    ids = np.arange(count)
    steps = STEPS[ids // len(HUES)][:, None]
    hues = HUES[ids % len(HUES)]
    palette = (hues + (np.where(steps > 0, 255, 0) - hues) * np.abs(steps) + 0.5).astype(np.uint8)
    palette = np.concatenate([palette, np.zeros((1, 3), np.uint8)])  # -1 takes the last
    return palette[np.where(labels < 0, -1, labels % count)]


class Hallway(NamedTuple):
    """A frame of the ray-cast corridor."""

    depth: np.ndarray  # (H, W) uint16, millimetres, 0 for holes
    truth: np.ndarray  # (H, W) int32, index of the surface's direction (+x -x +y -y +z -z of the world), -1 if curved


def hallway(frame: int = 0, *, frames: int = 120, size: tuple[int, int] = (640, 480), noise: bool = True,
            random_state: int = 1) -> Hallway:
    """A frame of a walk through a ray-cast corridor, as a structured-light camera would see it, with the true answer.
    size: (width, height); `hallway_intrinsics(size)` is its camera."""
    scene = structs["ast_hallway"]()
    lib.ast_hallway_init(ctypes.byref(scene))
    frame, scene.noise = whole_number("frame", frame, 0), flag("noise", noise)
    scene.frames = whole_number("frames", frames, 1)
    scene.seed = whole_number("random_state", random_state, 0, MOST_SEED)
    size = tuple(whole_number("size", pixels, 1) for pixels in size)  # type: ignore[assignment]
    scene.width, scene.height = size
    scene.camera = structs["ast_camera"](*hallway_intrinsics(size))
    depth, truth = np.empty((size[1], size[0]), np.uint16), np.empty((size[1], size[0]), np.int32)
    with lender.borrow(None, depth.size) as context:
        context.check(lib.ast_hallway_render(context.handle, ctypes.byref(scene), frame, depth.ctypes.data,
                                             truth.ctypes.data, None))
    return Hallway(depth, truth)


def hallway_intrinsics(size: tuple[int, int] = (640, 480)) -> tuple[float, float, float, float]:
    """(fx, fy, cx, cy) of the hallway's camera, for images of that size."""
    return (525 * size[0] / 640, 525 * size[0] / 640, (size[0] - 1) / 2, (size[1] - 1) / 2)


# ---- Values ----------------------------------------------------------------------------------------------------------

def depth_values(depth: Any, units_per_metre: float | None) -> tuple[np.ndarray, float]:
    """(H, W) uint16 with tight columns, and their units a metre. Metres become tenths of a millimetre where all of them
    fit, millimetres otherwise."""
    depth = np.asarray(depth)
    if depth.ndim != 2:
        raise ValueError(f"depth has the shape {depth.shape}; it must be (height, width)")
    if depth.dtype.kind == "f":
        if units_per_metre is not None:
            raise ValueError("depth in floats is in metres; units_per_metre is for integers")
        metres = np.where(np.isfinite(depth) & (depth > 0), depth, 0)
        unit = 10000.0 if metres.size and metres.max() < 6.5535 else 1000.0
        return np.minimum(np.rint(metres * unit), 65535).astype(np.uint16), unit
    if depth.dtype.kind not in "ui" or (depth.size and (depth.min() < 0 or depth.max() > 65535)):
        raise ValueError("depth must be uint16, or floats in metres")
    depth = depth.astype(np.uint16, copy=False)
    if not depth.dtype.isnative or (depth.shape[1] > 1 and depth.strides[1] != 2):
        depth = np.ascontiguousarray(depth, np.uint16)
    return depth, 0.0 if units_per_metre is None else real_number("units_per_metre", units_per_metre, "None or a number")


def depth_options(intrinsics: Any, unit: float, smooth: str | None, further: dict[str, Any]) -> Any:
    options = defaults("ast_depth_options")
    usual = ctypes.c_double(options.units_per_metre)
    if isinstance(intrinsics, str):
        if not lib.ast_camera_named(intrinsics.encode(), ctypes.addressof(options) + type(options).camera.offset, ctypes.byref(usual)):
            raise ValueError(f"there is no camera {intrinsics!r}; known are {', '.join(camera_names())}")
    else:
        options.camera = structs["ast_camera"](*camera_numbers(intrinsics))
    options.units_per_metre = unit or usual.value
    if smooth not in SMOOTH:
        raise ValueError(f"smooth is {smooth!r}; it must be 'guided', 'tv', 'none', 'planes' or 'planes-only'")
    options.smooth = constants[SMOOTH[smooth]]
    names = {name for name, _ in options._fields_} - {"size", "camera", "units_per_metre", "smooth"}
    for name, value in further.items():
        if name not in names:
            raise TypeError(f"there is no option {name!r}; there are {', '.join(sorted(names))}")
        setattr(options, name, tuple(value) if name == "distortion" else value)
    return options


def camera_numbers(intrinsics: Any) -> tuple[float, ...]:
    """fx, fy, cx, cy, from four numbers or a camera matrix."""
    numbers = np.asarray(intrinsics, np.float64)
    if numbers.shape == (3, 3):
        return (numbers[0, 0], numbers[1, 1], numbers[0, 2], numbers[1, 2])
    if numbers.shape != (4,):
        raise ValueError(f"intrinsics have the shape {numbers.shape}; they must be (fx, fy, cx, cy), a 3 x 3 matrix or "
                         "the name of a camera")
    return tuple(numbers)


def camera_names() -> list[str]:
    names = []
    while (name := lib.ast_camera_name(len(names))) is not None:
        names.append(name.decode())
    return names
