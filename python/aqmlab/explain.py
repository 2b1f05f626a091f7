"""Manual pages as plain text, for ``aqmlab explain`` and ``aqmlab list``."""

import shutil
import textwrap
from importlib import resources

from aqmlab import manual, ready, studies
from aqmlab.manual import Page, Parameter, Rule, Variable
from aqmlab.scenario import toml_value

CATEGORIES = {
    "queues": "Queue disciplines and their AQMs.",
    "classes": "Classes of schedulers.",
    "diffserv": "Rules that match, meter, mark and drop packets.",
    "impairments": "Packet losses, delays and rate changes on a link.",
    "tcp": "Keys of TCP.",
    "traffic": "Kinds of traffic.",
    "distributions": "Distributions of sizes, times and counts.",
    "network": "Networks and their links.",
    "scenario": "All other tables of a scenario.",
    "scenarios": "Ready scenarios, which every command accepts by name.",
    "studies": "Published studies that `aqmlab reproduce` simulates.",
}


def listing(category: str | None = None) -> str:
    """Return a list of names with one-line descriptions: a category's names, or all categories.

    Raises
    ------
    ValueError
        If the category does not exist.
    """
    if category is None:
        return _columns(list(CATEGORIES.items()))
    if category not in CATEGORIES:
        raise ValueError(f"{category!r} is not a category; choose one of {', '.join(CATEGORIES)}")
    if category == "studies":
        return _columns([(name, studies.title(name)) for name in studies.names()])
    if category == "scenarios":
        return _columns([(name, f"{ready.title(name)}.") for name in ready.names()])
    pages = manual.in_category(category)
    rows = [(page.name, page.about.partition(". ")[0].rstrip(".") + ".") for page in pages]
    if len(pages) == 1:  # the only page: list its keys too
        rows += [(p.name, _line(p)) for p in pages[0].parameters]
    return _columns(rows)


def _line(p: Parameter) -> str:
    words = f" One of {', '.join(word for word, _ in p.choices)}." if p.choices else ""
    return f"{p.meaning}{words} Default: {p.default_text}."


def explanation(name: str) -> str:
    """Return the manual page of a table, a key, a choice of a key, a study or a ready scenario.

    Raises
    ------
    ValueError
        If the manual has no page for the name; the message lists similar names.

    Examples
    --------
    >>> print(explanation("red.maxp"))
    red.maxp
        Signal probability when the average queue length reaches maxth (maxp).
        Default: 0.1. Range: above 0, at most 1.
        Source: floyd1997parameters: 1/10.
    """
    if name in studies.names():
        return study_page(name)
    if name in ready.names():
        return scenario_page(name)
    for page in manual.pages().values():
        for word in page.implied:
            if name == f"{page.name}.{word}":
                return implied_text(page, word)
    matches = manual.find(name)
    alike: dict[str, list[tuple[Page, Parameter]]] = {}
    texts = []
    for page, p in matches:
        if p is None:
            texts.append(page_text(page))
        else:
            alike.setdefault(key_text(p), []).append((page, p))
    return "\n".join([*texts, *(_shared_key_text(owners) for owners in alike.values())])


def _shared_key_text(owners: list[tuple[Page, Parameter]]) -> str:
    """Return the description of a key, and the pages that share this key."""
    page, p = owners[0]
    if len(owners) == 1:
        return key_text(p, page)
    pages = ", ".join(page.name for page, _ in owners)
    return "\n".join([key_text(p), *_wrap(f"A key of {pages}.", 4)])


def study_page(name: str) -> str:
    """Return the README of a study."""
    folder = resources.files("aqmlab.studies") / name.replace("-", "_")
    return (folder / "README.md").read_text("utf-8").rstrip()


def scenario_page(name: str) -> str:
    """Return the description of a ready scenario, and the path of its file."""
    file = f"The file of this scenario is {ready.FOLDER / f'{name}.toml'}"
    return "\n\n".join([f"{ready.title(name)}.", ready.description(name), file])


