// The CAM of the content routing table: which entry holds this filter? One search a cycle, answered
// with the fourth edge. No two entries hold the same filter: a filter is searched before it is written.
`default_nettype none

module crt_cam #(
    parameter FILTERS = 256,                  // entries: 16, 32, 64 …
    parameter WIDTH   = 32,                   // bits of a filter
    parameter ADDRESS = $clog2(FILTERS)
) (
    input  wire               clk,
    input  wire               clear,          // clear all entries and searches
    // search
    input  wire               key_valid,
    input  wire               key_once,       // an entry that answered since `forget` does not answer
    input  wire               key_last,       // returned with the answer
    input  wire [WIDTH-1:0]   key,
    input  wire               forget,         // forget which entries have answered
    output wire               answer_valid,
    output wire               answer_last,
    output wire               answer_hit,
    output wire [ADDRESS-1:0] answer_address,
    // one entry is written, or freed (`write_used` is 0); a search in the next cycle sees it
    input  wire               write,
    input  wire               write_used,
    input  wire [ADDRESS-1:0] write_address,
    input  wire [WIDTH-1:0]   write_filter,
    output wire [FILTERS-1:0] used
);
    localparam BANKS = FILTERS / 16;

    wire [BANKS-1:0]   any;
    wire [BANKS*4-1:0] index;

    reg [3:0]         valid_reg;
    reg [3:0]         last_reg;
    reg               hit_reg;
    reg [ADDRESS-1:0] address_reg;
    reg [ADDRESS-1:0] address_next;
    reg [ADDRESS-1:0] one;                    // the address from one bank
    integer           b;

    assign answer_valid   = valid_reg[3];
    assign answer_last    = last_reg[3];
    assign answer_hit     = hit_reg;
    assign answer_address = address_reg;

    genvar g;
    generate
        for (g = 0; g < BANKS; g = g + 1) begin : bank
            localparam [31:0] BASE = g * 16;

            crt_cam_bank #(.WIDTH(WIDTH)) entries (
                .clk         (clk),
                .clear       (clear),
                .key_valid   (key_valid),
                .key_once    (key_once),
                .key         (key),
                .forget      (forget),
                .any_reg     (any[g]),
                .index_reg   (index[g*4 +: 4]),
                .write       (write && (write_address >> 4) == (BASE[ADDRESS-1:0] >> 4)),
                .write_used  (write_used),
                .write_index (write_address[3:0]),
                .write_filter(write_filter),
                .used        (used[g*16 +: 16])
            );
        end
    endgenerate

    // at most one bank answers, so their addresses can be joined by `or`
    always @* begin
        address_next = {ADDRESS{1'b0}};
        for (b = 0; b < BANKS; b = b + 1) begin
            one               = (b[ADDRESS-1:0] << 4) & {ADDRESS{any[b]}};
            address_next      = address_next | one;
            address_next[3:0] = address_next[3:0] | index[b*4 +: 4];
        end
    end

    always @(posedge clk) begin
        valid_reg   <= {valid_reg[2:0], key_valid};
        last_reg    <= {last_reg[2:0], key_last};
        hit_reg     <= |any;
        address_reg <= address_next;
        if (clear) valid_reg <= 4'd0;
        if (clear) last_reg <= 4'd0;
    end
endmodule

`default_nettype wire
