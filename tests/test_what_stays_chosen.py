"""What of a request is shown stays chosen where the request changes in a way that it does not depend on."""

from __future__ import annotations

import pytest

from .test_pages import checked, field, page


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [("segmented_control", "dtype", "bfloat16"), ("pills", "what_if", "no_mask"), ("selectbox", "layout", "strided")],
)
def test_another_dtype_what_if_or_layout_keeps_program_and_step(kind, name, value):
    app = page(operator="rms_norm", rows="6", columns="5", program="2", step="3")
    checked(field(app, kind, name).set_value(value).run())
    settings = app.session_state["launch.settings"]
    assert (settings.program, settings.step) == (2, 3)
    shown = {"dtype": settings.request.problem.dtype, "what_if": settings.request.what_if, "layout": settings.request.layout}
    assert shown[name] == value


def test_another_size_starts_at_its_own_program():
    app = page(operator="rms_norm", rows="6", columns="5", program="2", step="3")
    fresh = page(operator="rms_norm", rows="7", columns="5")
    checked(field(app, "number_input", "rows").set_value(7).run())
    settings, wanted = (one.session_state["launch.settings"] for one in (app, fresh))
    assert (settings.program, settings.step) == (wanted.program, wanted.step)
