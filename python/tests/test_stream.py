# SPDX-License-Identifier: MIT
"""The stream estimator: the command's ids, events, enrolment, copies that go their own way, forks."""
import copy
import json
import os
import pickle

import numpy as np
import pytest

from asterism import DDPVMFMeans


def turned(X, degrees):
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return X @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])


@pytest.fixture(scope="module")
def frames():
    """Fifty frames of five directions that turn by half a degree each; one of them is away from 10 to 30."""
    random = np.random.RandomState(4)
    ways = np.array([[1, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0], [0, 0, 1]], float)
    result = []
    for t in range(50):
        here = np.repeat(np.arange(5), 60)
        here = here[here != 2] if 10 <= t < 30 else here
        points = turned(ways[random.permutation(here)], t / 2) + 0.1 * random.normal(size=(len(here), 3))
        result.append(points.astype(np.float32))
    return result


@pytest.mark.parametrize("options, model", [
    (("--angle", 40, "--drift", 0.7), DDPVMFMeans(40, drift=0.7)),
    (("--angle", 40, "--beta", 20, "--lifetime", 15), DDPVMFMeans(40, beta=20, lifetime=15)),
])
def test_ids_are_those_of_the_command(command, frames, tmp_path, options, model):
    for t, X in enumerate(frames):
        np.save(tmp_path / f"{t:03}.npy", X)
    files = sorted(tmp_path.glob("*.npy"))
    lines = [json.loads(line) for line in
             command("stream", *files, *options, "--all", "--labels", tmp_path / "ids").splitlines()]
    for t, X in enumerate(frames):
        model.partial_fit(X)
        np.testing.assert_array_equal(model.labels_, np.load(tmp_path / "ids" / f"{t:03}.npy"))
        assert [(e.id, e.event, e.age, e.count) for e in model.events_] == \
            [(c["id"], c["event"], c["age"], c["count"]) for c in lines[t]["clusters"]]
        assert (model.n_iter_, model.objective_) == (lines[t]["iterations"], lines[t]["objective"])
    assert model.n_frames_ == 50


def test_who_comes_back_has_the_old_id(frames):
    model, happened = DDPVMFMeans(40, drift=0.7), []
    for X in frames:
        happened += [(model.n_frames_, e.id, e.event) for e in model.partial_fit(X).events_ if e.event != "seen"]
    away = next(i for t, i, event in happened if (t, event) == (11, "unseen"))  # frames seen so far
    assert (31, away, "revived") in happened
    assert model.ids_.tolist() == [0, 1, 2, 3, 4]
    assert len(model.history_) == 50 and sum(model.history_[0].values()) == pytest.approx(1)
    assert away in model.history_[9] and away not in model.history_[10]


def test_attributes_of_a_frame(frames):
    model = DDPVMFMeans(40).fit(frames[0])
    np.testing.assert_array_equal(model.predict(frames[0]), model.labels_)
    own = np.einsum("ij,ij->i", frames[0], model.cluster_centers_[model.labels_]) / np.linalg.norm(frames[0], axis=1)
    np.testing.assert_allclose(model.similarity_, own, atol=1e-6)
    assert np.all((model.kappas_ > 50) & (model.kappas_ < 200))
    assert model.transform(frames[0]).shape == (300, 5)
    assert model.predict([[1, 1, -1]]).tolist() == [-1]
    assert model.set_params(outlier_angle=90).predict([[1, 1, -1]])[0] >= 0


def test_fit_forgets(frames):
    model = DDPVMFMeans(40)
    for X in frames[:5]:
        model.partial_fit(X)
    np.testing.assert_array_equal(model.fit(frames[0]).labels_, DDPVMFMeans(40).fit(frames[0]).labels_)
    assert model.n_frames_ == 1 and len(model.history_) == 1


