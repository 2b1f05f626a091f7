"""Evaluation of Python blocks in packet scripts, such as ``%{ assert tcpi_snd_cwnd == 10 }%``.

A script may contain malicious code, so the Python interpreter never executes its blocks. This
module evaluates a small subset of Python, in which the sizes of numbers and texts are limited. The
subset has no attributes, imports, loops or function definitions.
"""

import ast
import operator
import re
import string
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

LONGEST_BLOCK = 20_000
"""Maximum number of characters of a Python block."""
LARGEST_NUMBER = 2**128
"""Maximum absolute value of an integer in a Python block."""
LONGEST_TEXT = 10_000
"""Maximum number of characters of a text in a Python block."""

SYMBOLS = {
    "TCPI_OPT_TIMESTAMPS": 1,
    "TCPI_OPT_SACK": 2,
    "TCPI_OPT_WSCALE": 4,
    "TCPI_OPT_ECN": 8,
    "TCPI_OPT_ECN_SEEN": 16,
    "TCPI_OPT_SYN_DATA": 32,
    "TCP_CA_Open": 0,
    "TCP_CA_Disorder": 1,
    "TCP_CA_CWR": 2,
    "TCP_CA_Recovery": 3,
    "TCP_CA_Loss": 4,
    "TCP_ESTABLISHED": 1,
    "TCP_SYN_SENT": 2,
    "TCP_SYN_RECV": 3,
    "TCP_FIN_WAIT1": 4,
    "TCP_FIN_WAIT2": 5,
    "TCP_TIME_WAIT": 6,
    "TCP_CLOSE": 7,
    "TCP_CLOSE_WAIT": 8,
    "TCP_LAST_ACK": 9,
    "TCP_LISTEN": 10,
    "TCP_CLOSING": 11,
    "TCP_INFINITE_SSTHRESH": 0x7FFFFFFF,
}
"""Names and values of the constants in Linux's TCP_INFO (tcp(7), linux/tcp.h)."""

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": abs,
    "bool": bool,
    "float": float,
    "int": int,
    "len": len,
    "max": max,
    "min": min,
    "round": round,
    "str": str,
}
"""Functions that a Python block can call, in addition to print."""

OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
    ast.Not: operator.not_,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda a, b: a in b,
    ast.NotIn: lambda a, b: a not in b,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}
"""Operators that a Python block can use."""


