// FSM2 of the XPath registering interface: finds a filter in the CAM, or writes it to a free entry, and
// hands the row to FSM3.
`default_nettype none

module xpath_fsm2 #(
    parameter WIDTH   = 32,                   // bits of a filter
    parameter ADDRESS = 8                     // bits of a row's address
) (
    input  wire               clk,
    input  wire               rst,
    // FSM1
    input  wire               filter_valid,
    input  wire [WIDTH-1:0]   filter,
    output wire               filter_done,
    output wire               filter_failed,
    // CAM
    output wire               key_valid,
    output wire [WIDTH-1:0]   key,
    input  wire               answer_valid,
    input  wire               answer_hit,
    input  wire [ADDRESS-1:0] answer_address,
    output wire               write,
    output wire [ADDRESS-1:0] write_address,
    // rows
    input  wire               crt_is_full,
    input  wire [ADDRESS-1:0] crt_free,
    // FSM3
    output wire               append,
    output wire [ADDRESS-1:0] append_address,
    input  wire               append_done,
    input  wire               append_failed
);
    localparam [1:0] IDLE = 2'd0, SEARCH = 2'd1, APPEND = 2'd2;

    reg [1:0] state_reg;

    wire answered = state_reg == SEARCH && answer_valid;
    wire misses   = answered && !answer_hit;

    assign key_valid      = state_reg == IDLE && filter_valid;
    assign key            = filter;
    assign write          = misses && !crt_is_full;
    assign write_address  = crt_free;
    assign append         = answered && (answer_hit || !crt_is_full);
    assign append_address = answer_hit ? answer_address : crt_free;
    assign filter_done    = state_reg == APPEND && append_done;
    assign filter_failed  = (misses && crt_is_full) || (state_reg == APPEND && append_failed);

    always @(posedge clk) begin
        case (state_reg)
            IDLE:    if (filter_valid) state_reg <= SEARCH;
            SEARCH:  if (answered) state_reg <= append ? APPEND : IDLE;
            default: if (append_done || append_failed) state_reg <= IDLE;
        endcase
        if (rst) state_reg <= IDLE;
    end
endmodule

`default_nettype wire
