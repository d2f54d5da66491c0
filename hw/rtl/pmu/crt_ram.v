// A memory of the content routing table: in one cycle, one row can be read and another written.
`default_nettype none

module crt_ram #(
    parameter WIDTH   = 256,                  // bits of a row
    parameter DEPTH   = 256,                  // rows
    parameter ADDRESS = $clog2(DEPTH)
) (
    input  wire               clk,
    input  wire               read,
    input  wire [ADDRESS-1:0] read_address,
    output reg  [WIDTH-1:0]   row_reg,        // the last row that was read
    input  wire               write,
    input  wire [ADDRESS-1:0] write_address,
    input  wire [WIDTH-1:0]   write_row
);
    reg [WIDTH-1:0] memory [0:DEPTH-1];

    always @(posedge clk) begin
        if (read) row_reg <= memory[read_address];
        if (write) memory[write_address] <= write_row;
    end
endmodule

`default_nettype wire