class BlockError(Exception):
    """Error in a Python block; `line` is its line in the block, counted from 1."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(problem)
        self.line = line
        self.problem = problem


class FailedError(BlockError):
    """Raised if an assertion in a Python block is false, or if the block cannot be evaluated."""


class UnsupportedError(BlockError):
    """Raised if a Python block uses an unsupported feature of Python or an unknown name."""


class Evaluator:
    """Evaluator of all Python blocks of one packet script, which share their variables.

    Examples
    --------
    >>> evaluator = Evaluator()
    >>> evaluator.run("before = tcpi_snd_cwnd", {"tcpi_snd_cwnd": 10})
    >>> evaluator.run("assert tcpi_snd_cwnd == 2 * before", {"tcpi_snd_cwnd": 20})
    """

    def __init__(self) -> None:
        self.variables: dict[str, Any] = {}
        self.printed: list[str] = []

    def run(self, text: str, info: Mapping[str, int]) -> None:
        """Evaluate a Python block; the fields of TCP_INFO are variables of the block.

        Parameters
        ----------
        text
            Text of the block, without the brackets ``%{`` and ``}%``.
        info
            Values of the fields of TCP_INFO, by names with the prefix ``tcpi_``.

        Raises
        ------
        FailedError
            If an assertion is false, or if the block cannot be evaluated.
        UnsupportedError
            If the block uses an unsupported feature of Python or an unknown name.
        """
        if len(text) > LONGEST_BLOCK:
            raise UnsupportedError(1, f"a block of more than {LONGEST_BLOCK} characters")
        self.variables.update(info)
        try:
            tree = ast.parse(_dedent(text))
            for statement in tree.body:
                self._execute(statement)
        except SyntaxError as e:
            raise FailedError(e.lineno or 1, f"not valid Python: {e.msg}") from None
        except (RecursionError, MemoryError, ValueError) as e:
            raise FailedError(1, f"the block cannot be evaluated: {e}") from None

    def _execute(self, node: ast.stmt) -> None:
        """Execute a statement."""
        match node:
            case ast.Assert(test=test, msg=message):
                if not self._value(test):
                    self._fail(test, message)
            case ast.Expr(value=value):
                self._value(value)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self.variables[name] = self._value(value)
            case ast.AugAssign(target=ast.Name(id=name), op=op, value=value) if (
                type(op) in OPERATORS
            ):
                result = ast.BinOp(left=ast.Name(id=name), op=op, right=value)
                result = ast.fix_missing_locations(ast.copy_location(result, node))
                self.variables[name] = self._value(result)
            case ast.If(test=test, body=body, orelse=otherwise):
                for statement in body if self._value(test) else otherwise:
                    self._execute(statement)
            case ast.Pass():
                pass
            case _:
                raise UnsupportedError(node.lineno, f"Python's {type(node).__name__} in a block")

    def _fail(self, test: ast.expr, message: ast.expr | None) -> None:
        """Raise the error of a false assertion, with its message and its variables' values."""
        reason = f": {self._value(message)}" if message else ""
        names = sorted(
            {n.id for n in ast.walk(test) if isinstance(n, ast.Name)} & {*self.variables}
        )
        values = ", ".join(f"{name} = {self.variables[name]!r}" for name in names)
        variables = f" ({values})" if values else ""
        raise FailedError(
            test.lineno, f"assert {ast.unparse(test)} does not hold{reason}{variables}"
        )

    def _value(self, node: ast.expr) -> Any:
        """Return the value of an expression; raise ValueError if the value is too large."""
        try:
            return _bounded(self._evaluate(node))
        except (TypeError, ArithmeticError, ValueError) as e:
            raise FailedError(node.lineno, f"{ast.unparse(node)}: {e}") from None

    def _evaluate(self, node: ast.expr) -> Any:
        """Return the value of an expression."""
        match node:
            case ast.Constant(value=bool() | int() | float() | str() | None as value):
                return value
            case ast.Name(id=name):
                return self._lookup(node, name)
            case ast.Tuple(elts=items) | ast.List(elts=items):
                return tuple(self._value(item) for item in items)
            case ast.BoolOp(op=op, values=values):
                return self._boolean(isinstance(op, ast.And), values)
            case ast.UnaryOp(op=op, operand=operand):
                return OPERATORS[type(op)](self._value(operand))
            case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
                return _apply(op, self._value(left), self._value(right))
            case ast.Compare():
                return self._compare(node)
            case ast.IfExp(test=test, body=body, orelse=otherwise):
                return self._value(body if self._value(test) else otherwise)
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
                return self._call(node, name, [self._value(arg) for arg in args])
        raise UnsupportedError(node.lineno, f"Python's {type(node).__name__} in a block")

    def _lookup(self, node: ast.expr, name: str) -> Any:
        """Return the value of a variable or of a constant in `SYMBOLS`."""
        for names in (self.variables, SYMBOLS):
            if name in names:
                return names[name]
        raise UnsupportedError(node.lineno, f"name {name}")

    def _boolean(self, conjunction: bool, values: list[ast.expr]) -> Any:
        """Return the value of `and` or `or`, evaluating only as many operands as needed."""
        result: Any = conjunction
        for value in values:
            result = self._value(value)
            if bool(result) != conjunction:
                break
        return result

    def _compare(self, node: ast.Compare) -> bool:
        """Return True if every comparison in an expression such as ``0 < x < 1`` is true."""
        left = self._value(node.left)
        for op, comparator in zip(node.ops, node.comparators, strict=True):
            right = self._value(comparator)
            if not OPERATORS[type(op)](left, right):
                return False
            left = right
        return True

    def _call(self, node: ast.expr, name: str, args: list[Any]) -> Any:
        """Return the value of a function call; a call of print adds a line to `printed`."""
        if name == "print":
            self.printed.append(" ".join(str(arg) for arg in args)[:LONGEST_TEXT])
            return None
        if name not in FUNCTIONS:
            raise UnsupportedError(node.lineno, f"function {name}")
        return FUNCTIONS[name](*args)