def test_death_empty_frames_and_limits():
    model = DDPVMFMeans(30, lifetime=3).partial_fit(np.eye(3))
    for _ in range(3):
        model.partial_fit(np.empty((0, 3)))
    assert [e.event for e in model.events_] == ["died"] * 3
    assert len(model.ids_) == 0 and model.cluster_centers_.shape == (0, 3)
    assert model.predict(np.eye(3)).tolist() == [-1] * 3 and model.kappas_.shape == (0,)
    assert model.partial_fit(np.eye(3)).labels_.tolist() == [3, 4, 5]
    assert len(DDPVMFMeans(30, max_clusters=2).fit(np.eye(3)).ids_) == 2
    short = DDPVMFMeans(30, history=2)
    for _ in range(4):
        short.partial_fit(np.eye(3))
    assert len(short.history_) == 2


def test_missing_rows_and_a_refused_frame():
    X = np.array([[1, 0], [np.nan, 1], [0, 1]])
    model = DDPVMFMeans(30).partial_fit(np.eye(2))
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(X)
    assert model.n_frames_ == 1
    assert model.set_params(allow_missing=True).partial_fit(X).labels_.tolist() == [0, -1, 1]
    with pytest.raises(ValueError, match="3 features"):
        model.partial_fit(np.eye(3))
    with pytest.raises(ValueError, match="drift must be more than 0"):
        DDPVMFMeans(30, drift=0).fit(np.eye(2))


def test_enrolment(frames):
    known = np.array([[0, 0, 1.0], [-1, 0, 0], [0, -1, 0]])
    model = DDPVMFMeans(40, drift=0.7).enroll(known, ["up", "back", "left"])
    assert model.names_ == {0: "up", 1: "back", 2: "left"} and model.ids_.tolist() == [0, 1, 2]
    labels = model.partial_fit(frames[0]).labels_
    for k, direction in enumerate(known):
        assert (labels[frames[0] @ direction > 0.9] == k).all()
    assert sorted(set(labels)) == [0, 1, 2, 3, 4]  # the two that nobody knew have new ids
    with pytest.raises(ValueError, match="there are 1 names for 3 directions"):
        model.enroll(known, ["up"])
    with pytest.raises(ValueError, match="up is the name of id 0 already"):
        model.enroll(known, ["up", "down", "right"])


def test_siblings_and_several_rows_a_person(frames):
    """Enrolling later touches nobody; people may be closer than the angle; a name may have several rows."""
    model = DDPVMFMeans(20).enroll([[1, 0, 0], [0, 1, 0], [1, 0.1, 0]], ["Ann", "Ann", "Bea"])
    assert model.ids_.tolist() == [0, 1] and model.names_ == {0: "Ann", 1: "Bea"}
    assert [len(one.means) for one in model.list()] == [2, 1]
    before = model.list()
    model.enroll([[0, 0, 1]], ["Cem"]).enroll([[0, 1, 1]], id=1)
    assert [len(one.means) for one in model.list()] == [2, 2, 1]
    np.testing.assert_array_equal(model.list()[0].means, before[0].means)
    assert model.partial_fit([[1, 0, 0], [1, 0.11, 0], [0, 0.99, 0.01], [0, 1, 0.9], [0, 0, 1]]).labels_.tolist() == [
        0, 1, 0, 1, 2]
    assert model.predict([[0, 1, 0.9], [0, -1, 0]]).tolist() == [1, -1]


def test_changes_by_id():
    model = DDPVMFMeans(30, exclusive=True)
    with pytest.raises(AttributeError, match="no identities yet"):
        model.lock(0)
    model.partial_fit(np.eye(3))
    model.name(0, "Ann").lock(0).name(1, "Bea")
    assert model.names_ == {0: "Ann", 1: "Bea"} and model.list()[0].locked and not model.list()[1].locked
    with pytest.raises(ValueError, match="Ann is the name of id 0 already"):
        model.name(1, "Ann")
    assert model.split(2, [[0, 0.3, 1]]) == 3
    assert model.join(3, 1).ids_.tolist() == [0, 1, 2]
    model.forbid(0, [[1, 0.3, 0]])
    assert model.partial_fit([[1, 0.31, 0]]).labels_.tolist() == [4]
    assert model.partial_fit([[1, 0, 0]]).labels_.tolist() == [0]
    model.forget(1).set(angle=25, lifetime=50)
    assert model.names_ == {0: "Ann"} and model.ids_.tolist() == [0, 2, 4]
    assert (model.angle, model.lifetime) == (25, 50)
    other = pickle.loads(pickle.dumps(model))
    assert other.names_ == model.names_ and other.log_ == model.log_
    assert other.partial_fit([[0, 1, 0]]).labels_.tolist() == [5]
    assert [(change.event, change.id, change.other) for change in model.log_] == [
        ("named", 0, None), ("locked", 0, None), ("named", 1, None), ("split", 2, 3), ("joined", 3, 1),
        ("forbidden", 0, None), ("forgotten", 1, None), ("set", None, None)]
    for call in (lambda: model.forget(1), lambda: model.join(0, 9), lambda: model.split(9, [[1, 0, 0]])):
        with pytest.raises(ValueError, match="the stream has no id"):
            call()
    with pytest.raises(ValueError, match="either rows or the number of a mean"):
        model.split(0)


