"""Whose an address is: against a browser that gets messages and sends events in order, however late both are."""

from __future__ import annotations

from collections import deque

from hypothesis import given
from hypothesis import strategies as st

from pages._address import MOST, Trail

VALUES = st.integers(0, 3)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("change"), VALUES),  # the server writes another address
        st.tuples(st.just("arrive"), st.just(0)),  # the next message reaches the browser
        st.tuples(st.just("event"), st.just(0)),  # the browser sends an event
        st.tuples(st.just("drop"), st.just(0)),  # Streamlit drops the next message: it was a stale run's
    ),
    max_size=60,
)


def address(value: int) -> dict[str, str]:
    return {"n_elements": str(value)}


def taken(trail: Trail, given: dict[str, str]) -> bool:
    """Whether that address is taken for a person's; notes it as a page does."""
    person = not trail.is_echo(given)
    assert trail.follow(object(), given, trail.version)
    return person


@given(STEPS)
def test_an_echo_is_never_taken_for_a_person_s(steps):
    trail, on_the_way, held = Trail(), deque(), address(0)
    trail.send(held)
    for what, value in steps:
        if what == "change":
            trail.send(address(value))
            on_the_way.append(address(value))
        elif what == "arrive" and on_the_way:
            held = on_the_way.popleft()
        elif what == "drop" and on_the_way:
            on_the_way.popleft()
        assert what != "event" or not taken(trail, held)


@given(st.lists(st.integers(0, 9), min_size=3, max_size=10, unique=True), st.data())
def test_an_address_that_the_browser_has_left_is_a_person_s(values, data):
    trail = Trail()
    for value in values:
        trail.send(address(value))
    heard = data.draw(st.integers(1, len(values) - 1))
    assert not taken(trail, address(values[heard]))
    assert taken(trail, address(values[data.draw(st.integers(0, heard - 1))]))
    for value in values[heard + 1 :]:  # these were on their way when the person went back
        assert not taken(trail, address(value))


def test_an_address_that_was_never_written_is_a_person_s():
    trail = Trail()
    trail.send(address(1))
    assert taken(trail, address(7))
    assert not taken(trail, address(7))


def test_an_event_counts_once_and_not_after_a_newer_one():
    trail, first, second = Trail(), object(), object()
    version = trail.version
    assert trail.follow(first, address(1), version)
    assert not trail.is_new(first)
    assert trail.is_new(second)
    assert not trail.follow(second, address(2), version)
    assert trail.is_new(second)


def test_a_trail_is_bounded():
    trail = Trail()
    for value in range(MOST + 10):
        trail.send(address(value))
    assert not trail.is_echo(address(9))
    assert trail.is_echo(address(10))
