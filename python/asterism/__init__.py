# SPDX-License-Identifier: MIT
"""asterism: clusters of directions (unit vectors), however many there are.

>>> import asterism
>>> X = [[1, 0, 0], [0.9, 0.1, 0], [0, 1, 0], [0, 0.9, 0.1], [0, 0, 1]]
>>> model = asterism.DPVMFMeans(angle=40).fit(X)
>>> len(model.cluster_centers_)
3
"""
from ._library import header
from .means import DPVMFMeans, SphericalKMeans
from .stream import DDPVMFMeans, Event

__version__ = header.version
ESTIMATORS = ("DPVMFMeans", "SphericalKMeans", "DDPVMFMeans")
__all__ = [*ESTIMATORS, "Event", "__version__"]