def test_axial():
    model = DDPVMFMeans(30, axial=True)
    assert model.partial_fit(np.array([[1, 0.0], [0, 1]])).labels_.tolist() == [0, 1]
    assert model.partial_fit(np.array([[-1, 0.01], [0.01, -1]])).labels_.tolist() == [0, 1]
    assert model.predict([[-1, 0], [0, -3]]).tolist() == [0, 1]
    assert model.enroll([[1, 0], [-1, 0.1]]).ids_.tolist() == [0, 1, 2, 3]


def test_rotate(frames):
    model = DDPVMFMeans(20).fit(np.eye(3))
    quarter = np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1.0]])
    np.testing.assert_allclose(model.rotate(quarter).cluster_centers_, quarter.T, atol=1e-7)
    assert model.partial_fit(quarter.T).labels_.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="no rotation"):
        model.rotate(2 * quarter)
    with pytest.raises(ValueError, match=r"\(2, 2\)|2 features"):
        model.rotate(np.eye(2))


@pytest.mark.parametrize("again", [lambda m: pickle.loads(pickle.dumps(m)), copy.deepcopy, copy.copy])
def test_a_copy_goes_on_by_itself(frames, again):
    model = DDPVMFMeans(40, drift=0.7)
    for X in frames[:20]:
        model.partial_fit(X)
    other = again(model)
    for X in frames[20:]:
        np.testing.assert_array_equal(other.partial_fit(X).labels_, model.partial_fit(X).labels_)
    before = model.n_frames_
    other.partial_fit(frames[0])
    assert model.n_frames_ == before
    np.testing.assert_array_equal(again(model).partial_fit(frames[0]).cluster_centers_,
                                  model.partial_fit(frames[0]).cluster_centers_)


def test_a_child_goes_on_and_so_does_its_parent(frames, tmp_path):
    model = DDPVMFMeans(40, drift=0.7)
    for X in frames[:20]:
        model.partial_fit(X)
    child = os.fork()
    if child == 0:
        labels = [model.partial_fit(X).labels_ for X in frames[20:]]
        np.savez(tmp_path / "child.npz", *labels)
        os._exit(0 if model._stream.process == os.getpid() else 1)
    assert os.waitpid(child, 0)[1] == 0
    theirs = np.load(tmp_path / "child.npz")
    for t, X in enumerate(frames[20:]):
        np.testing.assert_array_equal(model.partial_fit(X).labels_, theirs[f"arr_{t}"])


def test_two_that_become_one():
    """The older id stays; the younger one's last event says where it went, and is not among the ids any more."""
    random, model, merged = np.random.RandomState(3), DDPVMFMeans(60, merge_tracked=True), []
    for t in range(20):
        apart = np.radians(max(70 - 4 * t, 8))
        X = np.repeat([[1, 0, 0], [np.cos(apart), np.sin(apart), 0]], 20, axis=0) + 0.01 * random.normal(size=(40, 3))
        model.partial_fit(X)
        merged += [(t, event.id, event.into) for event in model.events_ if event.event == "merged"]
        assert all(event.into is None for event in model.events_ if event.event != "merged")
        if t == 12:
            model = pickle.loads(pickle.dumps(model))  # the count of frames goes along
    assert len(merged) == 1 and merged[0][1:] == (1, 0)
    assert model.ids_.tolist() == [0] and set(model.labels_) == {0}
    assert 0 < model.events_[0].spread < 10


