# SPDX-License-Identifier: MIT
"""Planes of depth images, clouds and meshes: truth, the command's planes, and what is refused."""
import json

import numpy as np
import pytest

import asterism

SIZE = (320, 240)
CAMERA = asterism.hallway_intrinsics(SIZE)


def test_the_floor_of_the_hallway():
    depth = asterism.hallway(0).depth
    found = asterism.planes(depth, asterism.hallway_intrinsics())
    assert all(isinstance(plane, asterism.Plane) for plane in found) and len(found) >= 4
    for plane in found:
        assert np.linalg.norm(plane.normal) == pytest.approx(1)
        assert plane.normal @ plane.centroid == pytest.approx(plane.offset, abs=1e-6)
        np.testing.assert_allclose(plane.outline @ plane.normal, plane.offset, atol=1e-6)
        assert plane.area > 0.05 and plane.count > 0 and plane.rms > 0
    directions = [plane.direction for plane in found]
    assert len(set(directions)) < len(directions)  # parallel walls: one direction, two planes


def test_a_wall_in_metres_and_its_window():
    depth = np.full((240, 320), 2.0)
    depth[80:160, 100:180] = 0
    (wall,) = asterism.planes(depth, (300, 300, 159.5, 119.5))
    whole = 320 * 240 * (2 / 300) ** 2
    np.testing.assert_allclose(wall.normal, [0, 0, -1], atol=1e-3)
    assert wall.offset == pytest.approx(-2, abs=1e-3)
    assert wall.area == pytest.approx(whole * (1 - 80 * 80 / (320 * 240)), rel=0.01)
    assert len(wall.polygons) == 2  # the window is a hole


def test_planes_are_those_of_the_command(command, tmp_path):
    command("sample", "--scene", "hallway", "--frames", 6, "--size", "320x240", "--output", tmp_path / "walk")
    poses = np.loadtxt(tmp_path / "walk" / "poses.txt")
    command("stream", tmp_path / "walk" / "depth", "--angle", 60, "--poses", tmp_path / "walk" / "poses.txt",
            "--planes", tmp_path / "planes", "--plane-labels", tmp_path / "labels")
    world = asterism.PlaneMap(CAMERA)
    for i, row in enumerate(poses):
        found = world.update(asterism.hallway(i, frames=6, size=SIZE).depth, matrix_of(row))
        expected = json.loads((tmp_path / "planes" / f"{i:06}.json").read_text())
        assert [plane.id for plane in found] == [plane["id"] for plane in expected]
        for plane, other in zip(found, expected):
            loose = 1 if plane.count > 500 else 1000  # small planes magnify the last bits of poses
            np.testing.assert_allclose(plane.normal, other["normal"], atol=1e-6 * loose)
            assert plane.count == other["pixels"] and plane.area == pytest.approx(other["area"], rel=1e-6)
            np.testing.assert_allclose(plane.outline, other["outline"], atol=1e-5 * loose)
        np.testing.assert_array_equal(world.labels_, np.load(tmp_path / "labels" / f"{i:06}.npy"))


def matrix_of(row):
    x, y, z, w = row[4:]
    turn = [[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]]
    return np.column_stack([turn, row[1:4]])


def test_a_cloud_of_two_walls():
    rng = np.random.default_rng(1)
    walls = [np.column_stack([rng.uniform(0, 4, 5000), np.full(5000, y), rng.uniform(0, 2, 5000)]) for y in (0, 1.5)]
    points = np.concatenate(walls) + rng.normal(0, 0.002, (10000, 3))
    found, ids = asterism.cloud_planes(points, viewpoint=(2, -5, 1), return_labels=True)
    assert len(found) == 2 and found[0].direction == found[1].direction
    assert sorted(round(plane.offset, 2) for plane in found) == [-1.5, 0]
    assert [plane.area for plane in found] == pytest.approx([8, 8], rel=0.03)
    assert ids.shape == (10000,) and np.ptp(ids[:5000]) == 0 and ids[0] != ids[-1]
    # given normals and labels give the same planes
    normals = np.tile(np.float32([0, -1, 0]), (10000, 1))
    assert len(asterism.cloud_planes(points, normals=normals, labels=np.zeros(10000))) == 2


