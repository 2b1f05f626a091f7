"""`aqmlab list`, `explain` and `schema`: what a scenario can name."""

from typing import Annotated

import typer


def list_command(
    category: Annotated[
        str | None,
        typer.Argument(
            help="queues, tcp, traffic, distributions, network, scenario, studies …; default: list "
            "the categories."
        ),
    ] = None,
) -> None:
    """List what a scenario can name, and the studies."""
    from aqmlab.explain import listing

    typer.echo(listing(category))


def explain(
    name: Annotated[str, typer.Argument(help="E.g. red, tcp, minth, red.minth, or a study.")],
) -> None:
    """Explain a name: what it is, and each parameter with unit, default, range and source."""
    from aqmlab.explain import explanation

    typer.echo(explanation(name))


def schema() -> None:
    """Print the JSON Schema of a scenario."""
    import json

    from aqmlab import manual

    typer.echo(json.dumps(manual.schema(), indent=1, ensure_ascii=False))
