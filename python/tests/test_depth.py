# SPDX-License-Identifier: MIT
"""Depth images: the command's normals and labels, what a depth image may be, and pictures."""
import json
import sys

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import asterism

SIZE = (320, 240)
CAMERA = asterism.hallway_intrinsics(SIZE)


@pytest.fixture(scope="module")
def scene(command, tmp_path_factory):
    """Six frames of the hallway, by the command."""
    folder = tmp_path_factory.mktemp("hallway")
    command("sample", "--scene", "hallway", "--frames", 6, "--size", "320x240", "--output", folder / "walk")
    return folder / "walk"


def as_text(camera):
    return ",".join(map(str, camera))


@pytest.mark.parametrize("smooth", ["guided", "tv", "none"])
def test_normals_are_those_of_the_command(command, scene, smooth, tmp_path):
    depth, truth = asterism.hallway(2, frames=6, size=SIZE)
    np.testing.assert_array_equal(truth, np.load(scene / "truth" / "000002.npy"))
    command("normals", scene / "depth" / "000002.png", "--intrinsics", as_text(CAMERA), "--smooth", smooth,
            "--output", tmp_path / "normals.npy")
    np.testing.assert_array_equal(asterism.normals(depth, CAMERA, smooth=smooth), np.load(tmp_path / "normals.npy"))


def test_segments_are_those_of_the_command(command, scene, tmp_path):
    command("stream", scene / "depth", "--intrinsics", as_text(CAMERA), "--angle", 60, "--labels", tmp_path / "ids")
    stream = asterism.DDPVMFMeans(60, revive_near=True, allow_missing=True)
    for frame in range(6):
        labels = asterism.segment(asterism.hallway(frame, frames=6, size=SIZE).depth, CAMERA, stream=stream)
        np.testing.assert_array_equal(labels, np.load(tmp_path / "ids" / f"{frame:06}.npy"))
    assert json.loads((scene / "camera.json").read_text())["fx"] == CAMERA[0]


def test_one_image_by_itself():
    depth, truth = asterism.hallway(0, size=SIZE)
    labels = asterism.segment(depth, CAMERA, angle=45)
    assert labels.shape == (240, 320) and labels.dtype == np.int32
    known = (truth >= 0) & (labels >= 0)
    assert known.mean() > 0.4 and adjusted_rand_score(truth[known], labels[known]) > 0.9


def test_a_rotation_turns_the_directions():
    depth = asterism.hallway(0, size=SIZE).depth
    streams = [asterism.DDPVMFMeans(60, allow_missing=True) for _ in range(2)]
    turn = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1.0]])
    plain, turned = (asterism.segment(depth, CAMERA, stream=s, rotation=r) for s, r in zip(streams, (None, turn)))
    np.testing.assert_array_equal(plain, turned)
    np.testing.assert_allclose(streams[1].cluster_centers_, streams[0].cluster_centers_ @ turn.T, atol=1e-5)


@pytest.mark.parametrize("convert", [np.asfortranarray, lambda d: np.repeat(d, 2, axis=1)[:, ::2],
                                     lambda d: d.astype(np.int64), lambda d: d.astype(">u2"), lambda d: d.tolist()])
def test_depth_in_other_clothes(convert):
    depth = asterism.hallway(0, size=SIZE).depth
    np.testing.assert_array_equal(asterism.normals(convert(depth), CAMERA), asterism.normals(depth, CAMERA))


def test_metres_and_cameras():
    depth = asterism.hallway(0, size=SIZE).depth
    expected = asterism.normals(depth, CAMERA)
    fx, fy, cx, cy = CAMERA
    matrix = [[fx, 0, cx], [0, fy, cy], [0, 0, 1]]
    np.testing.assert_array_equal(asterism.normals(depth, matrix), expected)
    metres = np.where(depth > 0, depth / 1000, np.nan)
    close = asterism.normals(metres, CAMERA)
    both = ~np.isnan(close[..., 0]) & ~np.isnan(expected[..., 0])
    assert both.mean() > 0.4
    assert np.median(np.einsum("ijk,ijk->ij", close, expected)[both]) > 0.9999
    # "tum-fr1" knows its units: 5000 a metre
    named = asterism.normals(np.minimum(depth.astype(int) * 5, 65535), "tum-fr1", smooth="none")
    again = asterism.normals(np.minimum(depth.astype(int) * 5, 65535), (517.3, 516.5, 318.6, 255.3),
                             units_per_metre=5000, smooth="none")
    np.testing.assert_allclose(named, again, atol=0.02)


@pytest.mark.parametrize("arguments, options, kind, words", [
    ((np.zeros((4, 4), np.uint16), "polaroid"), {}, ValueError, "no camera 'polaroid'; known are .*kinect"),
    ((np.zeros((4, 4), np.uint16), (1, 2)), {}, ValueError, r"intrinsics have the shape \(2,\)"),
    ((np.zeros((4, 4), np.uint16), (0, 0, 0, 0)), {}, ValueError, "camera"),
    ((np.zeros((4, 4, 3), np.uint16), CAMERA), {}, ValueError, r"depth has the shape \(4, 4, 3\)"),
    ((np.full((4, 4), 70000), CAMERA), {}, ValueError, "depth must be uint16"),
    ((np.ones((4, 4)), CAMERA), {"units_per_metre": 5000}, ValueError, "floats is in metres"),
    ((np.zeros((4, 4), np.uint16), CAMERA), {"smooth": "much"}, ValueError, "smooth is 'much'"),
    ((np.zeros((4, 4), np.uint16), CAMERA), {"windows": 3}, TypeError, "there is no option 'windows'; .*window"),
    ((np.zeros((4, 4), np.uint16), CAMERA), {"window": 0}, ValueError, "window"),
])
def test_wrong_arguments(arguments, options, kind, words):
    with pytest.raises(kind, match=words):
        asterism.normals(*arguments, **options)


