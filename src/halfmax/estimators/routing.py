"""Route the metadata passed to ``fit``: by scikit-learn's metadata routing, or by name."""

from typing import Any

from sklearn import get_config
from sklearn.frozen import FrozenEstimator
from sklearn.utils import Bunch
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import has_fit_parameter

from halfmax._core.errors import warn
from halfmax._core.text import spell_out


def route_fit(owner: Any, sample_weight: Any, fit_params: dict[str, Any]) -> Bunch:
    """Return the keywords for the estimator's fit and for the splitter's split."""
    if isinstance(owner.cv, str):
        if fit_params:
            raise TypeError(
                "cv='prefit' neither fits nor splits, so it takes no keywords; got "
                f"{spell_out(fit_params)}"
            )
        return Bunch(estimator=Bunch(fit={}), splitter=Bunch(split={}))
    if get_config()["enable_metadata_routing"]:
        routed = process_routing(owner, "fit", sample_weight=sample_weight, **fit_params)
        if "splitter" not in routed:
            routed.splitter = Bunch(split={})
        return routed
    for_estimator = dict(fit_params)
    groups = for_estimator.pop("groups", None)
    if groups is not None and not hasattr(owner.cv, "split"):
        raise ValueError(
            "groups need a splitter that keeps groups together, such as cv=GroupKFold(5); got "
            f"cv={owner.cv!r}"
        )
    if sample_weight is not None:
        if has_fit_parameter(owner.estimator, "sample_weight"):
            for_estimator["sample_weight"] = sample_weight
        elif not isinstance(owner.estimator, FrozenEstimator):
            fixed = owner.thresholds is not None
            use = "have no effect" if fixed else "are used only to tune the thresholds"
            warn(
                f"fit of {type(owner.estimator).__name__} takes no sample_weight: the weights "
                f"{use}. With scikit-learn's metadata routing enabled, "
                "request them for the inner estimator with set_fit_request(sample_weight=True)"
            )
    return Bunch(
        estimator=Bunch(fit=for_estimator),
        splitter=Bunch(split={} if groups is None else {"groups": groups}),
    )


def router(owner: Any) -> MetadataRouter:
    """Route what the owner does not use itself to its estimator, and to its splitter if any."""
    fit = MethodMapping().add(caller="fit", callee="fit")
    split = MethodMapping().add(caller="fit", callee="split")
    found = MetadataRouter(owner=owner).add_self_request(owner)
    found.add(estimator=owner.estimator, method_mapping=fit)
    if hasattr(cv := getattr(owner, "cv", None), "split"):
        found.add(splitter=cv, method_mapping=split)
    return found
