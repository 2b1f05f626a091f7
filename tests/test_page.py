"""Tests of the command that serves the page."""

import base64
import json
import subprocess
import sys
import urllib.request
import zlib
from pathlib import Path

import pytest

from aqmlab.command import execute, page
from aqmlab.scenario import as_written


def test_the_command_serves_the_folder_and_links_to_the_scenario(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("the page")
    code = (
        "from pathlib import Path; from aqmlab.command import execute, page;"
        f"page.FOLDER = Path({str(tmp_path)!r});"
        "execute(['page', 'dsl', '--port', '0', '--no-browser'])"
    )
    command = [sys.executable, "-u", "-c", code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        address = process.stdout.readline().removeprefix("The page is at ").strip()
        try:
            url, _, packed = address.partition("#s=")
            with urllib.request.urlopen(url) as response:
                assert response.read() == b"the page"
        finally:
            process.kill()
    padded = packed + "=" * (-len(packed) % 4)
    linked = json.loads(zlib.decompress(base64.urlsafe_b64decode(padded), wbits=-15))
    assert linked == {"scenario": as_written("dsl"), "name": "dsl"}


def test_a_page_that_is_not_built_is_an_error_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(page, "FOLDER", tmp_path)
    assert execute(["page", "--no-browser"]) == 2
    assert "the page is not built; run `make page`" in capsys.readouterr().err


def test_an_unknown_scenario_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["page", "dls", "--no-browser"]) == 2
    assert "did you mean l4s or dsl" in capsys.readouterr().err
