// Lets a command or a publication run, never both.
//
// A command that arrives while a publication is matched starts when the publication has its result. A
// publication that arrives while a command runs, or before the last result was taken, waits. After a
// reset the core initialises its memories by itself.
`default_nettype none

module control (
    input  wire       clk,
    input  wire       rst,
    // commands (register_file.v has the codes)
    input  wire       command_valid,
    input  wire [2:0] command,
    output wire       busy,
    output wire       initialising,           // INIT runs, or waits for a publication's end
    output reg  [2:0] failure_reg,            // of the last command
    // the units that run the commands: `start_…` lasts one cycle
    output wire       start_init,
    output wire       start_register,
    output wire       start_remove,
    output wire       drop,                   // drop the filters that wait to be registered
    input  wire       init_done,
    input  wire       finished,               // REGISTER or REMOVE has ended
    input  wire [2:0] finished_failure,
    // publications
    output wire       allowed,                // a publication may begin
    input  wire       start,                  // a publication begins
    input  wire       found_all,              // all its words were looked up
    input  wire       scanning,               // its context is not known yet
    output wire       matching,
    output wire       finish,                 // decide which subscriptions match
    output reg        done_reg                // a result waits to be taken
);
    localparam [2:0] C_INIT = 3'd1, C_REGISTER = 3'd2, C_REMOVE = 3'd3, C_TAKE = 3'd4, C_DROP = 3'd5;

    reg [2:0] command_reg;
    reg       pending_reg;
    reg       running_reg;
    reg       matching_reg;
    reg       found_all_reg;

    wire is_long = command == C_INIT || command == C_REGISTER || command == C_REMOVE;
    wire accepts = command_valid && is_long && !busy;
    wire starts  = pending_reg && !matching_reg;
    wire ends    = (starts || running_reg) && (command_reg == C_INIT ? init_done : finished);

    assign busy           = pending_reg || running_reg;
    assign initialising   = busy && command_reg == C_INIT;
    assign start_init     = starts && command_reg == C_INIT;
    assign start_register = starts && command_reg == C_REGISTER;
    assign start_remove   = starts && command_reg == C_REMOVE;
    assign drop           = command_valid && command == C_DROP && !busy;
    assign allowed        = !busy && !matching_reg && !done_reg;
    assign matching       = matching_reg;
    assign finish         = matching_reg && (found_all || found_all_reg) && !scanning;

    always @(posedge clk) begin
        if (accepts) command_reg <= command;
        if (accepts) failure_reg <= 3'd0;
        if (ends && command_reg != C_INIT) failure_reg <= finished_failure;
        pending_reg <= accepts || (pending_reg && !starts);
        running_reg <= (starts || running_reg) && !ends;
        if (rst) begin
            command_reg <= C_INIT;
            failure_reg <= 3'd0;
            pending_reg <= 1'b1;
            running_reg <= 1'b0;
        end
    end

    always @(posedge clk) begin
        matching_reg  <= start || (matching_reg && !finish);
        found_all_reg <= (found_all || found_all_reg) && matching_reg && !finish;
        done_reg      <= finish || (done_reg && !(command_valid && command == C_TAKE));
        if (rst || start_init) begin
            matching_reg  <= 1'b0;
            found_all_reg <= 1'b0;
            done_reg      <= 1'b0;
        end
    end
endmodule

`default_nettype wire
