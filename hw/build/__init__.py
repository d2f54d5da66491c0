"""The tools that work on the Verilog: simulation, synthesis, place and route, and the figures that they give."""
