"""How kernels are run and looked at; knows operators only through kernels/operator.py."""
