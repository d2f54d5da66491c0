// FSM3 of the XPath registering interface, for rows that are bitmaps: bit t of a filter's row says that
// subscription t has the filter.
//
// Appending is one read and one write. A sweep removes one t-SID from all rows, a row a cycle, and frees
// the rows that become empty. The number of subscriptions of a filter (its visitors) is stored with its
// row: the 32nd reports a high commonality degree, as a full row of the paper does.
`default_nettype none

module xpath_fsm3_bitmap #(
    parameter ROWS    = 256,
    parameter SIDS    = 256,                  // bits of a row
    parameter SLOTS   = 31,                   // subscriptions of a filter; one more reports HCD
    parameter ADDRESS = $clog2(ROWS),
    parameter SID     = $clog2(SIDS)
) (
    input  wire               clk,
    input  wire               rst,
    input  wire [SIDS-1:0]    who,            // the t-SID to append or to remove, as a bit
    // FSM2: append it to a row
    input  wire               append,
    input  wire [ADDRESS-1:0] append_address,
    output wire               append_done,
    output wire               append_is_new,  // the row did not have it
    output wire               hcd,
    // FSM1: remove it from all rows
    input  wire               sweep_start,
    output wire               sweep_done,
    // rows, and the number of subscriptions of each
    output wire               read,
    output wire [ADDRESS-1:0] read_address,
    input  wire [SIDS-1:0]    row,
    input  wire [SID-1:0]     visitors,
    output wire               write,
    output wire [ADDRESS-1:0] write_address,
    output wire [SIDS-1:0]    write_row,
    output wire [SID-1:0]     write_visitors,
    // this row has become empty
    output wire               give,
    output wire [ADDRESS-1:0] give_address
);
    localparam [1:0] IDLE = 2'd0, APPEND = 2'd1, SWEEP = 2'd2;

    reg [1:0]         state_reg;
    reg [ADDRESS-1:0] address_reg;            // of the row to read in a sweep
    reg [ADDRESS-1:0] at_reg;                 // of the row in `row`
    reg               is_here_reg;
    reg               is_over_reg;            // the sweep has read all rows

    wire has    = |(row & who);
    wire leaves = state_reg == SWEEP && is_here_reg && has;

    assign append_done    = state_reg == APPEND;
    assign append_is_new  = append_done && !has;
    assign hcd            = append_is_new && visitors >= SLOTS[SID-1:0];
    assign sweep_done     = state_reg == SWEEP && is_over_reg && !is_here_reg;
    assign read           = (state_reg == IDLE && append) || (state_reg == SWEEP && !is_over_reg);
    assign read_address   = state_reg == SWEEP ? address_reg : append_address;
    assign write          = append_is_new || leaves;
    assign write_address  = at_reg;
    assign write_row      = row ^ who;
    assign write_visitors = leaves ? visitors - 1'b1 : visitors + 1'b1;
    assign give           = leaves && visitors == 1;
    assign give_address   = at_reg;

    always @(posedge clk) begin
        case (state_reg)
            IDLE:    if (append) state_reg <= APPEND;
                     else if (sweep_start) state_reg <= SWEEP;
            SWEEP:   if (sweep_done) state_reg <= IDLE;
            default: state_reg <= IDLE;
        endcase
        if (rst) state_reg <= IDLE;
    end

    always @(posedge clk) begin
        at_reg      <= read_address;
        is_here_reg <= state_reg == SWEEP && !is_over_reg;
        if (state_reg == SWEEP && !is_over_reg) begin
            address_reg <= address_reg + 1'b1;
            is_over_reg <= &address_reg;
        end
        if (state_reg == IDLE) begin
            address_reg <= {ADDRESS{1'b0}};
            is_over_reg <= 1'b0;
        end
    end
endmodule

`default_nettype wire