def unsupported(blocks: Iterable[tuple[int, str]], fields: Iterable[str]) -> list[tuple[int, str]]:
    r"""Return the unsupported features and unknown names in Python blocks.

    Parameters
    ----------
    blocks
        Python blocks of a packet script, each with the number of its first line and its text.
    fields
        Names of the fields of TCP_INFO, which are known names.

    Returns
    -------
    list
        Line and description of each unsupported feature and unknown name. A block that is not valid
        Python has no entry in the list, because its evaluation reports the error.

    Examples
    --------
    >>> unsupported([(7, "x = tcpi_rtt\nassert sum(x) == y")], ["tcpi_rtt"])
    [(8, 'function sum'), (8, 'name y')]
    """
    trees = []
    for line, text in blocks:
        with suppress(SyntaxError, RecursionError, MemoryError, ValueError):
            if len(text) <= LONGEST_BLOCK:
                trees.append((line, ast.parse(_dedent(text))))
    try:
        assigned = {
            target.id
            for _, tree in trees
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        names = {*fields, *SYMBOLS, *assigned}
        return [
            (first + node.lineno - 1, feature)
            for first, tree in trees
            for statement in tree.body
            for node, feature in _unsupported(statement, names)
        ]
    except RecursionError:
        return []


def _unsupported(
    node: ast.stmt | ast.expr, names: set[str]
) -> Iterator[tuple[ast.stmt | ast.expr, str]]:
    """Yield the unsupported features and unknown names in a statement."""
    parts: list[ast.stmt | ast.expr | None] = []
    match node:
        case ast.Assert(test=test, msg=message):
            parts = [test, message]
        case ast.AugAssign(target=ast.Name() as target, op=op, value=value) if (
            type(op) in OPERATORS
        ):
            parts = [target, value]
        case ast.Expr(value=value) | ast.Assign(targets=[ast.Name()], value=value):
            parts = [value]
        case ast.If(test=test, body=body, orelse=otherwise):
            parts = [test, *body, *otherwise]
        case ast.Pass() | ast.Constant(value=bool() | int() | float() | str() | None):
            pass
        case ast.Name(id=name):
            if name not in names:
                yield node, f"name {name}"
        case ast.Tuple(elts=items) | ast.List(elts=items) | ast.BoolOp(values=items):
            parts = [*items]
        case ast.UnaryOp(operand=operand):
            parts = [operand]
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            parts = [left, right]
        case ast.Compare(left=left, comparators=comparators):
            parts = [left, *comparators]
        case ast.IfExp(test=test, body=one, orelse=other):
            parts = [test, one, other]
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]):
            if name not in FUNCTIONS and name != "print":
                yield node, f"function {name}"
            parts = [*args]
        case _:
            yield node, f"Python's {type(node).__name__} in a block"
    for part in parts:
        if part is not None:
            yield from _unsupported(part, names)


def _dedent(text: str) -> str:
    """Return the text of a block without indentation.

    The first line of the block may follow the opening bracket directly, without indentation. A
    backslash at the end of the block is removed, because it would continue the last line.
    """
    first, newline, rest = text.partition("\n")
    return (first.strip() + newline + textwrap.dedent(rest)).rstrip("\\" + string.whitespace)


def _apply(op: ast.operator, left: Any, right: Any) -> Any:
    """Compute a binary operator; refuse operations whose result can need much memory."""
    texts = isinstance(left, str | tuple) or isinstance(right, str | tuple)
    if texts and isinstance(op, ast.Mult):
        raise ValueError("a text or tuple cannot be multiplied")
    if isinstance(left, str) and isinstance(op, ast.Mod) and re.search(r"%[^%a-zA-Z]", left):
        raise ValueError("a format with a width is not supported")
    if isinstance(op, ast.Pow | ast.LShift) and abs(right) > 128:
        raise ValueError("the number is too large")
    return OPERATORS[type(op)](left, right)


def _bounded(value: Any) -> Any:
    """Return a value unchanged; raise ValueError if the number or text is too large."""
    if isinstance(value, int) and abs(value) > LARGEST_NUMBER:
        raise ValueError("the number is too large")
    if isinstance(value, str) and len(value) > LONGEST_TEXT:
        raise ValueError("the text is too long")
    return value
