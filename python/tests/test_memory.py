# SPDX-License-Identifier: MIT
"""Results are copies. A large call closes its context, so these tests fill freed memory with a pattern."""
import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import warnings
import numpy as np
import scipy.sparse
import asterism
from asterism import _library
warnings.simplefilter("ignore")

def check(model, X):
    model.fit(X)
    assert (model.counts_ == np.bincount(model.labels_)).all(), model.counts_
    assert ((model.kappas_ > 0) & (model.kappas_ < 1e9)).all(), model.kappas_
    return model

X = np.random.RandomState(0).normal(size=(30000, 784)).astype(np.float32)
assert X.size > _library.KEEP_NUMBERS
check(asterism.SphericalKMeans(20, max_iter=3, random_state=0), X)
_library.KEEP_NUMBERS = 0  # close the context after every call
X = X[:2000, :40]
check(asterism.SphericalKMeans(5, max_iter=3, random_state=0), scipy.sparse.csr_matrix(X))
check(asterism.DPVMFMeans(80, max_iter=3), X)
mixture = check(asterism.VMFMixture(5, max_iter=3, random_state=0), X)
assert abs(mixture.weights_.sum() - 1) < 1e-6, mixture.weights_
"""


def test_results_do_not_depend_on_memory_that_was_freed():
    environment = os.environ | {"MALLOC_PERTURB_": "165", "PYTHONPATH": str(Path(__file__).parents[1])}
    subprocess.run([sys.executable, "-c", PROGRAM], check=True, env=environment)
