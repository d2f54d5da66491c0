// A bank of the CAM: sixteen filters, compared with a key in three steps.
//
// For short paths, each bank has a copy of the key and of the data to write, so that no net reaches more
// than sixteen entries; and a comparison is done in bytes, whose results are joined one step later.
// In a publication (`key_once`) an entry answers only the first time, so that a filter that occurs twice
// counts once; `seen_reg` remembers which entries have answered.
`default_nettype none

(* keep_hierarchy = "yes" *)                  // else synthesis would merge the banks' copies
module crt_cam_bank #(
    parameter WIDTH = 32                      // bits of a filter, a multiple of 8
) (
    input  wire             clk,
    input  wire             clear,            // clear all entries
    // search: the answer comes with the third edge
    input  wire             key_valid,
    input  wire             key_once,         // an entry that answered since `forget` does not answer
    input  wire [WIDTH-1:0] key,
    input  wire             forget,           // forget which entries have answered
    output reg              any_reg,
    output reg  [3:0]       index_reg,
    // one entry is written, or freed (`write_used` is 0); a search in the next cycle sees it
    input  wire             write,
    input  wire             write_used,
    input  wire [3:0]       write_index,
    input  wire [WIDTH-1:0] write_filter,
    output wire [15:0]      used
);
    localparam BYTES = WIDTH / 8;

    reg [WIDTH-1:0] filter_reg [0:15] /* verilator public_flat_rw */;
    reg [15:0]      used_reg;
    reg [15:0]      seen_reg;
    wire [15:0]     seen_next;

    // the bank's copies of the inputs that all banks get
    reg [WIDTH-1:0] key_reg;
    reg             key_valid_reg;
    reg [1:0]       key_once_reg;
    reg             write_reg;
    reg             write_used_reg;
    reg [3:0]       write_index_reg;
    reg [WIDTH-1:0] write_filter_reg;
    reg [16*BYTES-1:0] equal_reg;             // byte 0 only if the entry is used, byte 1 only if there is a key
    reg [15:0]         silent_reg;            // entries that have answered and must not answer this key
    reg                cleared_reg;           // a comparison from before `clear` must not set `seen_reg`
    wire [15:0]        hit;
    wire [15:0]        written;               // the bit of the entry in `write_index_reg`, if there is a write

    integer i;
    integer b;

    // `used` includes the write that is in `write_reg`
    assign written = {15'd0, write_reg} << write_index_reg;
    assign used    = write_used_reg ? used_reg | written : used_reg & ~written;

    genvar g;
    generate
        for (g = 0; g < 16; g = g + 1) begin : entry
            assign hit[g] = &equal_reg[g*BYTES +: BYTES] && !silent_reg[g];
        end
    endgenerate

    assign seen_next = forget || clear || cleared_reg ? 16'd0 : seen_reg | (hit & {16{key_once_reg[1]}});

    always @(posedge clk) begin
        key_reg       <= key;
        key_valid_reg <= key_valid;
        key_once_reg  <= {key_once_reg[0], key_once};
        for (i = 0; i < 16; i = i + 1)
            for (b = 0; b < BYTES; b = b + 1)
                equal_reg[i*BYTES + b] <= filter_reg[i][b*8 +: 8] == key_reg[b*8 +: 8]
                                       && (b != 0 || used_reg[i]) && (b != 1 || key_valid_reg);
        any_reg   <= |hit;
        index_reg <= {
            |(hit & 16'hFF00), |(hit & 16'hF0F0), |(hit & 16'hCCCC), |(hit & 16'hAAAA)
        };
    end

    always @(posedge clk) begin
        write_reg        <= write && !clear;
        write_used_reg   <= write_used;
        write_index_reg  <= write_index;
        write_filter_reg <= write_filter;
        if (write_reg) filter_reg[write_index_reg] <= write_filter_reg;
        used_reg <= clear ? 16'd0 : used;
    end

    always @(posedge clk) begin
        cleared_reg <= clear;
        seen_reg    <= seen_next;
        silent_reg  <= seen_next & {16{key_once_reg[0]}};
    end
endmodule

`default_nettype wire
