"""A file of requests, one a line."""

from __future__ import annotations

import pytest

from tests.shared_data import shared_data
from workbench.engine.translation import read_requests


@pytest.mark.parametrize(
    ("text", "requests"),
    [
        pytest.param(
            "\ufeff#\r\n# note\r\n#x\r\nfirst\r\n\r\n  \r\n second \r\n", ["first", " second "], id="T117"
        ),
        pytest.param("one # two\nthree", ["one # two", "three"], id="a mark inside a line"),
        pytest.param("", [], id="empty"),
    ],
)
def test_comments_and_blanks_are_skipped_and_line_ends_left_out(text: str, requests: list[str]) -> None:
    assert read_requests(text) == requests


def test_public_request_files_are_read() -> None:
    path = shared_data("typechat-requests", "calendar.txt")
    requests = read_requests(path.read_text(encoding="utf-8"))
    assert len(requests) > 5
    assert all("\n" not in request and request.strip() for request in requests)
