// Selects the subscriptions whose context admits the publication. While the lanes scan the rows, it picks
// from their answers the one for each subscription's row, so it is ready when the scan ends.
`default_nettype none

module context_selector #(
    parameter SIDS  = 256,
    parameter LANES = 16,
    parameter ROW   = 8,                      // bits of a subscriber's row
    parameter GROUP = 4,                      // bits of a group: the row's without the lane's
    parameter SID   = $clog2(SIDS)
) (
    input  wire             clk,
    input  wire             rst,
    // a subscription's row; it is matched in context only if `link_in_context` is set
    input  wire             link,
    input  wire [SID-1:0]   link_sid,
    input  wire             link_in_context,
    input  wire [ROW-1:0]   link_row,
    // answers of the lanes
    input  wire             forget,           // a publication begins
    input  wire             contained_valid,
    input  wire [GROUP-1:0] contained_group,
    input  wire [LANES-1:0] contained,
    output wire [SIDS-1:0]  is_selected       // inside its box, or not matched in context
);
    localparam LANE = LANES > 1 ? $clog2(LANES) : 1;

    reg [GROUP-1:0] group_reg [0:SIDS-1];
    reg [LANE-1:0]  lane_reg [0:SIDS-1];
    reg [SIDS-1:0]  in_context_reg;
    reg [SIDS-1:0]  is_contained_reg;
    integer         t;

    wire [31:0] row    = {{(32 - ROW){1'b0}}, link_row};
    wire [31:0] group  = row / LANES;
    wire [31:0] lane   = row % LANES;
    wire        unused = &{1'b0, group[31:GROUP], lane[31:LANE]};

    assign is_selected = ~in_context_reg | is_contained_reg;

    always @(posedge clk) begin
        if (link) begin
            group_reg[link_sid]      <= group[GROUP-1:0];
            lane_reg[link_sid]       <= lane[LANE-1:0];
            in_context_reg[link_sid] <= link_in_context;
        end
        if (contained_valid)
            for (t = 0; t < SIDS; t = t + 1)
                if (group_reg[t] == contained_group) is_contained_reg[t] <= contained[lane_reg[t]];
        if (rst || forget) is_contained_reg <= {SIDS{1'b0}};
        if (rst) in_context_reg <= {SIDS{1'b0}};
    end
endmodule

`default_nettype wire
