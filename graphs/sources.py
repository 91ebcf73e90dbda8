"""What a node's code says: a digest of it, and the places where it asks people, in their order.

The source is read where it can be had, as a syntax tree without positions, comments and docstrings,
so that neither a new layout nor another minor release of Python makes other code of it. Functions
of the same package that the node calls belong to its code, and so do constants of the module that
it names: a prompt is often one. Where there is no source, the bytecode stands for it; that differs
between releases of Python, so its digest says which, and is compared within one alone.

Nothing in here runs anything of the graph's, and nothing raises: what cannot be found out is None.
"""

from __future__ import annotations

import ast
import dis
import functools
import hashlib
import inspect
import json
import sys
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, Final

from langgraph.pregel import Pregel
from langgraph.types import interrupt

MAX_FUNCTIONS: Final = 200  # of one node; more would be a whole library
_ASKS: Final = "interrupt"
_LAYOUT: Final = ("ctx", "kind", "type_comment", "type_ignores", "type_params")
_RELEASE: Final = f"{sys.version_info.major}.{sys.version_info.minor}"


@dataclass(frozen=True)
class Source:
    """The digest of some code, and a digest of each place in it that asks.

    `questions` is None where their order cannot be told: several tools of one node, or no code.
    """

    digest: str | None
    questions: tuple[str, ...] | None


def source(held: Any) -> Source:
    """The code of whatever a node runs; never raises."""
    try:
        roots = list(_functions(held))
        if not roots:
            return Source(None, None)
        reader = _Reader()
        for root in roots:
            reader.take(root)
        asked = None if _holds_tools(held) else tuple(reader.questions)
        return Source(reader.digest(), asked)
    except Exception:  # a foreign object may do anything when it is looked at
        return Source(None, None)


def comparable(one: str | None, other: str | None) -> bool:
    """Whether two digests can be compared: both of source, or both of one Python's bytecode."""
    return one is not None and other is not None and one.split("-")[0] == other.split("-")[0]


def _functions(held: Any, depth: int = 0) -> Iterator[Any]:
    """The functions behind a runnable, as the engine would call them; methods stay bound."""
    if depth > 5 or held is None or isinstance(held, Pregel | str):
        return
    if isinstance(held, FunctionType | MethodType):
        yield held
    elif isinstance(held, functools.partial):
        yield from _functions(held.func, depth + 1)
    elif steps := getattr(held, "steps", None):
        for step in steps:
            yield from _functions(step, depth + 1)
    elif (bound := getattr(held, "bound", None)) is not None:
        yield from _functions(bound, depth + 1)
    else:
        tools = getattr(held, "tools_by_name", None) or {}
        own = _called(held)
        if own is not None and own is not held:
            yield from _functions(own, depth + 1)
        elif not tools and not inspect.isclass(held) and callable(held):
            yield from _functions(type(held).__call__, depth + 1)
        for _, tool in sorted(tools.items()):
            yield from _functions(tool, depth + 1)


def _called(held: Any) -> Any:
    """The function that a run calls: the asynchronous one, unless that only wraps the other."""
    plain = getattr(held, "func", None)
    for name in ("afunc", "coroutine"):
        found = getattr(held, name, None)
        if found is not None and not (plain is not None and isinstance(found, functools.partial)):
            return found
    return plain


def _holds_tools(held: Any) -> bool:
    """Which of the tools is called, and in which order, a model decides."""
    return bool(getattr(held, "tools_by_name", None))


@dataclass
class _Reader:
    """Reads functions with all that they call, each once, in the order of the source."""

    parts: list[Any] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)
    bytecode: bool = False
    _seen: set[FunctionType] = field(default_factory=set)

    def digest(self) -> str:
        kind = f"bytecode{_RELEASE}" if self.bytecode else "source"
        return f"{kind}-{_hash(self.parts)}"

    def take(self, function: Any) -> None:
        owner = getattr(function, "__self__", None)
        function = getattr(function, "__func__", function)
        if function in self._seen or len(self._seen) >= MAX_FUNCTIONS:
            return
        self._seen.add(function)
        code = function.__code__
        scope = _Scope(function, owner)
        tree = _tree(code, code.co_filename)  # code is equal to the same code of another file
        if tree is None:
            self.bytecode = True
            self.parts.append(_plain_code(code))
            self.questions += _asked_in_bytecode(code, scope)
            return
        self.parts.append(_normal(tree))
        self._walk(tree, scope)

    def _walk(self, node: ast.AST, scope: _Scope) -> None:
        for child in ast.iter_child_nodes(node):
            self._walk(child, scope)
        if isinstance(node, ast.Call) and scope.asks(node.func):
            self.questions.append(_hash(_normal(node))[:12])
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
            found = scope.resolve(node)
            if scope.follows(found):
                self.take(found)
            elif isinstance(node, ast.Name) and scope.is_constant(node.id, found):
                self.parts.append([node.id, _constant(found)])


