"""`aqmlab page`: the laboratory in a browser."""

from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Annotated

import typer

from aqmlab.command import completion

EXAMPLES = ("aqmlab page", "aqmlab page dsl --port 8080")
FOLDER = Path(__file__).parents[1] / "data" / "page"
"""Folder of the page, which `make page` builds in a checkout and tools/wheel in a wheel."""


class Handler(SimpleHTTPRequestHandler):
    """Handler of requests for the files of the page, without a log."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (inherited name)
        """Print nothing."""


def page_command(
    scenario: Annotated[
        str | None,
        typer.Argument(
            help="Scenario file or ready scenario that the page shows first.",
            metavar="[SCENARIO]",
            show_default="rfc7928",
            autocompletion=completion.scenarios,
        ),
    ] = None,
    port: Annotated[
        int,
        typer.Option(help="Port of the web server of the page on this machine.", min=0, max=65535),
    ] = 8017,
    browser: Annotated[
        bool,
        typer.Option("--browser/--no-browser", help="Open the page in the default browser."),
    ] = True,
) -> None:
    """Open the laboratory as a page in the browser, and serve the page until Ctrl-C.

    The simulator runs in the page, and its results are those of `aqmlab run`. The folder
    `aqmlab/data/page` of the package can also be copied to any web server. `make page` builds it in
    a checkout.
    """
    fragment = "" if scenario is None else _fragment(scenario)
    if not (FOLDER / "index.html").is_file():
        raise ValueError(
            f"{FOLDER}: the page is not built; run `make page` in a checkout of aqmlab, "
            "which needs Node.js 20 or later, or install a wheel that contains the page"
        )
    try:
        server = ThreadingHTTPServer(("127.0.0.1", port), partial(Handler, directory=str(FOLDER)))
    except OSError as e:
        raise ValueError(f"--port {port}: {e.strerror}; choose another port") from None
    address = f"http://127.0.0.1:{server.server_address[1]}/{fragment}"
    typer.echo(f"The page is at {address}")
    typer.echo("Press Ctrl-C to end.")
    if browser:
        import webbrowser

        webbrowser.open(address)
    with server:
        server.serve_forever()


def _fragment(scenario: str) -> str:
    """Return the fragment of a link to a scenario, which page/src/scenario/link.ts reads."""
    import json
    import zlib
    from base64 import urlsafe_b64encode

    from aqmlab import ready
    from aqmlab.scenario import as_written

    linked: dict[str, object] = {"scenario": as_written(scenario)}
    if ready.located(scenario).parent == ready.FOLDER:
        linked["name"] = scenario
    packer = zlib.compressobj(9, wbits=-15)
    packed = packer.compress(json.dumps(linked).encode()) + packer.flush()
    return f"#s={urlsafe_b64encode(packed).decode().rstrip('=')}"
