// Reads the paper's rows: for each CAM entry that a publication hits, the t-SIDs of its chain, one a cycle.
//
// Hits arrive faster than rows are read, so they wait in a queue with one place for each CAM entry. That is
// enough, since an entry answers once in a publication.
`default_nettype none

module list_reader #(
    parameter ROWS    = 256,
    parameter SIDS    = 256,
    parameter SLOTS   = 31,                   // t-SIDs of a row
    parameter ADDRESS = $clog2(ROWS),
    parameter SID     = $clog2(SIDS),
    parameter WIDTH   = SLOTS*SID + ADDRESS
) (
    input  wire               clk,
    input  wire               rst,
    // hits; after the last one, `done` is set when all rows are read
    input  wire               hit,
    input  wire [ADDRESS-1:0] hit_address,
    input  wire               last,
    output wire               done,
    // rows
    output wire               read,
    output wire [ADDRESS-1:0] read_address,
    input  wire [WIDTH-1:0]   row,
    // one t-SID
    output wire               found,
    output wire [SID-1:0]     found_sid
);
    localparam [1:0] IDLE = 2'd0, LOAD = 2'd1, TELL = 2'd2;

    reg [ADDRESS-1:0] waiting [0:ROWS-1];
    reg [ADDRESS:0]   in_reg;
    reg [ADDRESS:0]   out_reg;
    reg               is_last_reg;            // the last hit has arrived

    reg [1:0]         state_reg;
    reg [SLOTS-1:0]   untold_reg;             // the filled slots that were not output yet
    reg [SLOTS-1:0]   filled;
    reg [SLOTS-1:0]   chosen;                 // the lowest of them
    reg [SID-1:0]     chosen_sid;
    reg               has_chosen;
    integer           i;

    wire [ADDRESS-1:0] next       = row[WIDTH-1 -: ADDRESS];
    wire               is_waiting = in_reg != out_reg;
    wire               is_told    = (untold_reg & ~chosen) == 0;
    wire               goes_on    = state_reg == TELL && is_told && |next;
    wire               begins     = is_waiting && (state_reg == IDLE || (state_reg == TELL && is_told && !(|next)));

    assign read         = goes_on || begins;
    assign read_address = goes_on ? next : waiting[out_reg[ADDRESS-1:0]];
    assign found        = state_reg == TELL && |untold_reg;
    assign found_sid    = chosen_sid;
    assign done         = is_last_reg && !is_waiting && state_reg == IDLE;

    always @* begin
        chosen     = {SLOTS{1'b0}};
        chosen_sid = {SID{1'b0}};
        has_chosen = 1'b0;
        for (i = 0; i < SLOTS; i = i + 1) begin
            filled[i] = |row[i*SID +: SID];
            if (untold_reg[i] && !has_chosen) begin
                chosen[i]  = 1'b1;
                chosen_sid = row[i*SID +: SID];
                has_chosen = 1'b1;
            end
        end
    end

    always @(posedge clk) begin
        if (read) state_reg <= LOAD;
        else if (state_reg == LOAD) state_reg <= TELL;
        else if (state_reg == TELL && is_told) state_reg <= IDLE;
        untold_reg <= state_reg == LOAD ? filled : untold_reg & ~chosen;
        if (rst) state_reg <= IDLE;
    end

    always @(posedge clk) begin
        if (hit) waiting[in_reg[ADDRESS-1:0]] <= hit_address;
        if (hit) in_reg <= in_reg + 1'b1;
        if (begins) out_reg <= out_reg + 1'b1;
        is_last_reg <= (is_last_reg || last) && !done;
        if (rst) begin
            in_reg      <= {(ADDRESS + 1){1'b0}};
            out_reg     <= {(ADDRESS + 1){1'b0}};
            is_last_reg <= 1'b0;
        end
    end
endmodule

`default_nettype wire
