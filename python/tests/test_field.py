# SPDX-License-Identifier: MIT
"""Field measurements in Python: words, files, the orientation tensor, common means."""
import io

import numpy as np
import pytest

import asterism
from asterism import compare, field_vectors, orientation, read_field


def test_words_and_numbers_agree():
    expected = field_vectors([40], [61], notation="strike-dip")
    for first, second in ((["N40E"], ["61SE"]), (["220"], ["61SE"]), (["040/61"], None), (["40,0"], ["61"])):
        np.testing.assert_array_equal(field_vectors(first, second, notation="strike-dip"), expected)
    assert np.isnan(field_vectors([40, "n/a", None], ["n/a", 61, 3], notation="strike-dip")).all()
    np.testing.assert_allclose(field_vectors([90], notation="azimuth"), [[1, 0]], atol=1e-7)


def test_mistakes():
    with pytest.raises(ValueError, match="row 2: 'N95E', '3' is no azimuth"):
        field_vectors(["1", "N95E"], ["2", "3"], notation="strike-dip")
    with pytest.raises(ValueError, match="in this order"):
        field_vectors([30], [120], notation="strike-dip")
    with pytest.raises(ValueError, match="notation is 'dip'"):
        field_vectors([30], [20], notation="dip")
    with pytest.raises(ValueError, match="at least two sets"):
        compare(np.eye(3))
    with pytest.raises(ValueError, match="three dimensions, not 2"):
        orientation(np.eye(2))


def test_files_and_frames():
    expected = field_vectors([45, 47], [30, 31], notation="dip-direction")
    np.testing.assert_array_equal(read_field(io.StringIO("dip,dipdir\n30,45\n31,47\n"), "dip-direction"), expected)
    magic = io.StringIO("tab \tsites\nsite\tdir_dec\tdir_inc\nA\t10\t40\n")
    assert read_field(magic, "trend-plunge").shape == (1, 3)
    with pytest.raises(ValueError, match="not those of strike-dip"):
        read_field(io.StringIO("dip,dipdir\n30,45\n"), "strike-dip")
    pandas = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="the column 'dip' of X says that its columns are angles"):
        asterism.DPVMFMeans(30).fit(pandas.DataFrame({"dip": [30.0, 31], "dipdir": [45.0, 47]}))


def test_shapes_and_means():
    X, _ = asterism.sample(60, dimension=3, clusters=1, kappa=40)
    found = orientation(X)
    assert found.shape == "cluster" and found.p < 1e-6
    np.testing.assert_allclose(found.eigenvalues, np.sort(np.linalg.eigvalsh(X.T.astype(float) @ X / 60))[::-1],
                               rtol=1e-5)
    same = compare(X[:30], X[30:])
    again = compare(X[:30], X[30:])
    assert same.watson_p > 0.05 and again.bootstrap_p == same.bootstrap_p
    assert compare(X[:30], -X[30:], reversal=True).watson_p == pytest.approx(same.watson_p)
    assert compare(X[:30], -X[30:], axial=True).watson_p > 0.05
