// The contextManager in hardware: a memory with a box for each subscriber, and lanes that compare all boxes
// with a publication's position, LANES boxes a cycle. Row r is in lane r % LANES.
//
// A context change is one write of one row. A write that arrives during a scan waits until the scan is
// over, so that a scan sees the whole table as it was when the scan began.
`default_nettype none

module context_manager #(
    parameter SUBSCRIBERS = 256,              // rows
    parameter LANES       = 16,
    parameter WIDTH       = 32,               // bits of a coordinate, signed
    parameter ROW         = $clog2(SUBSCRIBERS),
    parameter GROUPS      = SUBSCRIBERS / LANES,
    parameter GROUP       = GROUPS > 1 ? $clog2(GROUPS) : 1
) (
    input  wire               clk,
    input  wire               rst,
    // memory initialisation: one group of rows
    input  wire               zero,
    input  wire [GROUP-1:0]   zero_group,
    // one row; it is written in the cycle in which `write_ready` is high
    input  wire               write,
    output wire               write_ready,
    input  wire [ROW-1:0]     write_row,
    input  wire               write_valid,
    input  wire [4*WIDTH-1:0] write_box,
    // scan
    input  wire               start,          // with a position
    input  wire [WIDTH-1:0]   x,
    input  wire [WIDTH-1:0]   y,
    output wire               scanning,       // until the last answer is out
    // answers: which lanes' boxes in group `contained_group` contain the position
    output wire               contained_valid,
    output wire [GROUP-1:0]   contained_group,
    output wire [LANES-1:0]   contained
);
    localparam LANE = LANES > 1 ? $clog2(LANES) : 1;

    reg [WIDTH-1:0] x_reg;
    reg [WIDTH-1:0] y_reg;
    reg             reading_reg;
    reg [GROUP-1:0] group_reg;
    reg [GROUP-1:0] group_1_reg;
    reg [GROUP-1:0] group_2_reg;
    reg [1:0]       valid_reg;

    wire             reading   = start || reading_reg;  // the first group is read while the position is stored
    wire             is_last   = {{(32 - GROUP){1'b0}}, group_reg} == GROUPS - 1;
    wire             takes     = write && write_ready;
    wire [31:0]      row       = {{(32 - ROW){1'b0}}, write_row};
    wire [31:0]      to_group  = row / LANES;  // LANES is a power of two
    wire [31:0]      to_lane   = row % LANES;
    wire [GROUP-1:0] address   = zero ? zero_group : to_group[GROUP-1:0];
    wire             unused    = &{1'b0, to_group[31:GROUP], to_lane[31:LANE]};

    assign write_ready  = !scanning && !start && !zero;
    assign scanning     = reading_reg || |valid_reg;
    assign contained_valid = valid_reg[1];
    assign contained_group = group_2_reg;

    always @(posedge clk) begin
        if (start) {x_reg, y_reg} <= {x, y};
        reading_reg <= reading && !is_last;
        group_reg   <= reading ? group_reg + 1'b1 : {GROUP{1'b0}};
        group_1_reg <= group_reg;
        group_2_reg <= group_1_reg;
        valid_reg   <= {valid_reg[0], reading};
        if (rst) begin
            reading_reg <= 1'b0;
            valid_reg   <= 2'b00;
        end
    end

    genvar g;
    generate
        for (g = 0; g < LANES; g = g + 1) begin : lane
            localparam [31:0] INDEX = g;

            context_lane #(.ROWS(GROUPS), .WIDTH(WIDTH)) boxes (
                .clk          (clk),
                .write        (zero || (takes && to_lane[LANE-1:0] == INDEX[LANE-1:0])),
                .write_address(address),
                .write_valid  (write_valid && !zero),
                .write_box    (write_box),
                .read         (reading),
                .read_address (group_reg),
                .x            (x_reg),
                .y            (y_reg),
                .contained_reg   (contained[g])
            );
        end
    endgenerate
endmodule

`default_nettype wire
