"""`register_onnx`: skl2onnx learns to convert `ThresholdClassifier`, with its thresholds."""

from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import Pipeline
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from halfmax._core.extras import require_installed
from halfmax._core.types import Array, Floats
from halfmax.estimators.fitted_rule import FittedRule
from halfmax.estimators.threshold_classifier import ThresholdClassifier
from halfmax.staircase.grid import equivalent

_ALIAS = "HalfmaxThresholdClassifier"
_OPTIONS = {"zipmap": [True, False], "nocl": [True, False], "output_class_labels": [False]}
_METHODS = ("predict_proba", "decision_function", "predict")  # whose scores a graph has
_INT64 = 7  # ONNX's number of this type
_ROUNDING = 2.0**-20  # of the largest score: more than float32 arithmetic loses
_MOST = 2.0**-10  # of a probability, which may be very small


def register_onnx() -> None:
    """Let skl2onnx convert `ThresholdClassifier`, alone or in a pipeline.

    Call it once before ``skl2onnx.to_onnx`` or ``convert_sklearn``. halfmax does not do it by
    itself, because skl2onnx keeps one table of converters for the whole process, and importing
    halfmax should neither import skl2onnx nor change that table. The converted model has two
    outputs: ``label``, which is what `ThresholdClassifier.predict` returns, and ``probabilities``
    or ``scores`` of the estimator. It needs ``pip install 'halfmax[onnx]'``.

    Raises
    ------
    ModuleNotFoundError
        If skl2onnx is not installed.

    See Also
    --------
    ThresholdClassifier : The classifier that is converted.
    Thresholds.to_onnx : A graph of thresholds alone, for any model.

    Notes
    -----
    Converted models compute scores in float32, with other rounding errors than scikit-learn. A
    tuned threshold is the score of some row, and such a row could fall below it. Thresholds in the
    graph are therefore lower by a millionth of the label's largest score, and of probabilities by
    no more than a thousandth of the threshold. This does not help where skl2onnx converts an
    estimator into one that scores otherwise: compare predictions once.

    ``rule="expected"`` cannot be converted, because its predictions depend on the whole batch.

    Examples
    --------
    >>> import numpy as np
    >>> from skl2onnx import to_onnx
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = np.arange(40, dtype=np.float32).reshape(-1, 1)
    >>> model = ThresholdClassifier(LogisticRegression()).fit(X, X[:, 0] > 25)
    >>> register_onnx()
    >>> [output.name for output in to_onnx(model, X[:1]).graph.output]
    ['label', 'probabilities']
    """
    require_installed("skl2onnx")
    from skl2onnx import update_registered_converter

    update_registered_converter(
        ThresholdClassifier, _ALIAS, _set_shapes, _convert, parser=_parse, options=_OPTIONS
    )


