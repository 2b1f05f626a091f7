"""Tables of the command-line options that several commands share, for the documentation."""

from collections.abc import Iterator
from typing import Any

from aqmlab.command.options import VOCABULARY


def commands(group: Any = None, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each command of `aqmlab` with its name, such as ``model tcp``."""
    import typer

    from aqmlab.command.app import app

    group = typer.main.get_command(app) if group is None else group
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{prefix}{name} ")
        else:
            yield f"{prefix}{name}", command


def options_of(command: Any) -> dict[str, Any]:
    """Return the options of a command by name, without ``--help``."""
    return {p.opts[0]: p for p in command.params if p.param_type_name == "option"}


def table() -> str:
    """Return two Markdown tables: meanings and defaults of the options, and options by command."""
    each = {name: options_of(command) for name, command in commands()}
    lines = ["| Option | Meaning | Default |", "|---|---|---|"]
    for option in VOCABULARY.values():
        value = f" {option.metavar}" if option.metavar else ""
        defaults = {
            name: options[option.name].show_default
            for name, options in each.items()
            if option.name in options
        }
        default = option.default or "; ".join(
            f"`{'`, `'.join(n for n, d in defaults.items() if d == text)}`: {text}"
            for text in dict.fromkeys(defaults.values())
        )
        lines.append(f"| `{option.name}{value}` | {option.meaning} | {default} |")
    names = [option for option in VOCABULARY if any(option in of for of in each.values())]
    lines += ["", f"| Command | {' | '.join(f'`{name}`' for name in names)} |"]
    lines.append("|---" * (len(names) + 1) + "|")
    for command, options in each.items():
        if any(name in options for name in names):
            marks = " | ".join("×" if name in options else "" for name in names)
            lines.append(f"| `{command}` | {marks} |")
    return "\n".join(lines) + "\n"
