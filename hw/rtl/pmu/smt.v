// The subscription mapping table: assigns a t-SID to each subscription (1 … SIDS-1, the lowest free one; 0
// marks an empty slot) and stores the o-SID of each t-SID.
`default_nettype none

module smt #(
    parameter SIDS = 256,
    parameter OSID = 64,                      // bits of an o-SID: 1 to 8 bytes
    parameter SID  = $clog2(SIDS)
) (
    input  wire            clk,
    input  wire            clear,             // free all t-SIDs
    output wire            is_full,
    output wire [SID-1:0]  free,
    input  wire            take,              // assign t-SID `free` to `take_osid`
    input  wire [OSID-1:0] take_osid,
    input  wire            give,
    input  wire [SID-1:0]  give_sid,
    // look up a t-SID: `asked_is_used` in the same cycle, its o-SID with the next edge
    input  wire [SID-1:0]  asked_sid,
    output wire            asked_is_used,
    output reg  [OSID-1:0] asked_osid_reg,
    output wire [SID:0]    count              // S, the number of subscriptions
);
    reg [OSID-1:0] memory [0:SIDS-1];

    wire [SIDS-1:0] used;
    wire [SID-1:0]  unused_highest;           // the lowest free t-SID is assigned first
    wire            unused_has_no_high;

    assign asked_is_used = used[asked_sid];

    free_list #(.DEPTH(SIDS), .FIRST(1)) sids (
        .clk            (clk),
        .clear          (clear),
        .take           (take),
        .take_address   (free),
        .give           (give),
        .give_address   (give_sid),
        .used           (used),
        .lowest_reg     (free),
        .highest_reg    (unused_highest),
        .is_full_reg    (is_full),
        .has_no_high_reg(unused_has_no_high),
        .count_reg      (count)
    );

    always @(posedge clk) begin
        if (take) memory[free] <= take_osid;
        asked_osid_reg <= memory[asked_sid];
    end
endmodule

`default_nettype wire
