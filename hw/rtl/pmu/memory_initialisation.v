// Memory initialisation: clears the tables that are registers at once, and writes zeros to the rows of the
// CRT and of the contextManager, a row and a group of rows a cycle.
`default_nettype none

module memory_initialisation #(
    parameter ROWS   = 256,
    parameter GROUPS = 16,
    parameter STEPS  = ROWS > GROUPS ? ROWS : GROUPS,
    parameter STEP   = $clog2(STEPS)
) (
    input  wire            clk,
    input  wire            rst,
    input  wire            start,
    output wire            clear,             // in the first cycle
    output wire            zero_row,
    output wire            zero_group,
    output wire [STEP-1:0] step,              // the row and the group to write
    output wire            done               // in the last cycle
);
    reg            running_reg;
    reg [STEP-1:0] step_reg;

    wire [31:0] at = {{(32 - STEP){1'b0}}, step_reg};

    assign clear      = start;
    assign zero_row   = running_reg && at < ROWS;
    assign zero_group = running_reg && at < GROUPS;
    assign step       = step_reg;
    assign done       = running_reg && at == STEPS - 1;

    always @(posedge clk) begin
        running_reg <= start || (running_reg && !done);
        step_reg    <= running_reg ? step_reg + 1'b1 : {STEP{1'b0}};
        if (rst) running_reg <= 1'b0;
        if (start) step_reg <= {STEP{1'b0}};
    end
endmodule

`default_nettype wire
