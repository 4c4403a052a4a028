"""The house rules that a file can check: sizes, names, and how values are passed on."""

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

import halfmax as hm

SOURCE = Path(hm.__file__).parent
MODULES = sorted(SOURCE.rglob("*.py"))
MOST_LINES, MOST_PARAMETERS = 400, 8
FREE = ("command",)  # the decorator of shell commands


@cache
def tree_of(path):
    return ast.parse(path.read_text("utf-8"))


def name_of(path):
    return str(path.relative_to(SOURCE))


def functions(tree, owner=""):
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef):
            yield owner, node
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield from functions(node, node.name if isinstance(node, ast.ClassDef) else owner)


def width(function):
    given = function.args
    names = [part.arg for part in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    return len([name for name in names if name not in ("self", "cls")])


@cache
def public_classes():
    """Public classes, and those whose methods they inherit."""
    found = [getattr(hm, name) for name in hm.__all__]
    return {base.__name__ for one in found if isinstance(one, type) for base in one.__mro__}


def is_public(owner, function):
    """A public function, a method or the constructor of a public class, or what one makes."""
    if owner:
        return owner in public_classes() or function.name == "__init__"
    return function.name in hm.__all__


def decorators(function):
    return {word for part in function.decorator_list for word in ast.unparse(part).split("(")[:1]}


def only_passed_on(function):
    """Names of tuples that are packed in a function only to be starred into calls."""
    packed = {
        target.id
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    starred = {
        id(part.value)
        for node in ast.walk(function)
        if isinstance(node, ast.Call)
        for part in node.args
        if isinstance(part, ast.Starred)
    }
    loads = defaultdict(list)
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in packed:
            loads[node.id].append(id(node) in starred)
    return sorted(name for name, uses in loads.items() if all(uses))


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_module_has_one_idea(path):
    assert len(path.read_text("utf-8").splitlines()) <= MOST_LINES


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_signatures_are_short(path):
    long = [
        function.name
        for owner, function in functions(tree_of(path))
        if width(function) > MOST_PARAMETERS
        and not is_public(owner, function)
        and not any(part.split(".")[-1] in FREE for part in decorators(function))
        and "cli/commands" not in name_of(path)
        and not path.stem.endswith("kernels")
    ]
    assert long == []


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_no_tuple_is_packed_only_to_be_passed_on(path):
    found = [
        f"{function.name}: *{name}"
        for _, function in functions(tree_of(path))
        for name in only_passed_on(function)
    ]
    assert found == []


def test_a_class_name_has_one_meaning():
    homes = defaultdict(set)
    for path in MODULES:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.ClassDef):
                homes[node.name].add(name_of(path))
    assert {name: places for name, places in homes.items() if len(places) > 1} == {}


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_packages_do_nothing_when_they_are_imported(path):
    if path.name != "__init__.py" or path.parent in (SOURCE, SOURCE / "cli"):
        return
    assert all(isinstance(node, ast.Expr) for node in tree_of(path).body)
