// How many filters each subscription has. The counters stand in planes: plane p holds bit p of all of
// them, so that one step counts for any number of subscriptions.
`default_nettype none

module storing_counters #(
    parameter SIDS   = 256,
    parameter PLANES = 5                      // bits of a counter
) (
    input  wire                   clk,
    input  wire                   clear,      // all
    input  wire [SIDS-1:0]        who,        // the bit of a subscription
    input  wire                   count,      // it has one more
    input  wire                   forget,     // it has none
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
