"""The process of the tests interprets kernels, as the trace worker does; what compiles or launches runs in workers."""

import os

os.environ["TRITON_INTERPRET"] = "1"
