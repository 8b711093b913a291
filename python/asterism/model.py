# SPDX-License-Identifier: MIT
"""Model files: everything that labels new rows as a fit has labelled its own, in one file that the command reads too."""
from __future__ import annotations

import ctypes
import errno
import os
from pathlib import Path
from typing import Any, Sequence

import numpy as np
from numpy.typing import NDArray

from ._base import FLOATS, canonical
from ._library import array_at, constants, lender, lib, opened, points_of, sized
from ._standalone import issparse
from .page import page_of

METHODS = {constants[f"AST_{name}"]: name.lower()
           for name in ("DP", "SPKM", "MOVMF", "FSD", "CRP", "OSPKM", "DPMEANS", "MBSPKM")}
LISTED = 20  # clusters in a summary


class Model:
    """A fitted model that was saved: it labels rows and learns nothing. `asterism.load` makes one.

    Attributes
    ----------
    method : str, of the run as the command calls it: "dp", "spkm", "movmf", ...
    angle : float, of the run in degrees; NaN for methods without one
    axial : bool
    ids_ : (K) int32, increasing: the labels that `predict` gives
    next_id_ : int, no cluster ever had this id or a larger one
    cluster_centers_ : (K, D) float32, unit vectors, of the rows as the run compared them
    counts_ : (K) int64, rows of the run in each cluster
    kappas_ : (K) concentrations
    weights_ : (K) shares of the components of a mixture; None for other methods
    betas_, axes_ : (K) and (K, 2, 3) of Kent components, as of `VMFMixture`; None for other methods
    background_ : float, the share of the background; NaN without one
    lengths_ : (K) of Euclidean means (dpmeans); None for other methods
    thresholds_ : (K) float32, the similarity below which a row gets -1; None if every row gets a label
    fits_ : (K) float32, the similarity below which a row is on no topic of the model, for `previous`; None if unknown
    center_ : (D) float32, the mean that is subtracted from rows; None without
    matrix_, mapped_center_ : (D, D) and (D) float32, the map that the metric applies to centred rows, and what is
        subtracted then; None without a metric
    names_ : list of K texts; None without names
    n_threads : int or None, as in `DPVMFMeans`

    Examples
    --------
    >>> import asterism, os, tempfile
    >>> X, truth = asterism.sample(500, dimension=3, clusters=4, kappa=90, separation=60)
    >>> fitted = asterism.DPVMFMeans(angle=40).fit(X)
    >>> path = os.path.join(tempfile.mkdtemp(), "poles.model")
    >>> fitted.save(path)
    >>> model = asterism.load(path)
    >>> bool((model.predict(X) == fitted.labels_).all())
    True
    >>> print(model.summary().splitlines()[0])
    dp: 4 clusters of 500 rows, 3 dimensions, angle 40
    """

    def __init__(self, content: bytes, n_threads: int | None = None) -> None:
        self.n_threads = n_threads
        self._content = bytes(content)
        with lender.borrow(n_threads, 0) as context:
            handle = opened(lib.ast_model_load, context, self._content, len(self._content))
            info = sized("ast_model_info")
            try:
                context.check(lib.ast_model_view(handle, ctypes.byref(info)))
                self._read(info)
            finally:
                lib.ast_model_close(handle)

    def _read(self, info: Any) -> None:
        k, d = info.clusters, info.dimension

        def column(name: str, kind: type, shape: tuple[int, ...] = (k,)) -> Any:
            address = getattr(info, name)
            return array_at(address, shape, kind) if address else None

        self.method, self.angle, self.axial = METHODS[info.method], info.angle, bool(info.axial)
        self.background_, self.next_id_ = info.background, info.next_id
        self.cluster_centers_: NDArray[np.float32] = column("means", np.float32, (k, d))
        ids = column("ids", np.int32)
        self.ids_: NDArray[np.int32] = np.arange(k, dtype=np.int32) if ids is None else ids
        counts = column("counts", np.uint64)
        self.counts_ = None if counts is None else counts.astype(np.int64)
        self.kappas_, self.weights_ = column("kappas", np.float64), column("shares", np.float64)
        self.betas_, self.axes_ = column("betas", np.float64), column("axes", np.float32, (k, 2, 3))
        self.lengths_, self.thresholds_ = column("lengths", np.float64), column("thresholds", np.float32)
        self.fits_ = column("fits", np.float32)
        self.center_ = column("center", np.float32, (d,))
        self.matrix_, self.mapped_center_ = column("matrix", np.float32, (d, d)), column("mapped_center", np.float32, (d,))
        self.names_ = None
        if info.names:
            texts = (ctypes.c_char_p * k).from_address(info.names)
            self.names_ = [text.decode("utf-8", "replace") for text in texts]

    def predict(self, X: Any, angle: float | None = None) -> NDArray[np.int32]:
        """The id of the cluster of every row, int32; -1 for rows that the run itself would have taken as outliers, rows
        farther than `angle` degrees from their mean, and rows without a direction (NaN, or all zero)."""
        return self._assign(X, angle)[0]

    def similarity(self, X: Any) -> NDArray[np.float32]:
        """(N) the cosine of every row to its mean, NaN for rows without a direction."""
        return self._assign(X, None)[1]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the file; one that is there is replaced when the new one is whole."""
        write_whole(path, self._content)

    def __repr__(self) -> str:
        return f"<asterism.Model, {self.headline()}>"

    def headline(self) -> str:
        """One line: the method, clusters, rows, dimensions, and what is done to rows."""
        angle = "" if np.isnan(self.angle) else f", angle {self.angle:g}"
        mapped = ", local metric" if self.matrix_ is not None else "" if self.center_ is None else ", centred"
        rows = "" if self.counts_ is None else f" of {self.counts_.sum()} rows"
        count, dimension = self.cluster_centers_.shape
        return f"{self.method}: {count} clusters{rows}, {dimension} dimensions{angle}{mapped}"

    def report(self, path: str | os.PathLike[str], X: Any = None, names: Sequence[Any] | None = None, nearest: int = 5,
               title: str | None = None) -> None:
        """Writes an HTML page that opens offline: all clusters with size, share and spread. With rows `X` each cluster has
        the `nearest` ones most similar to its mean, by their `names` (titles or texts, one per row) or numbers."""
        page = page_of(self, title or Path(path).stem, X, names, nearest)
        write_whole(path, page.encode("utf-8"))

    def summary(self) -> str:
        """A short table of the largest clusters."""
        counts = self.counts_ if self.counts_ is not None else np.zeros(len(self.ids_), np.int64)
        lines = [self.headline(),
                 f"{'id':>6}  {'rows':>9}  {'share':>6}  {'spread':>6}  {'least':>6}  name"]
        for k in np.argsort(-counts, kind="stable")[:LISTED]:
            lines.append(f"{self.ids_[k]:>6}  {counts[k]:>9}  {counts[k] / max(counts.sum(), 1):>6.1%}  "
                         f"{self._spread(k):>6}  {'-' if self.thresholds_ is None else f'{self.thresholds_[k]:.3f}':>6}  "
                         f"{self.names_[k] if self.names_ else ''}".rstrip())
        if len(counts) > LISTED:
            lines.append(f"   ... and {len(counts) - LISTED} more")
        lines.append("spread: degrees; its cosine is the mean cosine to the mean. least: the smallest cosine that fits")
        return "\n".join(lines)

    def _spread(self, k: int) -> str:
        if self.kappas_ is None or not np.isfinite(self.kappas_[k]) or (self.weights_ is not None and self.axial):
            return "-"
        resultant = lib.ast_vmf_resultant(self.cluster_centers_.shape[1], float(self.kappas_[k]))
        return f"{np.degrees(np.arccos(min(resultant, 1.0))):.1f}"

    def _assign(self, X: Any, angle: float | None) -> tuple[np.ndarray, np.ndarray]:
        X = rows_of(X)
        points, labels = points_of(X), np.full(X.shape[0], -1, np.int32)
        similarity = np.full(X.shape[0], np.nan, np.float32)
        with lender.borrow(self.n_threads, X.shape[0] * X.shape[1]) as context:
            handle = opened(lib.ast_model_load, context, self._content, len(self._content))
            try:
                context.check(lib.ast_model_assign(handle, ctypes.byref(points), np.nan if angle is None else float(angle),
                                                   labels.ctypes.data, similarity.ctypes.data))
            finally:
                lib.ast_model_close(handle)
        return labels, similarity

    def __getstate__(self) -> dict[str, Any]:
        return {"_content": self._content, "n_threads": self.n_threads}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["_content"], state["n_threads"])  # type: ignore[misc]


def load(path: str | os.PathLike[str]) -> Model:
    """The model of a file that `save` or the command `asterism cluster --model` has written.

    >>> import asterism, os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "axes.model")
    >>> asterism.SphericalKMeans(n_clusters=2, random_state=1).fit([[1, 0], [0, 1]]).save(path)
    >>> sorted(asterism.load(path).predict([[3, 1], [1, 3]]).tolist())
    [0, 1]
    """
    content = Path(path).read_bytes()
    try:
        return Model(content)
    except ValueError as error:
        raise ValueError(f"{os.fspath(path)}: {error}") from None


def rows_of(X: Any) -> Any:
    """Rows as the library takes them: floats of the machine's byte order, or a CSR matrix."""
    if issparse(X):
        X = X.tocsr()
        return canonical(X if X.dtype in FLOATS else X.astype(np.float64))
    X = np.asarray(X)
    X = X if X.dtype in FLOATS and X.dtype.isnative else X.astype(np.float64)
    if X.ndim != 2:
        raise ValueError(f"X has {X.ndim} dimensions; it must be an array of rows, (N, D)")
    return X