def test_revive_is_near_unless_it_is_any():
    ids = {}
    for revive in ("near", "any"):
        random, model = np.random.RandomState(5), DDPVMFMeans(60, revive=revive)
        for t in range(25):
            here = [0, 1, 2] if t < 4 else [0, 1] if t < 24 else [0, 1, 3]
            model.partial_fit(np.repeat(np.eye(4)[here], 20, axis=0) + 1e-3 * random.normal(size=(20 * len(here), 4)))
        ids[revive] = model.labels_[-1]
    assert ids == {"near": 3, "any": 2}
    assert DDPVMFMeans(60, revive_near=False)._near() is False
    with pytest.raises(ValueError, match="'near' or 'any'"):
        DDPVMFMeans(60, revive="far").fit(np.eye(3))


def test_a_camera_that_turns():
    """A wall that is out of sight turns along: after a whole turn it has its id."""
    walls = np.array([[0, 1, 0], [0, -1, 0], [0, 0, 1], [1, 0, 0], [0, 0, -1], [-1, 0, 0]], float)
    same = {}
    for rigid in (True, False):
        random, model, first, same[rigid] = np.random.RandomState(2), DDPVMFMeans(60, rigid=rigid), {}, True
        for t in range(280):
            a = np.radians(max(t - 20, 0) * 1.8)
            turned_walls = walls @ np.array([[np.cos(a), 0, -np.sin(a)], [0, 1, 0], [np.sin(a), 0, np.cos(a)]])
            here = [k for k in range(6) if k < 2 or turned_walls[k, 2] > 0.26]
            X = np.repeat(turned_walls[here], 20, axis=0) + 0.05 * random.normal(size=(20 * len(here), 3))
            for k, label in zip(here, model.partial_fit(X).labels_[::20]):
                same[rigid] &= first.setdefault(k, label) == label
    assert same == {True: True, False: False}
    with pytest.raises(ValueError, match="3 dimensions"):
        DDPVMFMeans(60, rigid=True).fit(np.eye(4))


def test_score_and_exclusive_frames():
    near, far = [1, 0, 0], [.96, .28, 0]
    shared = DDPVMFMeans(40).fit([near, [0, 0, 1]])
    assert shared.partial_fit([far, near]).labels_.tolist() == [0, 0]
    apart = DDPVMFMeans(40, exclusive=True).fit([near, [0, 0, 1]])
    assert apart.partial_fit([far, near]).labels_.tolist() == [2, 0]
    np.testing.assert_allclose(apart.similarity_, [1, 1], atol=1e-6)
    np.testing.assert_allclose(apart.margin_, [.04, .04], atol=1e-3)
    assert apart.runner_up_.tolist() == [0, 2]
    assert copy.deepcopy(apart).runner_up_.tolist() == [0, 2]
    with pytest.raises(ValueError, match="score is 'best'; it must be 'nearest' or 'geodesic'"):
        DDPVMFMeans(40, score="best").fit([near])
    with pytest.raises(ValueError, match="exclusive is for 'ddp' with 'nearest'"):
        DDPVMFMeans(40, score="geodesic", exclusive=True).fit([near])


def test_uncertainty_makes_no_id_easier_to_join():
    """Two hundred rows of one person, one stray row, and a row whose cosines with them are .80 and .65."""
    for score, expected in (("nearest", 0), ("geodesic", 1)):
        model = DDPVMFMeans(60, score=score, beta=1e9, lifetime=10000).fit([[1, 0, 0]])
        for _ in range(199):
            model.partial_fit([[1, 0, 0]])
        assert model.partial_fit([[.38, .925, 0]]).labels_.tolist() == [1]
        third = (.65 - .80 * .38) / .925
        x = [.80, third, (1 - .80 ** 2 - third ** 2) ** .5]
        assert model.partial_fit([x]).labels_.tolist() == [expected]