def _parse(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:  # noqa: ARG001
    """Declare the two outputs; refuse what cannot be converted before anything is."""
    from skl2onnx.common.data_types import Int64TensorType, StringTensorType, guess_tensor_type

    rule = _rule_of(model)
    operator = scope.declare_local_operator(_ALIAS, model)
    operator.inputs = inputs
    of_label = StringTensorType if _classes(rule).dtype.kind == "U" else Int64TensorType
    operator.outputs.append(scope.declare_local_variable("label", of_label()))
    name = "probabilities" if rule.method == "predict_proba" else "scores"
    kind = guess_tensor_type(inputs[0].type)
    operator.outputs.append(scope.declare_local_variable(name, kind))
    return operator.outputs


def _set_shapes(operator: Any) -> None:
    """Set the shapes of the outputs: the shape calculator that skl2onnx asks for."""
    kind = operator.raw_operator._rule.kind
    label, scores = operator.outputs
    label.type.shape = [None] if kind.is_binary else [None, kind.n_labels]
    two = kind.is_binary and operator.raw_operator._rule.method == "predict_proba"
    scores.type.shape = [None, 2 if two else kind.n_labels]


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Add the estimator, and the comparison of its scores with the thresholds, to the graph."""
    from skl2onnx.algebra import onnx_ops as ops
    from skl2onnx.common.data_types import guess_numpy_type, guess_proto_type

    model, version = operator.raw_operator, {"op_version": container.target_opset}
    rule, (label, second) = model._rule, operator.outputs
    answer = _Answer(model, operator.inputs, scope, container)
    shown = ops.OnnxCast(
        answer.shown(), to=guess_proto_type(second.type), output_names=[second], **version
    )
    scores = ops.OnnxCast(answer.scores(), to=guess_proto_type(second.type), **version)
    limits = equivalent(_lowered(model), guess_numpy_type(second.type))
    reached = ops.OnnxCast(
        ops.OnnxGreaterOrEqual(scores, limits[None], **version), to=_INT64, **version
    )
    if rule.kind.is_binary:
        place = ops.OnnxReshapeApi13(reached, np.array([-1]), **version)
        classes = _classes(rule)[[1 - rule.kind.positive, rule.kind.positive]]
        found = ops.OnnxGather(classes, place, output_names=[label], **version)
    else:
        found = ops.OnnxIdentity(reached, output_names=[label], **version)
    for node in (shown, found):
        node.add_to(scope, container)


class _Answer:
    """What the estimator answers in the graph, in the forms that `responses` reads in Python."""

    def __init__(self, model: Any, inputs: Any, scope: Any, container: Any) -> None:
        from skl2onnx._parse import parse_sklearn

        estimator = _unfrozen(model.estimator_)
        self.rule: FittedRule = model._rule
        self.last = _last(estimator)
        self.version = {"op_version": container.target_opset}
        options = self._options(container)
        scope.add_options(id(self.last), options)
        container.add_options(id(self.last), options)
        self.found = parse_sklearn(scope, estimator, inputs)
        for variable in self.found:
            variable.init_status(is_leaf=False)  # not outputs of the whole graph

    def shown(self) -> Any:
        """The second output: probabilities of both classes, or the scores of each label."""
        if self.rule.kind.is_binary and self.rule.method == "predict_proba":
            return self.found[1]
        return self.scores()

    def scores(self) -> Any:
        """The scores that are compared with thresholds: rows x labels."""
        from skl2onnx.algebra import onnx_ops as ops

        if self.rule.method == "predict":
            width = np.array([-1, self.rule.kind.n_labels])
            return ops.OnnxReshapeApi13(self.found[0], width, **self.version)
        if not self.rule.kind.is_binary:
            return self._of_labels()
        if self.rule.method == "predict_proba":
            return self._columns(self.found[1], [self.rule.kind.positive])
        scores = self._columns(self.found[1], [-1])
        return scores if self.rule.kind.positive else ops.OnnxNeg(scores, **self.version)

    def _of_labels(self) -> Any:
        from skl2onnx.algebra import onnx_ops as ops

        if not isinstance(getattr(self.last, "classes_", None), list):
            return self.found[1]  # rows x labels
        if isinstance(self.last, MultiOutputClassifier):  # a matrix of classes for each label
            every = ops.OnnxConcatFromSequence(self.found[1], axis=1, **self.version)
            return self._columns(every, [2 * j + 1 for j in range(self.rule.kind.n_labels)])
        of_ones = ops.OnnxGather(self.found[1], np.array(1), axis=2, **self.version)
        return ops.OnnxTranspose(of_ones, perm=[1, 0], **self.version)

    def _columns(self, values: Any, places: list[int]) -> Any:
        from skl2onnx.algebra import onnx_ops as ops

        return ops.OnnxGather(values, np.array(places), axis=1, **self.version)

    def _options(self, container: Any) -> dict[str, bool]:
        """Ask the converter of the estimator for arrays, and for scores if they are needed."""
        known = [
            name for name in ("zipmap", "raw_scores") if container.has_options(self.last, name)
        ]
        raw = self.rule.method == "decision_function"
        if raw and "raw_scores" not in known:
            raise NotImplementedError(
                f"skl2onnx cannot convert decision_function of {type(self.last).__name__}: use an "
                "estimator with predict_proba, such as CalibratedClassifierCV around this one"
            )
        if isinstance(getattr(self.last, "estimator", None), LinearSVC):
            raw = False  # its only scores; skl2onnx gets the shape wrong if they are asked for
        values = {"zipmap": False, "raw_scores": raw}
        return {name: values[name] for name in known}


def _rule_of(model: Any) -> FittedRule:
    """Return how a fitted classifier predicts, or refuse to convert it."""
    if not hasattr(model, "_rule"):
        raise NotFittedError(
            "ThresholdClassifier must be fitted to be converted to ONNX; if its estimator is "
            "fitted already, call fit with cv='prefit'"
        )
    rule: FittedRule = model._rule
    if rule.name == "expected":
        raise NotImplementedError(
            "ThresholdClassifier with rule='expected' cannot be converted to ONNX, because the "
            "prediction of a row depends on all rows of its batch: fit with rule='empirical', "
            "which keeps its thresholds"
        )
    if rule.method not in _METHODS:
        raise NotImplementedError(
            f"scores of {rule.method} cannot be converted to ONNX: use response_method="
            "'predict_proba' or 'decision_function'"
        )
    _classes(rule)
    _refuse_wrong_conversions(rule, _last(_unfrozen(model.estimator_)))
    return rule


def _refuse_wrong_conversions(rule: FittedRule, last: Any) -> None:
    """Refuse estimators whose probabilities skl2onnx converts into other numbers."""
    if rule.method != "predict_proba":
        return
    name, several = type(last).__name__, getattr(last, "classes_", None)
    if isinstance(last, LinearDiscriminantAnalysis):
        raise NotImplementedError(
            f"skl2onnx converts predict_proba of {name} into other probabilities: use "
            "response_method='decision_function'"
        )
    if not isinstance(several, list):
        return
    if isinstance(last, DecisionTreeClassifier):
        raise NotImplementedError(
            f"skl2onnx converts predict_proba of {name} with many labels into other probabilities: "
            "use MultiOutputClassifier around it, or a forest"
        )
    if any(len(classes) != 2 for classes in several):
        raise NotImplementedError(
            f"{name} saw only one class of some labels, and skl2onnx cannot convert that: leave "
            "out labels without positives, or use OneVsRestClassifier"
        )


def _classes(rule: FittedRule) -> Array:
    """Return the classes as ONNX can hold them: strings, or integers also for bool."""
    classes = rule.kind.classes
    if classes is None:
        return np.array([0, 1])
    if all(isinstance(value, str) for value in classes.tolist()):
        return np.array(classes.tolist())
    if classes.dtype.kind in "biuf" and (classes == np.floor(classes)).all():
        return classes.astype(np.int64)
    raise NotImplementedError(
        f"classes must be strings or integers to be converted to ONNX; got {classes.tolist()}"
    )


def _lowered(model: Any) -> Floats:
    """Return the thresholds, lowered by more than rounding errors of scores."""
    thresholds: Floats = model.thresholds_
    largest = np.abs(thresholds)
    stairs = getattr(model, "staircase_", None)
    if stairs is not None:
        steps = np.abs(stairs.grid.scores.astype(np.float64))
        largest = np.zeros(len(thresholds))
        np.maximum.at(largest, stairs.grid.columns, steps)
    less = _ROUNDING * largest
    if model._rule.method == "predict_proba":
        less = np.minimum(less, _MOST * np.abs(thresholds))
    lowered: Floats = thresholds - less
    return lowered


def _unfrozen(estimator: Any) -> Any:
    """Return the estimator inside a FrozenEstimator, which predicts the same."""
    return estimator.estimator if isinstance(estimator, FrozenEstimator) else estimator


def _last(estimator: Any) -> Any:
    """Return the estimator whose scores a pipeline or a search returns."""
    if isinstance(estimator, Pipeline):
        return _last(estimator.steps[-1][1])
    if hasattr(estimator, "best_estimator_"):
        return _last(estimator.best_estimator_)
    return estimator
