"""`aqmlab doctor`: what this machine can run."""

from typing import Annotated

import typer

from aqmlab.command.terminal import console, print_text

EXAMPLES = ("aqmlab doctor", "aqmlab doctor --build-kernel")


def doctor_command(
    build_kernel: Annotated[
        bool,
        typer.Option(
            "--build-kernel",
            help="Build the kernel of the testbed, if it does not exist. The build needs Debian "
            "packages, whose command for installation is printed if they are missing, and some 30 "
            "minutes of processor time.",
        ),
    ] = False,
) -> None:
    """Show which engines work on this machine, and what the others need.

    The testbed runs scenarios over the TCP of a Linux kernel. The back end testbed:kernel boots a
    kernel of its own in virtual time, and testbed:host uses the kernel of this machine.
    """
    from aqmlab.engine import available_cores
    from aqmlab.engine.testbed import image

    if build_kernel:
        path = image.build(lambda text: typer.echo(f"aqmlab: {text}", err=True), available_cores())
        print_text(f"The kernel is {path}.")
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for heading in ("engine", "works", "what is missing"):
        table.add_column(heading)
    for name, missing in _engines().items():
        table.add_row(name, "no" if missing else "yes", missing)
    console().print(table)


def _engines() -> dict[str, str]:
    """Return each engine with what it lacks on this machine, or with an empty text."""
    from aqmlab.engine.testbed import host, image

    kernel = ""
    if not image.path().is_file():
        packages = image.missing()
        steps = [packages, image.BUILD_COMMAND] if packages else [image.BUILD_COMMAND]
        kernel = f"the kernel is not built; run `{' && '.join(steps)}`"
    here = host.missing()
    return {
        "simulator": "",
        **dict.fromkeys(["testbed:kernel", "testbed:uml"], kernel),
        **dict.fromkeys(["testbed:host", "testbed:host-tc"], here),
    }
