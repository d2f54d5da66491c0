"""The X2CBBR matcher with context lanes: its Verilog, its driver, and what runs and measures them."""
