"""Names that a shell completes after `aqmlab --install-completion`.

Typer calls a function of this module when the user presses the Tab key, and offers the names that
begin with the typed text. The functions import only modules that read names, because each press of
the key starts a new process.
"""


def scenarios() -> list[str]:
    """Return the names of the ready scenarios; the shell itself completes names of files."""
    from aqmlab import ready

    return ready.names()


def studies() -> list[str]:
    """Return the names of the studies."""
    from aqmlab import studies

    return studies.names()


def queues() -> list[str]:
    """Return the kinds of queue disciplines."""
    from aqmlab import manual

    return [page.name for page in manual.in_category("queues")]


def explained() -> list[str]:
    """Return the names of all pages that `aqmlab explain` shows."""
    from aqmlab import manual

    return [*manual.pages(), *scenarios(), *studies()]


def categories() -> list[str]:
    """Return the categories of `aqmlab list`."""
    from aqmlab.explain import CATEGORIES

    return list(CATEGORIES)
