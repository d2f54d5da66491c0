// How many filters each subscription has. The counters are stored as bit planes: plane p holds bit p of
// every counter, so that one step counts for any number of subscriptions.
`default_nettype none

module storing_counters #(
    parameter SIDS   = 256,
    parameter PLANES = 5                      // bits of a counter
) (
    input  wire                   clk,
    input  wire                   clear,      // all counters
    input  wire [SIDS-1:0]        who,        // the bit of a subscription
    input  wire                   count,      // it has one more filter
    input  wire                   forget,     // it has no filters
    output wire [PLANES*SIDS-1:0] planes
);
    reg [PLANES*SIDS-1:0] planes_reg;
    reg [PLANES*SIDS-1:0] planes_next;
    reg [SIDS-1:0]        carry;
    integer               p;

    assign planes = planes_reg;

    always @* begin
        carry = who & {SIDS{count}};
        for (p = 0; p < PLANES; p = p + 1) begin
            planes_next[p*SIDS +: SIDS] = (planes_reg[p*SIDS +: SIDS] ^ carry) & ~(who & {SIDS{forget}});
            carry = carry & planes_reg[p*SIDS +: SIDS];
        end
    end

    always @(posedge clk) begin
        if (count || forget) planes_reg <= planes_next;
        if (clear) planes_reg <= {(PLANES*SIDS){1'b0}};
    end
endmodule

`default_nettype wire
