// Counts the cycles of the last run, a time in which `running` was high.
`default_nettype none

module stopwatch (
    input  wire        clk,
    input  wire        rst,
    input  wire        running,
    output reg  [31:0] cycles_reg
);
    reg was_running_reg;

    always @(posedge clk) begin
        was_running_reg <= running;
        if (running) cycles_reg <= was_running_reg ? cycles_reg + 1'b1 : 32'd1;
        if (rst) was_running_reg <= 1'b0;
        if (rst) cycles_reg <= 32'd0;
    end
endmodule

`default_nettype wire
