"""The command line, a module a command; needs torch, Triton and NumPy only, each imported where it is used."""
