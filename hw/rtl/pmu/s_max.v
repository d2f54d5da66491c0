// S_max determination (Fig. 16): how many subscriptions the table may hold, and whether a filter has a
// high commonality degree (HCD).
`default_nettype none

module s_max #(
    parameter SIDS = 256,
    parameter SID  = $clog2(SIDS)
) (
    input  wire         clk,
    input  wire         rst,
    input  wire         crt_is_full,
    input  wire [SID:0] s,                    // registered subscriptions
    input  wire         hcd,                  // a filter with SLOTS subscriptions got another
    output reg  [SID:0] s_max_reg,
    output reg          hcd_reg               // `hcd` was set since the last reset or initialisation
);
    localparam [SID:0] MOST = SIDS[SID:0] - 1'b1;

    always @(posedge clk) begin
        s_max_reg <= crt_is_full ? s : MOST;
        hcd_reg   <= hcd_reg || hcd;
        if (rst) s_max_reg <= {(SID + 1){1'b0}};
        if (rst) hcd_reg <= 1'b0;
    end
endmodule

`default_nettype wire
