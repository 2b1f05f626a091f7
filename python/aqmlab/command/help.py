"""Layout of ``--help``: descriptions in whole sentences, commands in groups, and examples."""

import re
from typing import Any

from typer import TyperException
from typer.core import TyperCommand, TyperGroup

from aqmlab.command.options import renamed

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
"""Settings of the help of every command, such as its maximum width of 100 columns."""
FACTS = re.compile(r" {2}\[([^\[\]]+)\]$")
"""Text in brackets that Typer appends to a help text: the default, the range, or "required"."""
QUOTED = r"""(?:'[^']*'|"[^"]*"|\S)+"""
PARTS = re.compile(rf"--[\w-]+ +(?!-){QUOTED}|{QUOTED}")
"""Pattern of one part of a command line: a word, a quoted text, or an option with its value."""


def summary(command: Any) -> str:
    """Return the first paragraph of a command's help as one line."""
    return " ".join((command.help or "").strip().partition("\n\n")[0].split())


def plain(text: str) -> str:
    """Convert the default and the range, which Typer appends in brackets, to whole sentences.

    Examples
    --------
    >>> plain("Bytes per packet.  [default: 1000; x>=1]")
    'Bytes per packet. Default: 1000. Range: at least 1.'
    >>> plain("A scenario.  [required]")
    'A scenario. Required.'
    """
    facts = FACTS.search(text)
    if not facts:
        return text
    sentences = [text[: facts.start()]]
    for fact in facts[1].split("; "):
        name, colon, value = fact.partition(": ")
        if colon:
            sentences.append(f"{name.capitalize()}: {value.removeprefix('(').removesuffix(')')}.")
        else:
            bounds = fact.replace("x>=", "at least ")
            sentences.append("Required." if fact == "required" else f"Range: {bounds}.")
    return " ".join(sentences)


def example_lines(example: str, width: int) -> list[str]:
    r"""Split a command line into lines of limited width, joined by a backslash as in a shell.

    Examples
    --------
    >>> print("\n".join(example_lines("aqmlab run a.toml --set network.delay='5 ms'", 30)))
    aqmlab run a.toml \
        --set network.delay='5 ms'
    """
    lines: list[str] = []
    for part in PARTS.findall(example):
        if lines and len(lines[-1]) + len(part) + 1 <= width - 2:
            lines[-1] += f" {part}"
        else:
            lines.append(f"    {part}" if lines else part)
    return [*(f"{line} \\" for line in lines[:-1]), lines[-1]]


def _write_options(command: Any, ctx: Any, formatter: Any) -> None:
    """Write the help of the arguments and options of a command."""
    for kind, title in (("argument", "Arguments"), ("option", "Options")):
        rows = [
            (record[0], plain(record[1]))
            for parameter in command.get_params(ctx)
            if parameter.param_type_name == kind and (record := parameter.get_help_record(ctx))
        ]
        if rows:
            with formatter.section(title):
                formatter.write_dl(rows)


def _write_examples(command: Any, formatter: Any) -> None:
    """Write the examples of a command; its epilog has one example per line."""
    if command.epilog:
        with formatter.section("Examples"):
            for example in command.epilog.splitlines():
                for line in example_lines(example, formatter.width - formatter.current_indent):
                    formatter.write(f"{'':>{formatter.current_indent}}{line}\n")


class Command(TyperCommand):
    """Command whose epilog has one example per line."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments, and report the new name of an option whose old name was given.

        Raises
        ------
        ValueError
            If an option was renamed.
        """
        try:
            return super().parse_args(ctx, args)
        except TyperException as e:
            path = ctx.command_path.partition(" ")[2]
            if message := renamed(path, getattr(e, "option_name", "")):
                raise ValueError(message) from None
            raise

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments and options."""
        _write_options(self, ctx, formatter)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """Write the examples."""
        _write_examples(self, formatter)


class Group(TyperGroup):
    """Command with subcommands; its help lists the subcommands in groups, one sentence for each."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the help of the options, then the list of the subcommands in groups."""
        _write_options(self, ctx, formatter)
        groups: dict[str, list[tuple[str, str]]] = {}
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        for name, command in commands:
            if command is not None and not command.hidden:
                group = getattr(command, "rich_help_panel", None) or "Commands"
                groups.setdefault(str(group), []).append((name, summary(command)))
        wide = max(len(name) for name, _ in commands)
        for group, rows in groups.items():
            with formatter.section(group):
                formatter.write_dl([(f"{name:{wide}}", text) for name, text in rows])

    def format_epilog(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        """Write the examples."""
        _write_examples(self, formatter)
