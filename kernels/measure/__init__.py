"""Measuring on the attached GPU: what is compared, how it is timed, what the figures mean, and how they are kept."""
