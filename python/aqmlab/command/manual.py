"""`aqmlab list`, `explain` and `schema`: the keys and names that a scenario can use."""

from typing import Annotated

import typer

from aqmlab.command import completion

LIST_EXAMPLES = ("aqmlab list", "aqmlab list scenarios")
EXPLAIN_EXAMPLES = ("aqmlab explain red.minth", "aqmlab explain dsl")
SCHEMA_EXAMPLES = ("aqmlab schema", "aqmlab schema > scenario.schema.json")


def list_command(
    category: Annotated[
        str | None,
        typer.Argument(
            help="Category whose names are listed, such as queues, tcp, traffic or scenarios.",
            show_default="list the categories",
            autocompletion=completion.categories,
        ),
    ] = None,
) -> None:
    """List the names that a scenario can use, the ready scenarios, or the studies."""
    from aqmlab.explain import listing

    typer.echo(listing(category))


def explain_command(
    name: Annotated[
        str,
        typer.Argument(
            help="Name to explain: a table or key of a scenario, such as red, tcp, minth or "
            "red.minth, a ready scenario, or a study.",
            autocompletion=completion.explained,
        ),
    ],
) -> None:
    """Explain a queue, another part of a scenario, a ready scenario, or a study.

    The explanation states the unit, default, range and source of each parameter.
    """
    from aqmlab.explain import explanation

    typer.echo(explanation(name))


def schema_command() -> None:
    """Print the JSON Schema of scenarios, which an editor can use to check a scenario file."""
    import json

    from aqmlab import manual

    typer.echo(json.dumps(manual.schema(), indent=1, ensure_ascii=False))
