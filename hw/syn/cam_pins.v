// The CAM alone, for place and route. Its inputs come from a register that a shift register fills, and its
// answers leave through another shift register, so that four pins are enough and every path of the CAM
// begins and ends in a register. `used` is left open, as in the core with bitmap rows.
`default_nettype none

module cam_pins #(
    parameter FILTERS = 256,
    parameter WIDTH   = 32,
    parameter ADDRESS = $clog2(FILTERS)
) (
    input  wire clk,
    input  wire serial_in,
    input  wire load,                         // pass the input to the CAM and load its answer; else shift
    output wire serial_out
);
    localparam IN  = 2*WIDTH + ADDRESS + 7;
    localparam OUT = ADDRESS + 3;

    reg [IN-1:0]       shift_reg;
    reg [IN-1:0]       in_reg;
    reg [OUT-1:0]      out_reg;
    wire [OUT-1:0]     answer;
    wire [FILTERS-1:0] unused_used;

    assign serial_out = out_reg[OUT-1];

    crt_cam #(.FILTERS(FILTERS), .WIDTH(WIDTH)) cam (
        .clk           (clk),
        .clear         (in_reg[0]),
        .key_valid     (in_reg[1]),
        .key_once      (in_reg[2]),
        .key_last      (in_reg[3]),
        .forget        (in_reg[4]),
        .write         (in_reg[5]),
        .write_used    (in_reg[6]),
        .key           (in_reg[7 +: WIDTH]),
        .write_filter  (in_reg[7+WIDTH +: WIDTH]),
        .write_address (in_reg[7+2*WIDTH +: ADDRESS]),
        .answer_valid  (answer[0]),
        .answer_last   (answer[1]),
        .answer_hit    (answer[2]),
        .answer_address(answer[3 +: ADDRESS]),
        .used          (unused_used)
    );

    always @(posedge clk) begin
        shift_reg <= {shift_reg[IN-2:0], serial_in};
        if (load) in_reg <= shift_reg;
        out_reg   <= load ? answer : {out_reg[OUT-2:0], 1'b0};
    end
endmodule

`default_nettype wire
