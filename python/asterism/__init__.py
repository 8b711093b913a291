# SPDX-License-Identifier: MIT
"""asterism: clusters of directions (unit vectors), however many there are.

>>> import asterism
>>> X, truth = asterism.sample(1000, dimension=3, clusters=5, kappa=200, separation=60)
>>> model = asterism.DPVMFMeans(angle=40).fit(X)
>>> len(model.cluster_centers_)
5
"""
from . import distributed, plot
from .arrow import arrow_rows
from ._library import header
from .depth import colors, hallway, hallway_intrinsics, normals, segment
from .duplicates import dedup
from .field import compare, field_vectors, orientation, read_field
from .means import DPVMFMeans, SphericalKMeans
from .identities import Change, Identity
from .lineage import Lineage
from .metric import Metric, neighbors
from .minibatch import MiniBatchSphericalKMeans
from .mixture import VMFMixture
from .model import Model, load
from .plane_map import Plane, PlaneMap, cloud_planes, mesh_planes, planes
from .stream import Axes, DDPVMFMeans, Event
from .tally import Tally
from .tuning import tune
from .vmf import sample

__version__ = header.version
ESTIMATORS = ("DPVMFMeans", "SphericalKMeans", "MiniBatchSphericalKMeans", "VMFMixture", "DDPVMFMeans")
__all__ = ["DPVMFMeans", "SphericalKMeans", "MiniBatchSphericalKMeans", "VMFMixture", "DDPVMFMeans", "Axes", "Event",
           "Identity", "Change", "Lineage", "Model", "Tally",
           "arrow_rows", "Metric", "neighbors", "Plane", "PlaneMap", "cloud_planes", "mesh_planes", "planes",
           "colors", "compare", "dedup", "distributed", "field_vectors", "orientation", "read_field", "hallway", "hallway_intrinsics", "load", "normals", "plot", "sample", "segment", "tune", "__version__"]
