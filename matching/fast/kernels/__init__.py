"""The kernels of matching, which numba compiles. `layout` defines the arrays that they share."""
