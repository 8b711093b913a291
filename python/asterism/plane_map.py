# SPDX-License-Identifier: MIT
"""Planes: pieces of walls, floors and faces with position, area and outline, of depth images, clouds and meshes."""
from __future__ import annotations

import contextlib
import ctypes
import os
import weakref
from typing import Any, Iterator, NamedTuple

import numpy as np

from ._base import real_number
from ._library import Context, array_at, lender, lib, opened, records, sized, thread_count
from .depth import depth_options, depth_values
from .means import DPVMFMeans
from .stream import DDPVMFMeans


class Plane(NamedTuple):
    """A piece of a plane: the points p with normal . p = offset, within the outline."""

    id: int  # clouds and meshes: 0, 1, ... from the largest area on; frames of a PlaneMap: kept from frame to frame
    direction: int  # label of the direction that its normals belong to
    normal: np.ndarray  # (3) unit vector
    offset: float  # distance from the origin along the normal
    area: float  # of what was seen, without holes
    centroid: np.ndarray  # (3)
    count: int  # points, faces or pixels
    rms: float  # distance of the points from the plane
    outline: np.ndarray  # (n, 3), counter-clockwise seen from the side of the normal
    polygons: list[np.ndarray]  # the outline, further pieces, and holes (clockwise)


def planes(depth: Any, camera: Any, *, angle: float = 60, pose: Any = None, area: float | None = None,
           units_per_metre: float | None = None, smooth: str | None = "planes", n_threads: int | None = None,
           **options: Any) -> list[Plane]:
    """The planes of a depth image: a list of `Plane`, in metres and coordinates of the camera (x right, y down, z
    forward) or, with a pose, of the world.

    Parallel walls have one direction and are two planes. camera: the intrinsics of `normals`; depth, units_per_metre,
    smooth and options as there. angle: of the directions, in degrees. pose: (3, 4) or (4, 4), camera to world. area:
    smaller planes are left out (default 0.05 square metres). `PlaneMap` follows planes over frames.

    >>> import asterism
    >>> depth, truth = asterism.hallway(0)
    >>> found = asterism.planes(depth, asterism.hallway_intrinsics())
    >>> floor = max(found, key=lambda plane: plane.area)
    >>> bool(10 < floor.area < 16), floor.outline.shape[1]
    (True, 3)
    """
    world = PlaneMap(camera, angle=angle, area=area, units_per_metre=units_per_metre, smooth=smooth,
                     n_threads=n_threads, **options)
    try:
        return world.update(depth, pose)
    finally:
        world.close()


def cloud_planes(points: Any, *, normals: Any = None, labels: Any = None, angle: float = 30, neighbours: int | None = None,
                 viewpoint: Any = None, distance: float | None = None, area: float | None = None,
                 return_labels: bool = False, n_threads: int | None = None) -> Any:
    """The planes of a cloud of points (N, 3): a list of `Plane`, from the largest on.

    normals: (N, 3); None: of planes through `neighbours` points (None: 16, or as many as the noise asks for), towards
    `viewpoint`; None: 0, 0, 0, or, if coordinates are those of a map (1024 or more), above the middle of the cloud; the
    middle of the cloud if surfaces lie in a plane with that place. Points of 64 bits keep their digits: planes of a cloud
    in UTM coordinates are exact to the millimetre. labels: (N) directions of the
    normals; None: those of `DPVMFMeans(angle)`. distance: how far a point may be from its plane; None: from the noise.
    area: smaller planes are left out; None: a thousandth of all. return_labels: also return the id of each point's
    plane, (N) int32, -1 for none.

    >>> import asterism, numpy
    >>> wall = numpy.random.default_rng(1).random((2000, 3)) * [4, 0, 2]
    >>> walls = numpy.concatenate([wall, wall + [0, 1, 0]])
    >>> sorted(round(plane.offset) for plane in asterism.cloud_planes(walls, viewpoint=(2, -5, 1)))
    [-1, 0]
    """
    points, origin = relative(points, "points")
    made = np.empty_like(points)
    with lender.borrow(n_threads, 6 * points.size) as context:
        if normals is None:
            towards = (ctypes.c_double * 3)()
            if viewpoint is not None:
                towards[:] = [float(a) - b for a, b in zip(viewpoint, origin)]
            elif any(origin):
                lib.ast_cloud_above(points.ctypes.data, len(points), towards)
            given = sized("ast_cloud_options", neighbours=16 if neighbours is None else neighbours,
                          viewpoint=tuple(towards), adaptive=neighbours is None)
            context.check(lib.ast_cloud_normals(context.handle, points.ctypes.data, len(points), ctypes.byref(given),
                                                made.ctypes.data, None))
            if viewpoint is None:
                context.check(lib.ast_cloud_orient(context.handle, points.ctypes.data, len(points), made.ctypes.data,
                                                   towards))
        else:
            made = same_length(triples(normals, "normals"), points, "normals")
        chosen = directions(made, labels, angle, n_threads)
        plane_of = np.empty(len(points), np.int32)
        with opened_map(context, distance, area, origin) as handle:
            context.check(lib.ast_plane_map_cloud(handle, points.ctypes.data, made.ctypes.data, chosen.ctypes.data,
                                                  len(points), plane_of.ctypes.data))
            found = planes_of(handle)
    return (found, plane_of) if return_labels else found


