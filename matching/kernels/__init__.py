"""The kernels of matching: what numba compiles. `layout` says what stands where in the arrays they share."""
