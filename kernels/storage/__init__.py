"""Data to files and back: one codec that validates, regular files up to a bound, folders read again only where they changed."""