def test_quality_of_rows():
    person, other, noise = [1, 0, 0], [0, 1, 0], [.6, 0, .8]
    X = np.array([person, other, noise])
    model = DDPVMFMeans(50, exclusive=True, min_quality=.3)
    for _ in range(3):
        assert model.partial_fit(X, sample_weight=[1, .5, .1]).labels_.tolist() == [0, 1, -1]
    assert model.partial_fit([[.8, 0, .6]], sample_weight=[.2]).labels_.tolist() == [0]  # it has an id, and moves no mean
    np.testing.assert_allclose(model.cluster_centers_, [person, other], atol=1e-6)
    weighted = DDPVMFMeans(60).partial_fit([[1, 0, 0], [.8, .6, 0]], sample_weight=[3, 1])
    np.testing.assert_allclose(weighted.cluster_centers_, [np.array([3.8, .6, 0]) / np.hypot(3.8, .6)], atol=1e-6)
    for wrong, text in (([1, 1, -1], "sample_weight|negative"), ([1, 1], "sample_weight")):
        with pytest.raises(ValueError, match=text):
            model.partial_fit(X, sample_weight=wrong)
    with pytest.raises(ValueError, match="min_quality"):
        DDPVMFMeans(50, min_quality=-1).fit(X)


def test_ids_after_sightings_and_small_clusters():
    model = DDPVMFMeans(50, born_after=3)
    labels = [model.partial_fit(np.eye(3)[:2]).labels_.tolist() for _ in range(4)]
    assert labels == [[-1, -1], [-1, -1], [0, 1], [0, 1]]
    assert [event.event for event in model.events_] == ["seen", "seen"]
    assert pickle.loads(pickle.dumps(model)).partial_fit(np.eye(3)).labels_.tolist() == [0, 1, -1]
    small = DDPVMFMeans(20, min_size=3).partial_fit(np.eye(3)[[0, 0, 0, 1, 1, 2]])
    assert small.labels_.tolist() == [0, 0, 0, -1, -1, -1] and small.ids_.tolist() == [0]
    with pytest.raises(ValueError, match="min_size is not for exclusive"):
        DDPVMFMeans(20, min_size=3, exclusive=True).fit(np.eye(3))


def test_common_direction():
    random = np.random.RandomState(3)
    people, common = random.normal(size=(4, 32)), 12 * np.ones(32) / 32 ** .5
    def rows():
        return people + common + .3 * random.normal(size=(4, 32))
    sample = np.concatenate([rows() for _ in range(20)])
    center = (sample / np.linalg.norm(sample, axis=1, keepdims=True)).mean(axis=0)
    assert len(np.unique(DDPVMFMeans(60).fit(rows()).labels_)) == 1
    model = DDPVMFMeans(60, exclusive=True, center=center)
    for _ in range(10):
        assert model.partial_fit(rows()).labels_.tolist() == [0, 1, 2, 3]
    X = rows()
    assert model.predict(X).tolist() == [0, 1, 2, 3]
    assert (model.partial_fit(X).similarity_ > .8).all()
    with pytest.raises(ValueError, match="center has 3 components, and the rows have 32"):
        DDPVMFMeans(60, center=[1, 2, 3]).fit(X)


def room(random, camera, count=4000):
    """Rows that a camera with this rotation (to the world) sees of a room with five walls."""
    ways = np.array([[0, -1, 0], [1, 0, 0], [0, 0, -1], [-1, 0, 0], [0, 1, 0]], float)
    rows = ways[random.choice(5, count, p=[.35, .25, .2, .1, .1])] @ camera + 0.03 * random.normal(size=(count, 3))
    return rows.astype(np.float32)


def about_y(degrees):
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])


def test_the_rotation_of_the_camera():
    random, model = np.random.RandomState(3), DDPVMFMeans(60)
    with pytest.raises(AttributeError, match="not fitted"):
        model.rotation_
    for t in range(20):
        model.partial_fit(room(random, about_y(t)))
        off = model.rotation_ @ about_y(t).T
        assert np.degrees(np.arccos(min(1, (np.trace(off) - 1) / 2))) < 0.5
        assert model.rotation_rank_ == 3 and model.rotation_deviation_.max() < 1
        assert model.axes_.kind == "manhattan" and model.axes_.directions.shape == (3, 3)
        assert abs(model.axes_.directions[0] @ about_y(t).T[:, 1]) > 0.99 and model.axes_.shares[0] > 0.4
    copied = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copied.rotation_, model.rotation_)
    with pytest.raises(AttributeError, match="3 dimensions"):
        DDPVMFMeans(60).fit(np.eye(4)).rotation_
    with pytest.raises(AttributeError, match="3 dimensions"):
        DDPVMFMeans(60, axial=True).fit(np.eye(3)).axes_


