"""The X2CBBR matcher with context lanes: its Verilog, its driver, and the tools that run and measure them."""
