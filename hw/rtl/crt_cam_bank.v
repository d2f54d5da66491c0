// A bank of the CAM: sixteen filters, compared with a key in three steps.
//
// Each bank holds a copy of the key, so that no net reaches more than sixteen entries; a comparison is
// cut into bytes, and the bytes' results are joined one step later: that is what makes the CAM fast.
// In a publication (`once`) an entry answers the first time only, so that a filter that stands there
// twice counts once; `seen_reg` remembers which ones did.
`default_nettype none

module crt_cam_bank #(
    parameter WIDTH = 32                      // bits of a filter, a multiple of 8
) (
    input  wire             clk,
    input  wire             clear,            // forget all entries
    // search: the answer comes with the third edge
    input  wire             key_valid,
    input  wire             key_once,         // an entry that answered since `forget` keeps silent
    input  wire [WIDTH-1:0] key,
    input  wire             forget,           // which entries answered
    output reg              any_reg,
    output reg  [3:0]       index_reg,
    // one entry is written, or (not `write_used`) given up
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

    // without `keep` the banks' copies of the key would be merged into one
    (* keep = "true" *) reg [WIDTH-1:0] key_reg;
    (* keep = "true" *) reg [1:0]       key_valid_reg;
    (* keep = "true" *) reg [1:0]       key_once_reg;
    reg [16*BYTES-1:0] equal_reg;
    wire [15:0]        hit;

    integer i;
    integer b;

    assign used = used_reg;

    genvar g;
    generate
        for (g = 0; g < 16; g = g + 1) begin : entry
            assign hit[g] = &equal_reg[g*BYTES +: BYTES] && used_reg[g] && key_valid_reg[1]
                            && !(key_once_reg[1] && seen_reg[g]);
        end
    endgenerate

    always @(posedge clk) begin
        key_reg       <= key;
        key_valid_reg <= {key_valid_reg[0], key_valid};
        key_once_reg  <= {key_once_reg[0], key_once};
        for (i = 0; i < 16; i = i + 1)
            for (b = 0; b < BYTES; b = b + 1)
                equal_reg[i*BYTES + b] <= filter_reg[i][b*8 +: 8] == key_reg[b*8 +: 8];
        any_reg   <= |hit;
        index_reg <= {
            |(hit & 16'hFF00), |(hit & 16'hF0F0), |(hit & 16'hCCCC), |(hit & 16'hAAAA)
        };
        if (clear) key_valid_reg <= 2'b00;
    end

    always @(posedge clk) begin
        if (write) filter_reg[write_index] <= write_filter;
        if (write) used_reg[write_index] <= write_used;
        if (clear) used_reg <= 16'd0;
    end

    always @(posedge clk) begin
        if (key_once_reg[1]) seen_reg <= seen_reg | hit;
        if (forget || clear) seen_reg <= 16'd0;
    end
endmodule

`default_nettype wire
