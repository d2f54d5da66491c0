// The matching engine: a subscription matches if its matching counter equals its storing counter, it has
// at least one filter, and its subscriber's context admits the publication.
`default_nettype none

module matching_engine #(
    parameter SIDS = 256,
    parameter MOST = 16                       // filters of a subscription
) (
    input  wire            clk,
    input  wire            rst,
    // registering
    input  wire [SIDS-1:0] who,               // the bit of a subscription
    input  wire            store,             // it has one more filter
    input  wire            forget,            // it was removed
    // matching
    input  wire            start,             // a publication begins
    input  wire [SIDS-1:0] found,             // one more filter of each of these was found
    input  wire [SIDS-1:0] is_selected,       // by context
    input  wire            finish,            // all words were looked up: decide
    output reg  [SIDS-1:0] match_reg          // the result, until the next decision
);
    localparam PLANES = $clog2(MOST + 1);

    wire [PLANES*SIDS-1:0] stored;
    wire [PLANES*SIDS-1:0] matched;
    reg  [SIDS-1:0]        differs;
    reg  [SIDS-1:0]        has_filters;
    integer                p;

    storing_counters #(.SIDS(SIDS), .PLANES(PLANES)) storing (
        .clk   (clk),
        .clear (rst),
        .who   (who),
        .count (store),
        .forget(forget),
        .planes(stored)
    );

    matching_counters #(.SIDS(SIDS), .PLANES(PLANES)) matching (
        .clk   (clk),
        .clear (rst || start),
        .found (found),
        .planes(matched)
    );

    always @* begin
        differs     = {SIDS{1'b0}};
        has_filters = {SIDS{1'b0}};
        for (p = 0; p < PLANES; p = p + 1) begin
            differs     = differs | (stored[p*SIDS +: SIDS] ^ matched[p*SIDS +: SIDS]);
            has_filters = has_filters | stored[p*SIDS +: SIDS];
        end
    end

    always @(posedge clk) begin
        if (finish) match_reg <= has_filters & ~differs & is_selected;
        if (rst) match_reg <= {SIDS{1'b0}};
    end
endmodule

`default_nettype wire