def mesh_planes(vertices: Any, faces: Any, *, labels: Any = None, angle: float = 10, distance: float | None = None,
                area: float | None = None, return_labels: bool = False, n_threads: int | None = None) -> Any:
    """The planes of a mesh of triangles, vertices (V, 3) and faces (M, 3): a list of `Plane`, from the largest on. Areas
    are those of the faces. labels: (M) directions of the faces; the rest as in `cloud_planes`.

    >>> import asterism
    >>> corners = [[x, y, z] for x in (0, 1) for y in (0, 2) for z in (0, 3)]
    >>> sides = [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5]]  # x = 0 and x = 1
    >>> [(plane.normal.tolist(), plane.offset, plane.area) for plane in asterism.mesh_planes(corners, sides)]
    [([-1.0, 0.0, 0.0], 0.0, 6.0), ([1.0, 0.0, 0.0], 1.0, 6.0)]
    """
    vertices, origin = relative(vertices, "vertices")
    faces = np.ascontiguousarray(faces, np.int32)
    if faces.ndim != 2 or faces.shape[1] != 3:
        raise ValueError(f"faces have the shape {faces.shape}; they must be (M, 3)")
    made = np.empty((len(faces), 3), np.float32)
    with lender.borrow(n_threads, 6 * (vertices.size + faces.size)) as context:
        context.check(lib.ast_mesh_normals(context.handle, vertices.ctypes.data, len(vertices), faces.ctypes.data,
                                           len(faces), made.ctypes.data, None))
        chosen = directions(made, labels, angle, n_threads)
        plane_of = np.empty(len(faces), np.int32)
        with opened_map(context, distance, area, origin) as handle:
            context.check(lib.ast_plane_map_mesh(handle, vertices.ctypes.data, len(vertices), faces.ctypes.data,
                                                 len(faces), chosen.ctypes.data, plane_of.ctypes.data))
            found = planes_of(handle)
    return (found, plane_of) if return_labels else found


class PlaneMap:
    """The planes of a stream of depth images. A plane keeps its id from frame to frame.

    With poses planes are in the world, what all frames saw of a plane adds up, and a plane that comes into view again has
    its id. Without poses planes are in the camera, and frames must follow each other closely.

    camera: the intrinsics of `normals`; angle: of the directions, in degrees; offset: how far apart the planes of two
    frames may be to count as one, in metres; area: the smallest new plane, default 0.05 square metres; the rest as in
    `normals`.

    Attributes
    ----------
    labels_ : (H, W) int32, the id of the plane of each pixel of the last frame, -1 for none
    directions_ : (H, W) int32, the direction of each pixel, as `segment` gives it

    Examples
    --------
    >>> import asterism
    >>> world = asterism.PlaneMap(asterism.hallway_intrinsics((320, 240)))
    >>> ids = [{plane.id for plane in world.update(asterism.hallway(i, size=(320, 240)).depth)} for i in range(3)]
    >>> len(ids[0] & ids[1] & ids[2]) >= 3
    True
    """

    labels_: np.ndarray
    directions_: np.ndarray

    def __init__(self, camera: Any, *, angle: float = 60, offset: float = 0.1, area: float | None = None,
                 units_per_metre: float | None = None, smooth: str | None = "planes", n_threads: int | None = None,
                 **options: Any) -> None:
        self._camera, self._unit, self._smooth, self._options = camera, units_per_metre, smooth, options
        self._stream = DDPVMFMeans(angle, revive_near=True, allow_missing=True, n_threads=n_threads)
        self._context = Context(thread_count(n_threads))
        self._depth: int | None = None
        self._unit_used: float | None = None
        self._map = open_map(self._context, None, area, offset)
        self._frame = opened(lib.ast_depth_frame_open, self._context)
        self._held = {"depth": None, "map": self._map, "frame": self._frame}
        self.close = weakref.finalize(self, close_map, self._held, self._context)

    def update(self, depth: Any, pose: Any = None) -> list[Plane]:
        """Takes the next image and returns its planes. pose: (3, 4) or (4, 4), camera to world; all images have one, or
        none has."""
        values, unit = depth_values(depth, self._unit)
        matrix = None if pose is None else pose_matrix(pose)
        self._open(unit)
        image = sized("ast_depth_image", values=values.ctypes.data, width=values.shape[1], height=values.shape[0],
                      row_stride=values.strides[0])
        normals = np.empty((*values.shape, 3), np.float32)
        self._context.check(lib.ast_depth_compute(self._depth, ctypes.byref(image), None, None, normals.ctypes.data,
                                                  self._frame))
        rows = normals.reshape(-1, 3)
        if matrix is not None:
            rows = (rows @ matrix[:, :3].T.astype(np.float32)).astype(np.float32)
        self.directions_ = self._stream.partial_fit(rows).labels_.reshape(values.shape)
        self.labels_ = np.empty(values.shape, np.int32)
        self._context.check(lib.ast_plane_map_frame(self._map, self._frame, self.directions_.ctypes.data,
                                                    None if matrix is None else matrix.ctypes.data,
                                                    self.labels_.ctypes.data))
        return planes_of(self._map)

    def _open(self, unit: float) -> None:
        """The depth converter, once the first image says what its units are."""
        if self._context.process != os.getpid():
            raise RuntimeError("a PlaneMap cannot be used in a forked process; open another one there")
        if self._depth is not None and unit == self._unit_used:
            return
        given = depth_options(self._camera, unit, self._smooth, {**self._options, "planes": 1})
        lib.ast_depth_close(self._depth)
        self._depth = self._held["depth"] = None
        self._depth = self._held["depth"] = opened(lib.ast_depth_open, self._context, ctypes.byref(given))
        self._unit_used = unit