def page_text(page: Page) -> str:
    """Return the manual page of a table."""
    lines = ["NAME", f"    {page.name} ({page.category})", ""]
    if page.has_kind:
        lines += ["SYNTAX", f'    {{ kind = "{page.name}", ... }}', ""]
    lines += ["DESCRIPTION", *_wrap(page.about, 4)]
    tables = {p.name: table for p in page.parameters if (table := manual.table_of_key(p))}
    if len(tables) < len(page.parameters):
        lines += ["", "PARAMETERS"]
    for p in page.parameters:
        if p.name not in tables:
            lines += [textwrap.indent(key_text(p), "    "), ""]
    if tables:
        rows = [
            (p.name, table_line(p, tables[p.name])) for p in page.parameters if p.name in tables
        ]
        lines += ["TABLES", _columns(rows, 4), ""]
    if page.implied:
        rows = [
            (f"aqmlab explain {page.name}.{word}", "Keys that it sets.") for word in page.implied
        ]
        lines += ["WORDS THAT SET KEYS", _columns(rows, 4), ""]
    for title, entries in (("RULES", page.rules), ("VARIABLES", page.variables)):
        if entries:
            lines += [title, *(line for entry in entries for line in _reason(entry)), ""]
    if any(p.source for p in page.parameters):
        lines += ["SOURCES", *_wrap("Citation keys such as rfc5681 refer to references.bib.", 4)]
    return "\n".join(lines).rstrip()


def _reason(entry: Rule | Variable) -> list[str]:
    """Return the lines about a rule or a variable of the series ``why`` and ``why_cwnd``."""
    unit = f" ({entry.unit})" if isinstance(entry, Variable) and entry.unit else ""
    return [f"    {entry.name}{unit}", *_wrap(f"{entry.meaning} Source: {entry.source}.", 8)]


def implied_text(page: Page, word: str) -> str:
    """Return the help text of a word such as ``stack.linux``: the keys that the word sets."""
    key, _, value = word.partition(".")
    about = f'Keys that {key} = "{value}" sets, unless the scenario has them.'
    rows = [(path, toml_value(value)) for path, value in manual.implied_keys(page, word)]
    return "\n".join(["NAME", f"    {page.name}.{word}", "", "DESCRIPTION", f"    {about}", "",
                      "KEYS", _columns(rows, 4)])  # fmt: skip


def table_line(p: Parameter, table: Page) -> str:
    """Return the meaning of a key whose value is a table, and the command that explains it."""
    short = f" A text is its {table.shorthand}." if table.shorthand else ""
    return f"{p.meaning}{short} See `aqmlab explain {table.name}`."


def key_text(p: Parameter, page: Page | None = None) -> str:
    """Return the description of a key: name, unit, meaning, choices, default, range and source."""
    name = f"{page.name}.{p.name}" if page else p.name
    lines = [f"{name} ({p.unit})" if p.unit else name, *_wrap(p.meaning, 4)]
    for word, meaning in p.choices:
        lines += _wrap(f'"{word}": {meaning}', 6, hanging=2)
    bounds = f" Range: {p.range}." if p.range else ""
    lines += _wrap(f"Default: {p.default_text}.{bounds}", 4)
    if p.source:
        lines += _wrap(f"Source: {p.source}.", 4)
    return "\n".join(lines)


def _width() -> int:
    return min(100, shutil.get_terminal_size((100, 24)).columns)


def _wrap(text: str, indent: int, hanging: int = 0) -> list[str]:
    lines = []
    for paragraph in text.split("\n\n"):
        lines += textwrap.wrap(
            paragraph, _width() - 4, initial_indent=" " * indent, break_on_hyphens=False,
            subsequent_indent=" " * (indent + hanging), break_long_words=False,
        )  # fmt: skip
    return lines


def _columns(rows: list[tuple[str, str]], indent: int = 0) -> str:
    """Format rows of two columns, with the second column wrapped at the width of the terminal."""
    wide = max(len(name) for name, _ in rows) + 2
    lines = []
    for name, meaning in rows:
        text = textwrap.wrap(meaning, max(20, _width() - wide - indent), break_on_hyphens=False)
        lines += [f"{name:{wide}}{text[0]}", *(" " * wide + more for more in text[1:])]
    return textwrap.indent("\n".join(lines), " " * indent)
