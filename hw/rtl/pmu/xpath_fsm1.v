// FSM1 of the XPath registering interface: takes a subscription, gets a t-SID for it from the SMT, and
// hands its filters to FSM2, one after the other.
//
// A subscription without filters or with too many is cleared (lines 7 and 8 of the registration
// algorithm). If there is no room for one of its filters, the filters before it are removed again: a
// subscription is registered completely or not at all. The same sweep removes a subscription (REMOVE).
`default_nettype none

module xpath_fsm1 #(
    parameter WIDTH = 32,                     // bits of a filter
    parameter MOST  = 16,                     // filters of a subscription
    parameter SIDS  = 256,
    parameter SID   = $clog2(SIDS),
    parameter COUNT = $clog2(MOST + 2)
) (
    input  wire             clk,
    input  wire             rst,
    // the subscription, filter by filter; one filter beyond MOST is counted, but not stored
    input  wire             push,
    input  wire [WIDTH-1:0] push_filter,
    input  wire             drop,
    output wire [COUNT-1:0] count,
    // commands; each ends with `finished` and a failure, or none (register_file.v has the codes)
    input  wire             start_register,
    input  wire             start_remove,
    input  wire [SID-1:0]   remove_sid,
    output wire             busy,
    output reg              finished,
    output reg  [2:0]       failure,
    output wire [SID-1:0]   sid,              // the t-SID that it assigned, or is removing
    output reg  [SIDS-1:0]  who_reg,          // the same as a bit, valid two cycles after the start
    // SMT
    input  wire             smt_is_full,
    input  wire [SID-1:0]   smt_free,
    input  wire             smt_is_used,      // `remove_sid` is in use
    output reg              smt_take,         // assign `sid_next` to the subscription
    output reg              smt_give,         // free `sid`
    output wire [SID-1:0]   sid_next,
    // FSM2: one filter; the earliest `filter_done` is in the cycle after `filter_valid`
    output wire             filter_valid,
    output wire [WIDTH-1:0] filter,
    input  wire             filter_done,
    input  wire             filter_failed,
    // FSM3: remove `sid` from all rows
    output reg              sweep_start,
    input  wire             sweep_done
);
    localparam [2:0] F_NONE = 3'd0, F_NO_FILTERS = 3'd1, F_TOO_MANY_FILTERS = 3'd2, F_SMT_FULL = 3'd3,
                     F_CRT_FULL = 3'd4, F_NO_SUCH_TSID = 3'd5;
    localparam [1:0] IDLE = 2'd0, FILTERS = 2'd1, UNDO = 2'd2, REMOVE = 2'd3;
    localparam INDEX = $clog2(MOST);

    reg [WIDTH-1:0] filter_reg [0:MOST-1];
    reg [COUNT-1:0] count_reg;
    reg [COUNT-1:0] at_reg;                   // the filter that is being registered
    reg [1:0]       state_reg;
    reg [1:0]       state_next;
    reg             is_new_reg;               // the state was entered with the last edge
    reg             sweeps_reg;               // a sweep was started in the last cycle
    reg [SID-1:0]   sid_reg;

    wire is_too_many = count_reg > MOST[COUNT-1:0];
    wire is_last     = at_reg + 1'b1 == count_reg;

    assign count        = count_reg;
    assign busy         = state_reg != IDLE;
    assign sid          = sid_reg;
    assign sid_next     = smt_free;
    assign filter_valid = state_reg == FILTERS;
    assign filter       = filter_reg[at_reg[INDEX-1:0]];

    always @* begin
        state_next  = state_reg;
        finished    = 1'b0;
        failure     = F_NONE;
        smt_take    = 1'b0;
        smt_give    = 1'b0;
        sweep_start = 1'b0;
        case (state_reg)
            IDLE: begin
                if (start_register) begin
                    finished = 1'b1;
                    if (count_reg == 0) failure = F_NO_FILTERS;
                    else if (is_too_many) failure = F_TOO_MANY_FILTERS;
                    else if (smt_is_full) failure = F_SMT_FULL;
                    else begin
                        finished   = 1'b0;
                        smt_take   = 1'b1;
                        state_next = FILTERS;
                    end
                end else if (start_remove) begin
                    finished = !smt_is_used;
                    failure  = smt_is_used ? F_NONE : F_NO_SUCH_TSID;
                    if (smt_is_used) state_next = REMOVE;
                end
            end
            FILTERS: begin
                if (filter_failed) state_next = UNDO;
                else if (filter_done && is_last) begin
                    finished   = 1'b1;
                    state_next = IDLE;
                end
            end
            default: begin                    // UNDO, REMOVE
                // not in the cycle of the failure: FSM3 may have reported it, and is free only in the next cycle
                sweep_start = is_new_reg;
                // as soon as `who_reg` is valid: the SMT must know its lowest free t-SID when the sweep ends
                smt_give    = sweeps_reg;
                failure     = state_reg == UNDO ? F_CRT_FULL : F_NONE;
                if (sweep_done) begin
                    finished   = 1'b1;
                    state_next = IDLE;
                end
            end
        endcase
    end

    always @(posedge clk) begin
        state_reg  <= state_next;
        is_new_reg <= state_next != state_reg;
        sweeps_reg <= sweep_start;
        if (smt_take) sid_reg <= smt_free;
        else if (start_remove && state_reg == IDLE) sid_reg <= remove_sid;
        who_reg <= {{(SIDS - 1){1'b0}}, 1'b1} << sid_reg;
        if (state_reg != FILTERS) at_reg <= {COUNT{1'b0}};
        else if (filter_done) at_reg <= at_reg + 1'b1;
        if (rst) state_reg <= IDLE;
    end

    always @(posedge clk) begin
        if (push && !is_too_many) count_reg <= count_reg + 1'b1;
        if (push && count_reg < MOST[COUNT-1:0]) filter_reg[count_reg[INDEX-1:0]] <= push_filter;
        if (rst || drop || (finished && state_reg != REMOVE && !start_remove)) count_reg <= {COUNT{1'b0}};
    end
endmodule

`default_nettype wire
