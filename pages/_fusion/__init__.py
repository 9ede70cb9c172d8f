"""The parts of the page that compares fused with unfused."""