def test_what_is_refused():
    with pytest.raises(ValueError, match=r"\(N, 3\)"):
        asterism.cloud_planes(np.zeros((5, 2)))
    with pytest.raises(ValueError, match="not on a line"):
        asterism.cloud_planes(np.outer(np.arange(100), [1, 2, 3]))
    with pytest.raises(ValueError, match="3 labels for 40"):
        asterism.cloud_planes(np.random.default_rng(0).random((40, 3)), labels=[0, 0, 0])
    with pytest.raises(ValueError, match="names vertex 9"):
        asterism.mesh_planes(np.eye(3), [[0, 1, 9]])
    with pytest.raises(ValueError, match="the shape"):
        asterism.planes(np.zeros((4, 4, 3)), CAMERA)
    with pytest.raises(ValueError, match="the pose has the shape"):
        asterism.planes(np.ones((24, 32)), CAMERA, pose=np.eye(3))
    world = asterism.PlaneMap(CAMERA)
    world.update(np.ones((24, 32)))
    with pytest.raises(ValueError, match="all frames with poses, or none"):
        world.update(np.ones((24, 32)), np.eye(4))
    assert asterism.planes(np.zeros((24, 32), np.uint16), CAMERA) == []  # nothing was measured


def test_three_points_have_no_plane():
    assert asterism.cloud_planes([[0, 0, 1], [1, 0, 1], [0, 1, 1]]) == []


def test_a_cloud_in_coordinates_of_a_map():
    random = np.random.default_rng(3)
    floor, wall = random.random((3000, 3)) * [4, 3, 0], random.random((3000, 3)) * [4, 0, 3]
    cloud = np.concatenate([floor, wall]) + random.normal(0, 0.002, (6000, 3))
    there = np.array([512702.0, 5403549.0, 301.0])
    near = asterism.cloud_planes(cloud, viewpoint=(2, 1.5, 5))
    far = asterism.cloud_planes(cloud + there, viewpoint=there + (2, 1.5, 5))
    above = asterism.cloud_planes(cloud + there)  # no viewpoint: from above the middle
    assert len(near) == len(far) == len(above) == 2
    for plane, moved, other in zip(near, far, above):
        np.testing.assert_allclose(moved.centroid - there, plane.centroid, atol=1e-3)  # rounding decides in the corner
        np.testing.assert_allclose(moved.normal, plane.normal, atol=1e-4)
        assert moved.normal @ moved.centroid == pytest.approx(moved.offset, abs=1e-6)
        np.testing.assert_allclose((moved.outline - moved.centroid) @ moved.normal, 0, atol=1e-6)
        np.testing.assert_allclose(other.normal, plane.normal, atol=1e-4)
        assert moved.rms == pytest.approx(0.002, rel=0.2)
    vertices = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]]) + there
    (face,) = asterism.mesh_planes(vertices, [[0, 1, 2], [0, 2, 3]])
    assert face.offset == 301 and face.centroid.tolist() == [512702.5, 5403549.5, 301] and face.area == 1


def test_a_rotation_that_has_lost_digits():
    depth = asterism.hallway(0, size=SIZE).depth
    turn = np.array([[0.8, -0.6, 0], [0.6, 0.8, 0], [0, 0, 1]])
    exact, near = np.eye(4), np.eye(4)
    exact[:3, :3], near[:3, :3] = turn, turn * [1.001, 0.9993, 1.0005]
    for found, expected in zip(asterism.planes(depth, CAMERA, pose=near), asterism.planes(depth, CAMERA, pose=exact)):
        assert np.linalg.norm(found.normal) == pytest.approx(1, abs=1e-9)
        np.testing.assert_allclose(found.normal, expected.normal, atol=2e-3)
    with pytest.raises(ValueError, match="rotation"):
        asterism.planes(depth, CAMERA, pose=exact * 1.1)
