"""Seeded values: the same in NumPy and torch, spread as said, rounded as the hardware rounds."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from kernels import DTYPES, Tensor
from kernels.launch import Filling
from kernels.values import noise, numpy_values, round_to, torch_values


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("filling", [Filling(0), Filling(3, mean=1.0, scale=0.1), Filling(1, period=7)])
def test_numpy_and_torch_give_the_same_bits(dtype, filling):
    tensor = Tensor((1000,), dtype, filling)
    ours = numpy_values(filling, dtype, np.arange(1000), seed=5).astype(np.float32)
    theirs = torch_values(tensor, seed=5, device="cpu")
    assert str(theirs.dtype) == f"torch.{dtype}"
    np.testing.assert_array_equal(ours, theirs.float().numpy())


@given(index=st.integers(0, 2**40 - 1), stream=st.integers(0, 200), seed=st.integers(0, 2**31 - 1))
def test_noise_is_the_same_for_any_index_and_stays_in_its_range(index, stream, seed):
    ours = int(noise(np.array([index], np.int64), stream, seed)[0])
    assert ours == int(noise(torch.tensor([index]), stream, seed)[0])
    assert -65535 <= ours <= 65535


def test_values_have_mean_zero_variance_one_and_differ_between_streams_and_seeds():
    index = np.arange(200_000)
    first = numpy_values(Filling(0), "float32", index, 0).astype(np.float64)
    assert abs(first.mean()) < 0.01
    assert abs(first.var() - 1) < 0.01
    for other in (numpy_values(Filling(1), "float32", index, 0), numpy_values(Filling(0), "float32", index, 1)):
        assert abs(np.corrcoef(first, other)[0, 1]) < 0.01
    assert abs(np.corrcoef(first[:-1], first[1:])[0, 1]) < 0.01


@given(st.floats(width=32, allow_nan=True, allow_infinity=True))
def test_rounding_to_bfloat16_is_torchs(value):
    ours = round_to(np.array([value], np.float32), "bfloat16")
    theirs = torch.tensor([value], dtype=torch.float32).bfloat16().float().numpy()
    np.testing.assert_array_equal(ours, theirs)


def test_a_tensor_longer_than_a_chunk_is_filled_to_its_end(monkeypatch):
    monkeypatch.setattr("kernels.values.CHUNK", 100)
    tensor = Tensor((7, 33), "float32", Filling(2))
    ours = numpy_values(tensor.filling, "float32", np.arange(231), 0).reshape(7, 33)
    np.testing.assert_array_equal(torch_values(tensor, 0, "cpu").numpy(), ours)
