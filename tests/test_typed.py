"""A typed value stays, however late the browser hears of it."""

from __future__ import annotations

import time

from .test_pages import checked, field, page

LATE = 3.5  # seconds; addresses older than 3 s were once taken for a person's


def test_an_event_that_brings_an_older_address_undoes_nothing():
    app = page(n_elements="7", BLOCK_SIZE="4")
    for number in (20, 21):
        checked(field(app, "number_input", "n_elements").set_value(number).run())
        assert app.query_params["n_elements"] in (str(number), [str(number)])
        time.sleep(LATE)
    app.query_params["n_elements"] = "20"  # the browser has not heard of 21
    checked(app.run())
    assert app.session_state["launch.settings"].request.problem["n_elements"] == 21


def test_an_older_address_counts_once_the_browser_had_a_newer_one():
    app = page(n_elements="7", BLOCK_SIZE="4")
    for number in (20, 21):
        checked(field(app, "number_input", "n_elements").set_value(number).run())
    checked(app.run())  # the browser holds 21
    app.query_params["n_elements"] = "20"
    checked(app.run())
    assert app.session_state["launch.settings"].request.problem["n_elements"] == 20
