"""Answers of workers are kept for all sessions within a bound of bytes, each as a copy, worked out once."""

from __future__ import annotations

import pickle
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages._kept import STORE, Store, kept


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 60)), max_size=80))
def test_a_store_never_holds_more_than_its_bound(puts):
    store = Store(100)
    for key, size in puts:
        store.put(("f", key), bytes(size))
        held = {one: store.get(("f", one)) for one in range(21)}
        assert store.bytes == sum(len(value) for value in held.values() if value is not None) <= 100
        assert (held[key] is not None) == (size <= 25)


def test_what_was_not_asked_for_the_longest_goes_first():
    store = Store(100)
    for key in "abcd":
        store.put(("f", key), bytes(25))
    store.get(("f", "a"))
    store.put(("f", "e"), bytes(25))
    assert [key for key in "abcde" if store.get(("f", key)) is not None] == ["a", "c", "d", "e"]


def test_answers_are_copies_and_failures_are_not_kept():
    calls = []

    @kept
    def answer(key: str, _request: object, number: int = 1) -> list[int]:
        calls.append(number)
        if number < 0:
            raise ValueError("no")
        return [number]

    answer("a", object()).append(5)
    assert answer("a", object()) == [1]
    assert answer("a", None, 2) == [2]
    assert calls == [1, 2]
    for _ in range(2):
        with pytest.raises(ValueError, match="no"):
            answer("a", None, -1)
    assert calls == [1, 2, -1, -1]
    answer.clear()
    answer("a", None)
    assert calls[-1] == 1
    assert STORE.bytes >= len(pickle.dumps([1]))
    answer.clear()


def test_ten_who_want_the_same_wait_for_one():
    calls = []

    @kept
    def slow(key: str) -> str:
        calls.append(key)
        time.sleep(0.3)
        return key

    threads = [threading.Thread(target=slow, args=("k",)) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert calls == ["k"]
    slow.clear()
