// FSM3 of the XPath registering interface, for the paper's rows: SLOTS t-SIDs and the address of the
// next row, 0 if there is none. A slot that holds 0 is empty.
//
// A filter's first row has the address of its CAM entry; further rows are taken from the top down (and
// are never row 0). A t-SID is appended to the first empty slot of the chain. A sweep removes one t-SID
// from all chains, and frees the rows that become empty; a first row stays as long as other rows follow
// it. While a subscription is being registered, no slot becomes empty, so the rows before its t-SID are
// full. Therefore one walk finds either the t-SID, if the chain already has it, or the first empty slot.
`default_nettype none

module xpath_fsm3_list #(
    parameter ROWS    = 256,
    parameter SIDS    = 256,
    parameter SLOTS   = 31,                   // t-SIDs of a row; one more reports a high commonality degree
    parameter ADDRESS = $clog2(ROWS),
    parameter SID     = $clog2(SIDS),
    parameter WIDTH   = SLOTS*SID + ADDRESS
) (
    input  wire               clk,
    input  wire               rst,
    input  wire [SID-1:0]     sid,            // the t-SID to append or to remove
    // FSM2: append it to a filter's rows
    input  wire               append,
    input  wire [ADDRESS-1:0] append_address,
    output wire               append_done,
    output wire               append_failed,  // there is no row left
    output wire               append_is_new,  // the rows did not have it
    output wire               hcd,
    // FSM1: remove it from all rows
    input  wire               sweep_start,
    output wire               sweep_done,
    // rows, and the number of subscriptions of each filter, stored at its first row's address
    input  wire [ROWS-1:0]    is_first,       // which rows are the first of a chain
    output reg                read,
    output reg  [ADDRESS-1:0] read_address,
    output reg                read_visitors,
    input  wire [WIDTH-1:0]   row,
    input  wire [SID-1:0]     visitors,
    output reg                write,
    output reg  [ADDRESS-1:0] write_address,
    output reg  [WIDTH-1:0]   write_row,
    output wire               write_visitors_valid,
    output wire [ADDRESS-1:0] write_visitors_address,
    output wire [SID-1:0]     write_visitors,
    // take one more row, and give back a row that has become empty
    input  wire               has_no_row,
    input  wire [ADDRESS-1:0] free_row,
    output wire               take,
    output wire               give,
    output wire [ADDRESS-1:0] give_address,
    output wire               give_is_first
);
    localparam [2:0] IDLE = 3'd0, APPEND = 3'd1, LINK = 3'd2, SCAN = 3'd3, WALK = 3'd4, CLEAN = 3'd5;

    reg [2:0]         state_reg;
    reg [2:0]         state_next;
    reg [ADDRESS-1:0] first_reg;              // of the chain
    reg [ADDRESS-1:0] at_reg;                 // of the row in `row`
    reg [ADDRESS-1:0] before_reg;             // of the row before it
    reg [SLOTS*SID-1:0] before_slots_reg;     // its t-SIDs
    reg [ADDRESS-1:0] more_reg;               // of the row that is added
    reg               is_ended_reg;           // the row that was unlinked held the filter's last t-SID

    reg [SLOTS-1:0]     is_sid;               // the slots that hold `sid`
    reg [SLOTS-1:0]     is_empty;
    reg [SLOTS*SID-1:0] slots_with;
    reg [SLOTS*SID-1:0] slots_without;
    reg                 is_placed;
    integer             i;

    wire [SLOTS*SID-1:0] slots = row[SLOTS*SID-1:0];
    wire [ADDRESS-1:0]   next  = row[WIDTH-1 -: ADDRESS];

    wire has         = |is_sid;
    wire has_room    = |is_empty;
    wire has_next    = |next;
    wire is_at_first = at_reg == first_reg;
    wire was_alone   = ~(|slots_without);
    wire appends     = state_reg == APPEND && !has && has_room;
    wire grows       = state_reg == APPEND && !has && !has_room && !has_next;
    wire leaves      = state_reg == WALK && has;
    wire unlinks     = leaves && was_alone && !is_at_first;
    wire ends        = leaves && is_at_first && visitors == 1;

    assign append_done            = (state_reg == APPEND && (has || has_room)) || state_reg == LINK;
    assign append_failed          = grows && has_no_row;
    assign append_is_new          = appends || state_reg == LINK;
    assign hcd                    = append_is_new && visitors >= SLOTS[SID-1:0];
    assign sweep_done             = state_reg >= SCAN && state_next == IDLE;
    assign write_visitors_valid   = append_is_new || leaves;
    assign write_visitors_address = first_reg;
    assign write_visitors         = leaves ? visitors - 1'b1 : visitors + 1'b1;
    assign take                   = grows && !has_no_row;
    assign give                   = unlinks || ends || is_ended_reg;
    assign give_address           = is_ended_reg ? first_reg : at_reg;
    assign give_is_first          = ends || is_ended_reg;

    always @* begin
        is_placed     = 1'b0;
        slots_with    = slots;
        slots_without = slots;
        for (i = 0; i < SLOTS; i = i + 1) begin
            is_sid[i]   = slots[i*SID +: SID] == sid;
            is_empty[i] = slots[i*SID +: SID] == 0;
            if (is_empty[i] && !is_placed) slots_with[i*SID +: SID] = sid;
            if (is_sid[i]) slots_without[i*SID +: SID] = {SID{1'b0}};
            is_placed = is_placed || is_empty[i];
        end
    end

    // the next state, and the row to read
    always @* begin
        state_next    = state_reg;
        read          = 1'b0;
        read_address  = next;
        read_visitors = 1'b0;
        case (state_reg)
            IDLE: begin
                read          = append;
                read_address  = append_address;
                read_visitors = append;
                if (append) state_next = APPEND;
                else if (sweep_start) state_next = SCAN;
            end
            APPEND: begin
                read = has_next && !has && !has_room;
                if (append_done || append_failed) state_next = IDLE;
                else if (grows) state_next = LINK;
            end
            SCAN: begin
                read          = is_first[first_reg];
                read_address  = first_reg;
                read_visitors = 1'b1;
                if (read) state_next = WALK;
                else if (&first_reg) state_next = IDLE;
            end
            WALK: begin
                read = !has && has_next;
                if (unlinks) state_next = CLEAN;
                else if (!read) state_next = &first_reg ? IDLE : SCAN;
            end
            CLEAN:   state_next = &first_reg ? IDLE : SCAN;
            default: state_next = IDLE;       // LINK
        endcase
    end

    // the row to write
    always @* begin
        write         = 1'b0;
        write_address = at_reg;
        write_row     = {next, slots_without};
        case (state_reg)
            APPEND: begin
                write         = appends || take;
                write_address = appends ? at_reg : free_row;
                write_row     = {next, slots_with};
                if (!appends) write_row = {{(WIDTH - SID){1'b0}}, sid};
            end
            LINK: begin
                write     = 1'b1;
                write_row = {more_reg, before_slots_reg};
            end
            WALK: begin
                write = leaves;
                if (unlinks) write_address = before_reg;
                if (unlinks) write_row = {next, before_slots_reg};
            end
            CLEAN: begin
                write     = 1'b1;
                write_row = {WIDTH{1'b0}};
            end
            default: write = 1'b0;
        endcase
    end

    always @(posedge clk) begin
        state_reg <= state_next;
        if (read) at_reg <= read_address;
        if (state_reg == APPEND || (state_reg == WALK && read)) begin
            before_reg       <= at_reg;
            before_slots_reg <= slots;
        end
        if (take) more_reg <= free_row;
        is_ended_reg <= unlinks && visitors == 1;
        if (state_reg == IDLE) first_reg <= append ? append_address : {ADDRESS{1'b0}};
        if (state_next == SCAN && state_reg != IDLE) first_reg <= first_reg + 1'b1;
        if (rst) state_reg <= IDLE;
        if (rst) is_ended_reg <= 1'b0;
    end
endmodule

`default_nettype wire