class _Scope:
    """What the names in a function stand for; nothing is called to find out."""

    def __init__(self, function: FunctionType, owner: Any) -> None:
        self._globals = function.__globals__
        self._cells = dict(_cells(function))
        self._package = (function.__module__ or "").partition(".")[0]
        arguments = function.__code__.co_varnames[:1]
        self._self = arguments[0] if owner is not None and arguments else None
        self._type = owner if inspect.isclass(owner) else type(owner)

    def resolve(self, node: ast.AST) -> Any:
        if isinstance(node, ast.Name):
            return self.named(node.id)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.value.id == self._self:
                return inspect.getattr_static(self._type, node.attr, _UNKNOWN)
            module = self.named(node.value.id)
            if isinstance(module, ModuleType):
                return vars(module).get(node.attr, _UNKNOWN)
        return _UNKNOWN

    def named(self, name: str) -> Any:
        return self._cells.get(name, self._globals.get(name, _UNKNOWN))

    def asks(self, called: ast.AST) -> bool:
        """Whether this is the engine's `interrupt`, or, imported on the spot, is called so."""
        found = self.resolve(called)
        if found is not _UNKNOWN:
            return found is interrupt
        return getattr(called, "id", getattr(called, "attr", None)) == _ASKS

    def follows(self, found: Any) -> bool:
        if not isinstance(found, FunctionType) or found is interrupt:
            return False
        return (found.__module__ or "").partition(".")[0] == self._package

    def is_constant(self, name: str, found: Any) -> bool:
        """Only what is named as a constant: a counter must not make other code of the same."""
        if name in self._cells:
            return isinstance(found, str)
        return name.isupper() and isinstance(found, str | int | float | tuple | frozenset)


_UNKNOWN: Final = object()


def _cells(function: FunctionType) -> Iterator[tuple[str, Any]]:
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
        try:
            yield name, cell.cell_contents
        except ValueError:  # not filled yet
            continue


@functools.lru_cache(maxsize=4096)
def _tree(code: CodeType, file: str) -> ast.AST | None:
    """The function's syntax tree; None without source, or for a lambda amid other things."""
    try:
        parsed = ast.parse(textwrap.dedent(inspect.getsource(code)))
    except (OSError, TypeError, SyntaxError, ValueError, IndentationError):
        return None
    for first in parsed.body[:1]:
        if isinstance(first, ast.FunctionDef | ast.AsyncFunctionDef):
            return first if first.name == code.co_name else None
    return None


def _normal(node: Any) -> Any:
    """The tree as lists: what means the same is the same in every release of Python."""
    if isinstance(node, ast.Constant):
        return ["Constant", type(node.value).__name__, repr(node.value)]
    if isinstance(node, ast.AST):
        fields = dict(ast.iter_fields(node))
        if isinstance(node, ast.JoinedStr):  # some releases see an empty text at the end of one
            fields["values"] = [each for each in node.values if not _is_empty(each)]
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            fields["body"] = node.body[1:] if ast.get_docstring(node) is not None else node.body
        return [
            type(node).__name__,
            *(
                [name, _normal(value)]
                for name, value in sorted(fields.items())
                if name not in _LAYOUT and value is not None and value != []
            ),
        ]
    return [_normal(each) for each in node] if isinstance(node, list) else str(node)


def _is_empty(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value == ""


def _plain_code(code: CodeType) -> list[Any]:
    constants = [
        _plain_code(each) if isinstance(each, CodeType) else _constant(each)
        for each in code.co_consts
    ]
    return [code.co_code.hex(), list(code.co_names), constants]


def _asked_in_bytecode(code: CodeType, scope: _Scope) -> Iterator[str]:
    """Each place that loads `interrupt`, with the constants up to its call."""
    constants: list[str] | None = None
    for step in dis.get_instructions(code):
        name = str(step.argval)
        if step.opname.startswith("LOAD_") and (
            scope.named(name) is interrupt or (scope.named(name) is _UNKNOWN and name == _ASKS)
        ):
            constants = []
        elif constants is not None and step.opname == "LOAD_CONST":
            constants.append(_hash(_constant(step.argval)))
        elif constants is not None and step.opname.startswith("CALL"):
            yield _hash(constants)[:12]
            constants = None


def _constant(value: Any) -> Any:
    """A constant as text that is the same in every process: sets have no order of their own."""
    if isinstance(value, frozenset):
        return sorted(str(_constant(each)) for each in value)
    if isinstance(value, tuple):
        return [_constant(each) for each in value]
    if value is None or isinstance(value, str | int | float | complex | bytes):
        return f"{type(value).__name__} {value!r}"
    return _constant(tuple(value.items())) if isinstance(value, Mapping) else type(value).__name__


def _hash(value: Any) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:24]
