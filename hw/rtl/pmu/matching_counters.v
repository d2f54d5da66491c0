// How many filters of each subscription the current publication has so far, in bit planes like the storing
// counters.
`default_nettype none

module matching_counters #(
    parameter SIDS   = 256,
    parameter PLANES = 5                      // bits of a counter
) (
    input  wire                   clk,
    input  wire                   clear,      // a publication begins
    input  wire [SIDS-1:0]        found,      // one more filter of each of these
    output wire [PLANES*SIDS-1:0] planes
);
    reg [PLANES*SIDS-1:0] planes_reg;
    reg [PLANES*SIDS-1:0] planes_next;
    reg [SIDS-1:0]        carry;
    integer               p;

    assign planes = planes_reg;

    always @* begin
        carry = found;
        for (p = 0; p < PLANES; p = p + 1) begin
            planes_next[p*SIDS +: SIDS] = planes_reg[p*SIDS +: SIDS] ^ carry;
            carry = carry & planes_reg[p*SIDS +: SIDS];
        end
    end

    always @(posedge clk) planes_reg <= clear ? {(PLANES*SIDS){1'b0}} : planes_next;
endmodule

`default_nettype wire