# ---- Below the surface -----------------------------------------------------------------------------------------------

def open_map(context: Context, distance: float | None, area: float | None, offset: float = 0.1,
             origin: tuple[float, ...] = (0, 0, 0)) -> int:
    given = sized("ast_plane_options", distance=0 if distance is None else real_number("distance", distance, "None or a number"),
                  area=-1 if area is None else real_number("area", area, "None or a number"), offset=float(offset), origin=origin)
    return opened(lib.ast_plane_map_open, context, ctypes.byref(given))


@contextlib.contextmanager
def opened_map(context: Context, distance: float | None, area: float | None,
               origin: tuple[float, ...]) -> Iterator[int]:
    handle = open_map(context, distance, area, origin=origin)
    try:
        yield handle
    finally:
        lib.ast_plane_map_close(handle)


def close_map(held: dict[str, int | None], context: Context) -> None:
    if context.process == os.getpid():
        lib.ast_plane_map_close(held["map"])
        lib.ast_depth_frame_close(held["frame"])
        lib.ast_depth_close(held["depth"])
        context.close()


def planes_of(handle: int) -> list[Plane]:
    """Copies of the planes of the last result."""
    return [plane_of_record(record) for record in records(lib.ast_plane_records, handle, "ast_plane_info")]


def plane_of_record(record: Any) -> Plane:
    ends = array_at(record.ends, (record.polygons,), np.uintp).astype(int)
    vertices = array_at(record.vertices, (int(ends[-1]), 3), np.float64)
    polygons = np.split(vertices, ends[:-1])
    return Plane(record.id, record.direction, np.array(record.normal), record.offset, record.area,
                 np.array(record.centroid), record.count, record.rms, polygons[0], polygons)


def triples(values: Any, name: str) -> np.ndarray:
    values = np.ascontiguousarray(values, np.float32)
    if values.ndim != 2 or values.shape[1] != 3:
        raise ValueError(f"{name} have the shape {values.shape}; they must be (N, 3)")
    return values


def relative(values: Any, name: str) -> tuple[np.ndarray, tuple[float, ...]]:
    """Points as floats relative to an origin, which is 0 unless they are numbers of more digits far from 0."""
    values = np.asarray(values)
    if values.dtype in (np.float16, np.float32) or values.ndim != 2 or values.shape[1] != 3:
        return triples(values, name), (0, 0, 0)
    values = np.ascontiguousarray(values, np.float64)
    origin = (ctypes.c_double * 3)()
    made = np.empty(values.shape, np.float32)
    lib.ast_cloud_relative(values.ctypes.data, len(values), origin, made.ctypes.data)
    return made, tuple(origin)


def same_length(values: np.ndarray, points: np.ndarray, name: str) -> np.ndarray:
    if len(values) != len(points):
        raise ValueError(f"there are {len(values)} {name} for {len(points)} points or faces")
    return values


def directions(normals: np.ndarray, labels: Any, angle: float, n_threads: int | None) -> np.ndarray:
    if labels is not None:
        labels = np.ascontiguousarray(labels, np.int32).reshape(-1)
        return same_length(labels, normals, "labels")
    if not np.isfinite(normals).all(axis=1).any():
        raise ValueError("no normal could be found: at least three points are needed that are not on a line")
    return np.ascontiguousarray(DPVMFMeans(angle, allow_missing=True, n_threads=n_threads).fit(normals).labels_)


def pose_matrix(pose: Any) -> np.ndarray:
    matrix = np.asarray(pose, np.float64)
    if matrix.shape not in ((3, 4), (4, 4)):
        raise ValueError(f"the pose has the shape {matrix.shape}; it must be (3, 4) or (4, 4), camera to world")
    matrix = np.ascontiguousarray(matrix[:3])
    turn = matrix[:, :3]
    if 1e-9 < abs(turn.T @ turn - np.eye(3)).max() < 0.01:  # the digits that a text has lost; worse is refused
        left, _, right = np.linalg.svd(turn)
        matrix = np.hstack([left @ right, matrix[:, 3:]])
    return np.ascontiguousarray(matrix)
