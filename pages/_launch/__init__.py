"""The parts of the launch page."""
