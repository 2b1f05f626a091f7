"""The public names of the package, which change only with an entry in the changelog."""

import subprocess
import sys

import aqmlab

PUBLIC = """
Arrival CustomQueue Dumbbell Flow Graph InvariantViolation Link PASS Packet Place Record Result
Scenario ScenarioError ScenarioWarning Sweep Tcp Verdict __doc__ __version__ compare comparison
custom drop engine experiment figures measures models parameters replicate run run_each run_many
script signal statistics store studies sweep tc
"""


def test_the_public_names_of_the_package_are_unchanged() -> None:
    assert dir(aqmlab) == sorted(PUBLIC.split())


def test_each_public_name_exists_in_a_new_process() -> None:
    code = "import aqmlab; [getattr(aqmlab, name) for name in dir(aqmlab)]; from aqmlab import *"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_table_of_a_scenario_has_a_short_name() -> None:
    for name in aqmlab.parameters.__all__:
        assert getattr(aqmlab, name) is getattr(aqmlab.parameters, name)


def test_import_aqmlab_imports_no_large_library() -> None:
    code = (
        "import sys, aqmlab; print(*{'numpy', 'pandas', 'pyarrow', 'scipy', 'matplotlib', 'typer',"
        " 'jinja2'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