def test_holes_everywhere_and_a_stream_that_minds():
    assert np.isnan(asterism.normals(np.zeros((8, 8), np.uint16), CAMERA)).all()
    assert (asterism.segment(np.zeros((8, 8), np.uint16), CAMERA) == -1).all()
    with pytest.raises(ValueError, match="allow_missing=True"):
        asterism.segment(np.zeros((8, 8), np.uint16), CAMERA, stream=asterism.DDPVMFMeans())


def test_colours_are_those_of_the_command():
    assert asterism.colors(7).tolist() == [241, 202, 115]  # the first hue, 0.45 towards white
    assert asterism.colors(14).tolist() == [138, 95, 0]
    assert asterism.colors(np.array([[35, -1], [-5, 0]])).tolist() == [[[230, 159, 0], [0, 0, 0]],
                                                                      [[0, 0, 0], [230, 159, 0]]]


def test_plots(three_ways, tmp_path):
    X, truth = three_ways
    ax = asterism.plot.sphere(np.vstack([X, [[np.nan, 0, 0], [0, 0, 0]]]), np.append(truth, [-1, -1]))
    assert len(ax.collections[0].get_offsets()) == 300
    colours = ax.collections[0].get_facecolor()
    assert len(np.unique(colours.round(3), axis=0)) >= 3
    ax.figure.savefig(tmp_path / "sphere.png")
    assert asterism.plot.sphere(X[:, :2]).get_xlabel() == "x"
    stream = asterism.DDPVMFMeans(40, history=3).enroll(np.eye(3), ["a", "b", "c"])
    for _ in range(5):
        stream.partial_fit(X)
    ax = asterism.plot.shares(stream)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b", "c"]
    assert ax.collections[0].get_paths()[0].vertices[:, 0].max() == 4  # frames 2, 3, 4 are kept
    ax.figure.savefig(tmp_path / "shares.png")
    assert asterism.plot.shares([]).get_legend() is None
    with pytest.raises(ValueError, match="a picture takes"):
        asterism.plot.sphere(np.ones((3, 5)))
    with pytest.raises(ValueError, match="there are 2 labels for 300 rows"):
        asterism.plot.sphere(X, [0, 1])


def test_without_matplotlib(monkeypatch, three_ways):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match="asterism.plot needs matplotlib"):
        asterism.plot.sphere(three_ways[0])


def test_what_lies_on_no_plane_is_late(command, scene, tmp_path):
    depth = asterism.hallway(2, frames=6, size=SIZE).depth
    found = {smooth: asterism.normals(depth, CAMERA, smooth=smooth) for smooth in ("planes", "planes-only")}
    own = np.isfinite(found["planes-only"])
    np.testing.assert_array_equal(found["planes"][own], found["planes-only"][own])
    assert (~own & np.isfinite(found["planes"])).any()  # the normals of uncertain planes, or guided ones
    labels, strict = (asterism.segment(depth, CAMERA, smooth=smooth) for smooth in ("planes", "planes-only"))
    np.testing.assert_array_equal(labels[own[..., 0]], strict[own[..., 0]])
    assert ((labels < 0) & (depth > 0)).sum() < ((strict < 0) & (depth > 0)).sum()
    command("cluster", scene / "depth" / "000002.png", "--intrinsics", as_text(CAMERA), "--smooth", "planes",
            "--angle", 60, "--labels", tmp_path / "labels.npy")
    np.testing.assert_array_equal(labels, np.load(tmp_path / "labels.npy"))


def test_late_rows_start_no_cluster():
    rows = np.array([[1, 0, 0], [0, 1, 0], [0.9, 0.1, 0], [0, 0, 1.0]])
    stream = asterism.DDPVMFMeans(30).partial_fit(rows, late=[0, 0, 1, 1])
    np.testing.assert_array_equal(stream.labels_, [0, 1, 0, -1])
    assert [event.count for event in stream.events_] == [2, 1]
    np.testing.assert_array_equal(stream.cluster_centers_, rows[:2].astype(np.float32))
    with pytest.raises(ValueError, match="late has 3 entries for 4 rows"):
        stream.partial_fit(rows, late=[0, 0, 1])


def test_a_picture_without_planes_gets_a_warning():
    noise = np.random.default_rng(1).integers(500, 9000, SIZE[::-1]).astype(np.uint16)
    with pytest.warns(UserWarning, match="of the pixels with depth have no id"):
        asterism.segment(noise, CAMERA)
    with pytest.warns(UserWarning, match="too narrow or too far away"):
        asterism.segment(asterism.hallway(2, size=SIZE).depth, CAMERA, filter_epsilon=0.5)
