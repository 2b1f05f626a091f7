"""Tests of the reports of studies: each report is one HTML file, which loads no other file."""

from html.parser import HTMLParser
from pathlib import Path

from aqmlab.report import Chapter, Entry, Picture, Report, Score, Table, inline_svg, write_report

SVG = (
    '<?xml version="1.0"?>\n<svg width="9pt" height="9pt" viewBox="0 0 9 9">'
    '<metadata>x</metadata><clipPath id="a"/>'
    '<g clip-path="url(#a)"><use xlink:href="#a"/></g></svg>\n'
)


class Ids(HTMLParser):
    """Parser that collects the ids and the link targets of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Store the id and the link target of a tag."""
        for key, value in attrs:
            if key == "id":
                self.ids.append(value or "")
            if tag == "a" and key == "href":
                self.links.append(value or "")


def test_an_inline_figure_has_a_view_box_and_ids_with_its_prefix() -> None:
    svg = inline_svg(SVG, "f")
    assert svg.startswith('<svg viewBox="0 0 9 9">')
    assert "metadata" not in svg
    assert 'id="f-a"' in svg
    assert "url(#f-a)" in svg
    assert 'href="#f-a"' in svg


def test_a_report_escapes_text_and_has_unique_ids_for_all_links(tmp_path: Path) -> None:
    table = Table("c <1>", ["a", "b"], [["row", Entry("1 < 2", "sub", "good", "a note")]])
    pictures = [Picture(name, "seen", inline_svg(SVG, name)) for name in ("f", "g")]
    chapters = [
        Chapter("one", "One & only", ["text"], [table], pictures),
        Chapter("two", "Folded", ["more"], folded=True),
    ]
    report = Report("Title", ["lead"], [Score("cells", "30", "of 35")], chapters, "end")
    write_report(report, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text("utf-8")
    for part in ("One &amp; only", "1 &lt; 2", "<small>sub</small>", 'class="good"', "<details>"):
        assert part in page, part
    parser = Ids()
    parser.feed(page)
    assert len(parser.ids) == len(set(parser.ids))
    assert {f"#{i}" for i in ("one", "two")} == set(parser.links)
