"""Bytes of DRAM that PyTorch's version of an operator moves: counted, never typed."""
