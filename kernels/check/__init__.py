"""The new-GPU check: does Triton work here, are results right, is the GPU as fast as it should be, and if not, what to do.

Importing this, its values and its first stage imports neither torch nor Triton: those may be what is broken.
"""
