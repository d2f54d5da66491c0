// The lowest and the highest free place of DEPTH places, two cycles after a change.
//
// A search among all places in one step would be the slowest path of the core, so it is done in two: first
// for a group of sixteen, then within it. Registering takes at least five cycles from one change to the next.
`default_nettype none

module free_list #(
    parameter DEPTH   = 256,                  // places, a multiple of 16
    parameter FIRST   = 0,                    // places below it are never free
    parameter ADDRESS = $clog2(DEPTH)
) (
    input  wire               clk,
    input  wire               clear,          // free all places
    input  wire               take,
    input  wire [ADDRESS-1:0] take_address,
    input  wire               give,
    input  wire [ADDRESS-1:0] give_address,
    output wire [DEPTH-1:0]   used,
    output reg  [ADDRESS-1:0] lowest_reg,
    output reg  [ADDRESS-1:0] highest_reg,    // never place 0
    output reg                is_full_reg,    // no place is free
    output reg                has_no_high_reg,
    output reg  [ADDRESS:0]   count_reg       // used places
);
    localparam GROUPS = DEPTH / 16;

    reg [DEPTH-1:0]   used_reg;
    reg [ADDRESS-1:0] low_base_reg;           // the first place of the group with the lowest free one
    reg [ADDRESS-1:0] high_base_reg;
    reg [ADDRESS-1:0] low_base_next;
    reg [ADDRESS-1:0] high_base_next;
    reg [15:0]        low_sixteen_reg;        // which places of that group are free
    reg [15:0]        high_sixteen_reg;
    reg [15:0]        low_sixteen_next;
    reg [15:0]        high_sixteen_next;
    reg [ADDRESS-1:0] low_next;
    reg [ADDRESS-1:0] high_next;
    reg               is_below;               // a lower group has a free place
    reg               is_above;
    wire [DEPTH-1:0]  free;
    wire [DEPTH-1:0]  free_but_0;
    integer           i;
    integer           j;

    assign used       = used_reg;
    assign free       = ~used_reg & ~((1 << FIRST) - 1);
    assign free_but_0 = free & ~1;

    always @* begin
        low_base_next    = {ADDRESS{1'b0}};
        low_sixteen_next = 16'd0;
        is_below         = 1'b0;
        for (i = 0; i < GROUPS; i = i + 1) begin
            if (|free[i*16 +: 16] && !is_below) begin
                low_base_next    = low_base_next | (i[ADDRESS-1:0] << 4);
                low_sixteen_next = low_sixteen_next | free[i*16 +: 16];
            end
            is_below = is_below || |free[i*16 +: 16];
        end
    end

    always @* begin
        high_base_next    = {ADDRESS{1'b0}};
        high_sixteen_next = 16'd0;
        is_above          = 1'b0;
        for (i = GROUPS - 1; i >= 0; i = i - 1) begin
            if (|free_but_0[i*16 +: 16] && !is_above) begin
                high_base_next    = high_base_next | (i[ADDRESS-1:0] << 4);
                high_sixteen_next = high_sixteen_next | free_but_0[i*16 +: 16];
            end
            is_above = is_above || |free_but_0[i*16 +: 16];
        end
    end

    always @* begin
        low_next  = {ADDRESS{1'b0}};
        high_next = {ADDRESS{1'b0}};
        for (j = 15; j >= 0; j = j - 1)
            if (low_sixteen_reg[j]) low_next = j[ADDRESS-1:0];
        for (j = 0; j < 16; j = j + 1)
            if (high_sixteen_reg[j]) high_next = j[ADDRESS-1:0];
    end

    always @(posedge clk) begin
        low_base_reg     <= low_base_next;
        high_base_reg    <= high_base_next;
        low_sixteen_reg  <= low_sixteen_next;
        high_sixteen_reg <= high_sixteen_next;
        lowest_reg       <= low_base_reg | low_next;
        highest_reg      <= high_base_reg | high_next;
        is_full_reg      <= !(|low_sixteen_reg);
        has_no_high_reg  <= !(|high_sixteen_reg);
    end

    always @(posedge clk) begin
        if (take) used_reg[take_address] <= 1'b1;
        if (give) used_reg[give_address] <= 1'b0;
        count_reg <= count_reg + {{ADDRESS{1'b0}}, take} - {{ADDRESS{1'b0}}, give};
        if (clear) used_reg <= {DEPTH{1'b0}};
        if (clear) count_reg <= {(ADDRESS + 1){1'b0}};
    end
endmodule

`default_nettype wire
