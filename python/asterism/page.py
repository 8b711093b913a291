# SPDX-License-Identifier: MIT
"""`report(path)` of models and estimators: one HTML page that opens offline, with a table of the clusters and, where the
rows are given, the rows nearest to each mean."""
from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

if TYPE_CHECKING:
    from .model import Model

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem; color-scheme: light dark }
table { border-collapse: collapse; width: 100% }
th, td { padding: .3rem .6rem; text-align: right; border-bottom: 1px solid #8884; vertical-align: top }
th:last-child, td:last-child { text-align: left } td.bar { min-width: 8rem }
td.bar span { display: block; height: .8rem; margin-top: .35rem; background: #0072b2; border-radius: 2px }
.hint { opacity: .7 }
"""
HINT = ("Spread: degrees; its cosine is the mean cosine of the members to their mean. Least: the smallest cosine to the mean "
        "that fits.")


def page_of(model: Model, title: str, X: Any, names: Sequence[Any] | None, nearest: int) -> str:
    """The page. X: rows, of which each cluster shows the `nearest` most similar to its mean, by name or number."""
    counts = model.counts_ if model.counts_ is not None else np.zeros(len(model.ids_), np.int64)
    shown = None if X is None else nearest_rows(model, X, names, nearest)
    order = np.argsort(-counts, kind="stable")
    rows = "\n".join(row_of(model, k, counts, shown) for k in order)
    last = "name" if shown is None else "nearest rows"
    return (f"<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>{html.escape(title)}</title>"
            f"<style>{STYLE}</style>\n<h1>{html.escape(title)}</h1>\n<p>{html.escape(model.headline())}</p>\n"
            f"<table>\n<tr><th>id<th>rows<th><th>share<th>spread<th>least<th>{last}</tr>\n{rows}\n</table>\n"
            f"<p class=\"hint\">{HINT}</p>\n</html>\n")


def row_of(model: Model, k: int, counts: np.ndarray, shown: dict[int, list[str]] | None) -> str:
    share, widest = counts[k] / max(counts.sum(), 1), max(counts.max(), 1)
    least = "-" if model.thresholds_ is None else f"{model.thresholds_[k]:.3f}"
    words = (model.names_[k] if model.names_ else "") if shown is None else " | ".join(shown.get(int(model.ids_[k]), []))
    return (f"<tr><td>{model.ids_[k]}<td>{counts[k]:,}<td class=\"bar\"><span style=\"width:{100 * counts[k] / widest:.1f}%\">"
            f"</span><td>{share:.1%}<td>{model._spread(k)}<td>{least}<td>{html.escape(words)}</tr>")


def nearest_rows(model: Model, X: Any, names: Sequence[Any] | None, nearest: int) -> dict[int, list[str]]:
    """The names of the rows most similar to the mean of each cluster, by its id."""
    labels, similarity = model._assign(X, None)
    if names is not None and len(names) != len(labels):
        raise ValueError(f"there are {len(names)} names for {len(labels)} rows")
    found: dict[int, list[str]] = {}
    for row in np.lexsort((np.arange(len(labels)), -similarity)):
        listed = found.setdefault(int(labels[row]), [])
        if len(listed) < nearest:
            listed.append(f"row {row}" if names is None else str(names[row]))
    return found
