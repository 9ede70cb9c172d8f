"""Answers of the workers, kept for all sessions of the server within a bound of bytes."""

from __future__ import annotations

import functools
import inspect
import pickle
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar

import streamlit as st

MOST = 8 * 2**20  # bytes of all answers; a picture takes 24 kB on average
WAIT = 0.2  # seconds between two looks whether this run is still wanted

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


class Store:
    """Pickled values by key, those that were not asked for the longest dropped where all take more than `most` bytes."""

    def __init__(self, most: int) -> None:
        self.most, self.bytes = most, 0
        self._values: OrderedDict[object, bytes] = OrderedDict()
        self._busy: dict[object, threading.Lock] = {}
        self._lock = threading.Lock()

    def get(self, key: object) -> bytes | None:
        """What is kept under that key; it counts as asked for."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def put(self, key: object, value: bytes) -> None:
        """Keeps a value; one that is larger than a quarter of the bound is not kept."""
        with self._lock:
            self.bytes -= len(self._values.pop(key, b""))
            if len(value) <= self.most // 4:
                self._values[key] = value
                self.bytes += len(value)
            while self.bytes > self.most:
                self.bytes -= len(self._values.popitem(last=False)[1])

    def drop(self, name: str) -> None:
        """Forgets what is kept of one function."""
        with self._lock:
            for key in [key for key in self._values if key[0] == name]:
                self.bytes -= len(self._values.pop(key))

    def clear(self) -> None:
        """Forgets everything."""
        with self._lock:
            self._values.clear()
            self.bytes = 0

    def busy(self, key: object) -> threading.Lock:
        """The lock of those who want the same value at the same time: one works it out."""
        with self._lock:
            return self._busy.setdefault(key, threading.Lock())

    def done(self, key: object) -> None:
        """Forgets the lock of a value that is there, or that could not be had."""
        with self._lock:
            self._busy.pop(key, None)


STORE = Store(MOST)


def kept(function: Callable[Arguments, Answer]) -> Kept[Arguments, Answer]:
    """Keeps what a function returns, by its arguments whose names do not begin with an underscore; nothing that it raises.

    As `st.cache_data`, with a bound of bytes for all such functions in place of a count for each.
    """
    return Kept(function)


class Kept(Generic[Arguments, Answer]):
    """A function whose answers are kept."""

    def __init__(self, function: Callable[Arguments, Answer]) -> None:
        functools.update_wrapper(self, function)
        self._function, self._signature = function, inspect.signature(function)
        self._name = f"{function.__module__}.{function.__qualname__}"

    def __call__(self, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Answer:
        """The kept answer as a copy of its own, or a new one; a run that is no longer wanted ends while it waits."""
        given = self._signature.bind(*args, **kwargs)
        given.apply_defaults()
        key = (self._name, *(value for name, value in given.arguments.items() if not name.startswith("_")))
        value = STORE.get(key)
        return self._worked_out(key, args, kwargs) if value is None else pickle.loads(value)

    def clear(self) -> None:
        """Forgets all answers of this function."""
        STORE.drop(self._name)

    def _worked_out(self, key: object, args: Any, kwargs: Any) -> Answer:
        lock = STORE.busy(key)
        while not lock.acquire(timeout=WAIT):
            st.session_state.get("entered")  # where Streamlit stops a stale run
        try:
            value = STORE.get(key)
            if value is None:
                value = pickle.dumps(self._function(*args, **kwargs))
                STORE.put(key, value)
            return pickle.loads(value)
        finally:
            STORE.done(key)
            lock.release()
