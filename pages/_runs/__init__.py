"""The parts of the page of runs."""
