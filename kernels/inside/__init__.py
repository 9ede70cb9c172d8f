"""What is inside a launch: the stages of the compiler, and who does the work in the hardware."""
