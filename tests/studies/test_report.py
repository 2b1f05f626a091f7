"""Reports are one file that needs no other."""

from html.parser import HTMLParser
from pathlib import Path

from aqmlab.report import Chapter, Entry, Picture, Report, Score, Table, inline_svg, write_report

SVG = (
    '<?xml version="1.0"?>\n<svg width="9pt" height="9pt" viewBox="0 0 9 9">'
    '<metadata>x</metadata><clipPath id="a"/>'
    '<g clip-path="url(#a)"><use xlink:href="#a"/></g></svg>\n'
)


class Ids(HTMLParser):
    """Collects the ids of a page, and what it links to."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take in the ids and links of a tag."""
        for key, value in attrs:
            if key == "id":
                self.ids.append(value or "")
            if tag == "a" and key == "href":
                self.links.append(value or "")


def test_a_figure_scales_and_keeps_its_ids_apart() -> None:
    svg = inline_svg(SVG, "f")
    assert svg.startswith('<svg viewBox="0 0 9 9">')
    assert "metadata" not in svg
    assert 'id="f-a"' in svg
    assert "url(#f-a)" in svg
    assert 'href="#f-a"' in svg


def test_a_report_is_whole_and_safe(tmp_path: Path) -> None:
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
    found = Ids()
    found.feed(page)
    assert len(found.ids) == len(set(found.ids))
    assert {f"#{i}" for i in ("one", "two")} == set(found.links)
