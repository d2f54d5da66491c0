// A lane of the contextManager: rows of boxes, of which one a cycle is compared with the publication's
// position. Borders belong to the box.
`default_nettype none

module context_lane #(
    parameter ROWS    = 16,
    parameter WIDTH   = 32,                   // bits of a coordinate, signed
    parameter ADDRESS = ROWS > 1 ? $clog2(ROWS) : 1
) (
    input  wire               clk,
    // one row: whether it has a box, and the box
    input  wire               write,
    input  wire [ADDRESS-1:0] write_address,
    input  wire               write_valid,
    input  wire [4*WIDTH-1:0] write_box,      // {y_high, y_low, x_high, x_low}
    // test: the answer comes with the second edge
    input  wire               read,
    input  wire [ADDRESS-1:0] read_address,
    input  wire [WIDTH-1:0]   x,
    input  wire [WIDTH-1:0]   y,
    output reg                contained_reg
);
    reg [4*WIDTH:0] memory [0:ROWS-1] /* verilator public_flat_rw */;
    reg [4*WIDTH:0] row_reg;

    wire signed [WIDTH-1:0] x_low  = row_reg[0*WIDTH +: WIDTH];
    wire signed [WIDTH-1:0] x_high = row_reg[1*WIDTH +: WIDTH];
    wire signed [WIDTH-1:0] y_low  = row_reg[2*WIDTH +: WIDTH];
    wire signed [WIDTH-1:0] y_high = row_reg[3*WIDTH +: WIDTH];

    always @(posedge clk) begin
        if (write) memory[write_address] <= {write_valid, write_box};
        if (read) row_reg <= memory[read_address];
        contained_reg <= row_reg[4*WIDTH]
                      && $signed(x) >= x_low && $signed(x) <= x_high
                      && $signed(y) >= y_low && $signed(y) <= y_high;
    end
endmodule

`default_nettype wire