def write_whole(path: str | os.PathLike[str], content: bytes) -> None:
    """A temporary file beside it, and a rename: whoever reads sees the old file or the new one. A link stays one, and a
    device or a pipe is written to, not replaced."""
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, f"there is no folder {target.parent}", os.fspath(path))
    if target.exists() and not target.is_file():
        target.write_bytes(content)
        return
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(content)
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


class Saving:
    """A mixin of estimators that can become a model file."""

    _model_method: str

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a model file, which `asterism.load` and `asterism assign --model` read: it labels rows as `predict`
        does."""
        self._model().save(path)

    def summary(self) -> str:
        """A short table of the largest clusters."""
        return self._model().summary()

    def report(self, path: str | os.PathLike[str], X: Any = None, names: Sequence[Any] | None = None, nearest: int = 5,
               title: str | None = None) -> None:
        """Writes an HTML page that opens offline: all clusters with size, share and spread. With rows `X` each cluster has
        the `nearest` ones most similar to its mean, by their `names` (titles or texts, one per row) or numbers."""
        self._model().report(path, X, names, nearest, title)

    def _model(self) -> Model:
        from ._compat import check_is_fitted
        check_is_fitted(self)
        info, keep = self._model_info()
        with lender.borrow(None, 0) as context:
            handle = opened(lib.ast_model_open, context, ctypes.byref(info))
            try:
                size = ctypes.c_size_t()
                address = lib.ast_model_save(handle, ctypes.byref(size))
                content = ctypes.string_at(address, size.value)
            finally:
                lib.ast_model_close(handle)
        del keep
        return Model(content)

    def _model_info(self) -> tuple[Any, dict[str, np.ndarray]]:
        """An ast_model_info, and the arrays that it points to."""
        arrays: dict[str, tuple[Any, type]] = {
            "means": (self.cluster_centers_, np.float32), "counts": (self.counts_, np.uint64),
            "kappas": (self.kappas_, np.float64), "center": (getattr(self, "center_", None), np.float32),
            "thresholds": (self._thresholds(), np.float32), "fits": (getattr(self, "_fits", None), np.float32)}
        named = getattr(self, "lineage_", None) is not None
        if named:
            arrays["ids"] = (self.ids_, np.int32)
        metric = getattr(self, "metric_", None)
        if metric is not None:
            arrays.update({name: (getattr(metric, name), np.float32) for name in ("center", "matrix", "mapped_center")})
        mixture = self._model_method == "AST_MOVMF"
        if mixture:
            arrays["shares"], arrays["kappas"] = (self.weights_, np.float64), (self._kappas(), np.float64)
            arrays["betas"], arrays["axes"] = (self.betas_, np.float64), (self.axes_, np.float32)
        keep = {name: np.ascontiguousarray(array, kind) for name, (array, kind) in arrays.items() if array is not None}
        count, dimension = self.cluster_centers_.shape
        info = sized("ast_model_info", method=constants[self._model_method], dimension=dimension, clusters=count,
                     axial=bool(self.axial), angle=getattr(self, "angle_", np.nan), next_id=self._next_id if named else count,
                     background=self.background_ if mixture else np.nan,
                     **{name: array.ctypes.data for name, array in keep.items()})
        return info, keep

    def _thresholds(self) -> np.ndarray | None:
        own = getattr(self, "thresholds_", None)
        if self.outlier_angle is None:
            return own
        least = np.float32(np.cos(np.radians(self.outlier_angle)) - 2.0 ** -20)
        return np.full(len(self.cluster_centers_), least) if own is None else np.maximum(own, least)
