// Takes publications from an AXI4-Stream: two beats of position (x, or NO_POSITION, and y), then words,
// one a cycle. The last beat has TLAST, also if there is no word.
//
// A publication waits (TREADY low) until it is allowed to begin. Once it has begun, nothing stops it.
`default_nettype none

module publication_stream #(
    parameter WIDTH = 32
) (
    input  wire             clk,
    input  wire             rst,
    // AXI4-Stream
    input  wire [WIDTH-1:0] s_axis_tdata,
    input  wire             s_axis_tvalid,
    output wire             s_axis_tready,
    input  wire             s_axis_tlast,
    // the publication
    input  wire             allowed,
    output wire             start,            // a publication begins
    output wire             position_valid,   // it has a position
    output wire [WIDTH-1:0] x,
    output wire [WIDTH-1:0] y,
    output wire             word_valid,
    output wire             word_last,        // with a word or without
    output wire [WIDTH-1:0] word
);
    localparam [WIDTH-1:0] NO_POSITION = {1'b1, {(WIDTH - 1){1'b0}}};
    localparam [1:0] X = 2'd0, Y = 2'd1, WORDS = 2'd2;

    reg [1:0]       state_reg;
    reg [WIDTH-1:0] x_reg;

    wire takes = s_axis_tvalid && s_axis_tready;

    assign s_axis_tready  = state_reg == X ? allowed : 1'b1;
    assign start          = takes && state_reg == X;
    assign position_valid = takes && state_reg == Y && x_reg != NO_POSITION;
    assign x              = x_reg;
    assign y              = s_axis_tdata;
    assign word_valid     = takes && state_reg == WORDS;
    assign word_last      = takes && s_axis_tlast;
    assign word           = s_axis_tdata;

    always @(posedge clk) begin
        if (start) x_reg <= s_axis_tdata;
        if (takes) begin
            if (s_axis_tlast) state_reg <= X;
            else state_reg <= state_reg == X ? Y : WORDS;
        end
        if (rst) state_reg <= X;
    end
endmodule

`default_nettype wire
