"""Primary measures of a comparison, which alone are tested for significance."""

from collections.abc import Sequence

from aqmlab.measures import Measure, MeasuredRun, column, is_column, key

PRIMARY = ("goodput_bps", "p95_delay_s", "p95_completion_s", "p95_request_s")
"""Default primary measures, without the name of a link or flow."""


def select(
    standard: list[Measure[MeasuredRun]], names: Sequence[str], links: Sequence[str]
) -> tuple[list[Measure[MeasuredRun]], tuple[str, ...]]:
    """Return the measures of a comparison, and the names of the primary measures among them.

    Parameters
    ----------
    standard : list of Measure
        Standard measures of the links and flows of the comparison.
    names : sequence of str
        Names of measures or columns; empty for the default primary measures. A name without its
        link or flow selects the measure of every link or flow.
    links : sequence of str
        Names of the compared links.

    Raises
    ------
    ValueError
        If a name is neither a standard measure nor a column.
    """
    added: list[Measure[MeasuredRun]] = []
    primary: list[str] = []
    for name in names or PRIMARY:
        matches = [m.name for m in standard if name in (m.name, m.name.partition("@")[0])]
        if not names and name == "goodput_bps":  # The goodput of each link is enough.
            matches = [key(name, link if len(links) > 1 else "") for link in links]
        if not matches and names:
            if not is_column(name):
                known = ", ".join(dict.fromkeys(m.name for m in standard))
                raise ValueError(
                    f"--measure {name!r} is not a measure; choose from {known}, or name a column, "
                    "for example flows.timeouts.sum"
                )
            added.append(column(name))
            matches = [name]
        primary += matches
    return [*standard, *added], tuple(dict.fromkeys(primary))
