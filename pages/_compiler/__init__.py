"""The parts of the compiler page."""
