# SPDX-License-Identifier: MIT
"""dedup: against a product of all pairs, and against the command."""
import json

import numpy as np
import pytest
import scipy.sparse

import asterism
from asterism import dedup


@pytest.fixture(scope="module")
def rows():
    random = np.random.RandomState(0)
    X = random.normal(size=(1500, 24))
    X[700:1000] = X[:300] + 0.2 * random.normal(size=(300, 24))
    X[1000:1100] = X[100:200]
    X[5] = np.nan
    return X.astype(np.float32)


def near_pairs(X, Y, cosine):
    X, Y = (Z.astype(float) / np.linalg.norm(Z.astype(float), axis=1, keepdims=True) for Z in (X, Y))
    return np.nan_to_num(X @ Y.T, nan=-2) >= cosine - 2.0 ** -20


def connected(near):
    return scipy.sparse.csgraph.connected_components(scipy.sparse.csr_matrix(near), directed=False)[1]


def test_equals_all_pairs(rows):
    found = dedup(rows, 0.9, pairs=True)
    near = near_pairs(rows, rows, 0.9)
    i, j = np.nonzero(np.triu(near, 1))
    assert found.n_pairs == len(i) == len(found.pairs) and found.n_missing == 1
    np.testing.assert_array_equal(found.pairs, np.stack([i, j], axis=1))
    valid = np.arange(len(rows)) != 5
    truth = connected(near)[valid]
    first = {group: number for number, group in enumerate(dict.fromkeys(truth))}
    np.testing.assert_array_equal(found.groups[valid], [first[group] for group in truth])
    assert found.groups[5] == -1
    np.testing.assert_array_equal(found.kept, np.unique(found.groups[valid], return_index=True)[1] +
                                  (np.unique(found.groups[valid], return_index=True)[1] >= 5))


def test_star_is_greedy(rows):
    near, left = near_pairs(rows, rows, 0.8), np.ones(len(rows), bool)
    kept = [i for i in range(len(rows)) if i != 5 and left[i] and not left.__setitem__(near[i], False)]
    found = dedup(rows, 0.8, mode="star")
    np.testing.assert_array_equal(found.kept, kept)
    assert all(near[i, kept[found.groups[i]]] for i in range(len(rows)) if i != 5)


def test_against(rows):
    old, new = rows[:700], rows[700:]
    found = dedup(new, 0.9, against=old)
    matched = near_pairs(new, old, 0.9).any(axis=1)
    assert found.n_matched == matched.sum() and (found.groups[matched] < 700).all()
    assert (found.groups[~matched] >= 700).all() and found.n_groups == len(found.kept)
    assert not matched[found.kept].any()


def test_equals_the_command(rows, command, tmp_path):
    np.save(tmp_path / "x.npy", rows)
    for mode in ("connected", "star"):
        told = json.loads(command("dedup", tmp_path / "x.npy", "--cosine", "0.85", "--mode", mode, "--keep", "central",
                                  "--group-labels", tmp_path / "g.npy", "--kept", tmp_path / "k.npy", "--json"))
        found = dedup(rows, 0.85, mode, "central")
        assert (told["pairs"], told["kept"], told["missing"]) == (found.n_pairs, len(found.kept), 1)
        np.testing.assert_array_equal(np.load(tmp_path / "g.npy"), found.groups)
        np.testing.assert_array_equal(np.load(tmp_path / "k.npy"), found.kept)


def test_keeps_the_longest_name():
    X = [[1, 0], [0, 1], [1, 0.01], [0.01, 1]]
    assert dedup(X, 0.9, keep="longest-named", names=["a", "bbb", "aa", "bb"]).kept.tolist() == [1, 2]
    assert dedup(np.array(X, np.float16), 0.9, n_threads=2).groups.tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("arguments, sentence", [
    ({"cosine": 2}, "between -1 and 1"), ({"cosine": 0.9, "mode": "chain"}, "mode is 'chain'"),
    ({"cosine": 0.9, "keep": "last"}, "keep is 'last'"), ({"cosine": 0.9, "keep": "longest-named"}, "needs names"),
    ({"cosine": 0.9, "keep": "longest-named", "names": ["a"]}, "1 names for 2 rows"),
    ({"cosine": 0.9, "against": [[1, 2, 3.0]]}, "components")])
def test_refuses(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        dedup([[1, 0], [0, 1]], **arguments)


def test_refuses_sparse_rows():
    with pytest.raises(ValueError, match="near-duplicates"):
        asterism.dedup(scipy.sparse.eye(3, format="csr"), 0.9)
