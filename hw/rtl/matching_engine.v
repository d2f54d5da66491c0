// The matching engine: a subscription matches if its matching counter reached its storing counter, it
// has filters at all, and its subscriber's context admits the publication.
`default_nettype none

module matching_engine #(
    parameter SIDS = 256,
    parameter MOST = 16                       // filters of a subscription
) (
    input  wire            clk,
    input  wire            rst,
    // registering
    input  wire [SIDS-1:0] who,               // the bit of a subscription
    input  wire            store,             // one more filter of it
    input  wire            forget,            // it is gone
    // matching
    input  wire            start,             // a publication begins
    input  wire [SIDS-1:0] found,             // one more of these subscriptions' filters
    input  wire [SIDS-1:0] is_selected,       // by context
    input  wire            finish,            // all is found: decide
    output reg  [SIDS-1:0] match_reg          // until the next decision
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
