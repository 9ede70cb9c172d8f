"""The parts of the check's page."""