def test_rows_of_a_camera_with_known_rotation():
    random, model, plain = np.random.RandomState(3), DDPVMFMeans(60), DDPVMFMeans(60)
    for t in range(10):
        rows, turn = room(random, about_y(9 * t)), about_y(9 * t)
        model.partial_fit(rows, rotation=turn)
        plain.partial_fit((rows.astype(float) @ turn.T).astype(np.float32))
        np.testing.assert_array_equal(model.labels_, plain.labels_)
        np.testing.assert_allclose(model.similarity_, plain.similarity_, atol=1e-6)
    assert len(model.ids_) == 5
    with pytest.raises(ValueError, match="shape"):
        model.partial_fit(rows, rotation=np.eye(4))
    with pytest.raises(ValueError, match="rotation"):
        model.partial_fit(rows, rotation=np.ones((3, 3)))


@pytest.mark.parametrize("dimension, axial", [(3, False), (3, True), (6, True), (40, False)])
def test_how_sure_labels_are_of_many_ids(dimension, axial):
    random = np.random.RandomState(2)
    people = random.normal(size=(60, dimension))
    people[10] = people[11] = people[12]
    stream = DDPVMFMeans(40 if dimension > 3 else 10, lifetime=1000, axial=axial, allow_missing=True)
    for frame in range(25):
        X = people[random.randint(0, 60, 13)] + .1 * random.normal(size=(13, dimension))
        X[3] *= frame % 7 > 0
        stream.partial_fit(X)
        lengths = np.linalg.norm(X, axis=1, keepdims=True)
        cosines = X / np.maximum(lengths, 1e-9) @ stream.cluster_centers_.T.astype(np.float64)
        cosines = abs(cosines) if axial else cosines
        for i, (label, other) in enumerate(zip(stream.labels_, stream.runner_up_)):
            if not X[i].any():
                assert np.isnan(stream.similarity_[i]) and other == -1
                continue
            own = stream.ids_ == label
            assert not own.any() or abs(stream.similarity_[i] - cosines[i, own][0]) < 1e-6
            if not own.all():
                most = cosines[i, ~own].max()
                assert other != label and abs(cosines[i, stream.ids_ == other][0] - most) < 1e-6
                assert np.isnan(stream.margin_[i]) or abs(stream.similarity_[i] - stream.margin_[i] - most) < 1e-6


def test_what_was_found_is_made_when_it_is_asked_for():
    random = np.random.RandomState(3)
    people = random.normal(size=(300, 32)).astype(np.float32)
    stream = DDPVMFMeans(50, lifetime=8, history=5)
    stream.enroll(np.vstack([people[:100], people[:50] + .01]), names=[f"{i % 100}" for i in range(150)])
    assert len(stream.names_) == 100 and len(stream.ids_) == 100
    for frame in range(12):
        rows = people[random.randint(0, 300, 9)]
        stream.partial_fit(rows)
        assert [event.id for event in stream.events_ if event.count] == sorted(set(stream.labels_.tolist()))
        assert sorted(stream.history_[-1]) == sorted(set(stream.labels_.tolist()))
        assert stream.ids_.tolist() == [e.id for e in stream.events_ if e.event not in ("died", "merged")]
        assert stream.cluster_centers_.shape == (len(stream.ids_), 32)
        means = {one.id: one.means for one in stream.list()}
        assert all(np.array_equal(center, means[id][0]) for id, center in zip(stream.ids_.tolist(), stream.cluster_centers_))
        copy = pickle.loads(pickle.dumps(stream))
        assert copy.events_ == stream.events_ and np.array_equal(copy.cluster_centers_, stream.cluster_centers_)
