// X2CBBR, the matching unit (PMU) with context: subscriptions are registered through AXI4-Lite,
// publications arrive as words through AXI4-Stream, and the result is a bit for each t-SID.
//
// The XML parser (SCBXP), the units for subscriptions (SPU) and notifications (NPU) and the mode machine
// have addresses in the register map (hw/driver/registers.py), but do not exist yet.
`default_nettype none

module x2cbbr #(
    parameter CRT_MODE    = 0,                // rows of the CRT: 0 bitmaps, 1 the paper's lists
    parameter FILTERS     = 256,              // entries of the CAM: 16, 32, 64 …
    parameter SIDS        = 256,              // t-SIDs 0 (none) … SIDS-1: 16, 32 … 256
    parameter SLOTS       = 31,               // t-SIDs of a list row; one more reports HCD
    parameter MOST        = 16,               // filters of a subscription, 2 … 16
    parameter SUBSCRIBERS = 256,              // rows of the contextManager, a power of two, at most 4096
    parameter LANES       = 16                // rows tested in a cycle, a power of two
) (
    input  wire        aclk,
    input  wire        aresetn,               // synchronous
    // AXI4-Lite: registers
    input  wire [11:0] s_axi_awaddr,
    input  wire [2:0]  s_axi_awprot,
    input  wire        s_axi_awvalid,
    output wire        s_axi_awready,
    input  wire [31:0] s_axi_wdata,
    input  wire [3:0]  s_axi_wstrb,
    input  wire        s_axi_wvalid,
    output wire        s_axi_wready,
    output wire [1:0]  s_axi_bresp,
    output wire        s_axi_bvalid,
    input  wire        s_axi_bready,
    input  wire [11:0] s_axi_araddr,
    input  wire [2:0]  s_axi_arprot,
    input  wire        s_axi_arvalid,
    output wire        s_axi_arready,
    output wire [31:0] s_axi_rdata,
    output wire [1:0]  s_axi_rresp,
    output wire        s_axi_rvalid,
    input  wire        s_axi_rready,
    // AXI4-Stream: publications
    input  wire [31:0] s_axis_tdata,
    input  wire        s_axis_tvalid,
    output wire        s_axis_tready,
    input  wire        s_axis_tlast,
    // a result waits to be taken
    output wire        irq
);
    localparam WIDTH   = 32;
    localparam SID     = $clog2(SIDS);
    localparam ADDRESS = $clog2(FILTERS);
    localparam ROW     = $clog2(SUBSCRIBERS);
    localparam GROUPS  = SUBSCRIBERS / LANES;
    localparam GROUP   = GROUPS > 1 ? $clog2(GROUPS) : 1;
    localparam COUNT   = $clog2(MOST + 2);
    localparam STEPS   = FILTERS > GROUPS ? FILTERS : GROUPS;
    localparam STEP    = $clog2(STEPS);

    wire clk = aclk;
    wire rst = !aresetn;
    // protection bits are ignored, and registers are whole words
    wire unused = &{1'b0, s_axi_awprot, s_axi_arprot, s_axi_awaddr[1:0], s_axi_araddr[1:0]};

    // commands
    wire             command_valid;
    wire [2:0]       command;
    wire             busy;
    wire             initialising;
    wire [2:0]       failure;
    wire             start_init;
    wire             start_register;
    wire             start_remove;
    wire             drop;
    wire             finished;
    wire [2:0]       finished_failure;
    wire             is_registering;
    // initialisation
    wire             clear;
    wire             zero_row;
    wire             zero_group;
    wire [STEP-1:0]  step;
    wire             init_done;
    reg              is_initialising_reg;
    // subscriptions
    wire             push;
    wire [WIDTH-1:0] push_filter;
    wire [COUNT-1:0] filters_waiting;
    wire [63:0]      osid;
    wire [63:0]      asked_osid;
    wire [ROW-1:0]   subscriber;
    wire             in_context;
    wire [SID-1:0]   asked_sid;
    wire             asked_is_used;
    wire [SID-1:0]   sid;
    wire [SIDS-1:0]  who;
    wire [SID-1:0]   free_sid;
    wire             smt_is_full;
    wire             smt_take;
    wire             smt_give;
    wire [SID-1:0]   sid_next;
    wire             filter_valid;
    wire [WIDTH-1:0] filter;
    wire             filter_done;
    wire             filter_failed;
    wire             filter_is_new;
    wire             sweep_start;
    wire             sweep_done;
    wire             crt_is_full;
    wire [ADDRESS:0] rows_used;
    wire             hcd;
    wire             hcd_so_far;
    wire [SID:0]     s;
    wire [SID:0]     s_max_now;
    // publications
    wire             allowed;
    wire             start;
    wire             position_valid;
    wire [WIDTH-1:0] x;
    wire [WIDTH-1:0] y;
    wire             word_valid;
    wire             word_last;
    wire [WIDTH-1:0] word;
    wire [SIDS-1:0]  found;
    wire             found_all;
    wire             matching;
    wire             finish;
    wire             done;
    wire [SIDS-1:0]  match;
    reg  [255:0]     match_wide;
    reg  [31:0]      publications_reg;
    // context
    wire               context_write;
    wire               context_ready;
    wire [ROW-1:0]     context_row;
    wire               context_valid;
    wire [4*WIDTH-1:0] context_box;
    wire               scanning;
    wire               contained_valid;
    wire [GROUP-1:0]   contained_group;
    wire [LANES-1:0]   contained;
    wire [SIDS-1:0]    is_selected;
    // cycles
    wire [31:0] match_cycles;
    wire [31:0] register_cycles;
    wire [31:0] init_cycles;
    wire [31:0] context_cycles;

    assign irq = done;

    always @* begin
        match_wide           = 256'd0;
        match_wide[SIDS-1:0] = match;
    end

    always @(posedge clk) begin
        is_initialising_reg <= start_init || (is_initialising_reg && !init_done);
        if (finish) publications_reg <= publications_reg + 1'b1;
        if (rst || clear) publications_reg <= 32'd0;
        if (rst) is_initialising_reg <= 1'b0;
    end

    register_file #(
        .CRT_MODE(CRT_MODE), .FILTERS(FILTERS), .SIDS(SIDS), .SUBSCRIBERS(SUBSCRIBERS), .LANES(LANES), .COUNT(COUNT)
    ) registers (
        .clk            (clk),
        .rst            (rst),
        .s_axi_awaddr   (s_axi_awaddr[11:2]),
        .s_axi_awvalid  (s_axi_awvalid),
        .s_axi_awready  (s_axi_awready),
        .s_axi_wdata    (s_axi_wdata),
        .s_axi_wstrb    (s_axi_wstrb),
        .s_axi_wvalid   (s_axi_wvalid),
        .s_axi_wready   (s_axi_wready),
        .s_axi_bresp    (s_axi_bresp),
        .s_axi_bvalid   (s_axi_bvalid),
        .s_axi_bready   (s_axi_bready),
        .s_axi_araddr   (s_axi_araddr[11:2]),
        .s_axi_arvalid  (s_axi_arvalid),
        .s_axi_arready  (s_axi_arready),
        .s_axi_rdata    (s_axi_rdata),
        .s_axi_rresp    (s_axi_rresp),
        .s_axi_rvalid   (s_axi_rvalid),
        .s_axi_rready   (s_axi_rready),
        .command_valid  (command_valid),
        .command        (command),
        .push           (push),
        .push_filter    (push_filter),
        .osid           (osid),
        .subscriber     (subscriber),
        .in_context     (in_context),
        .sid            (asked_sid),
        .registered     (smt_take),
        .registered_sid (sid_next),
        .context_write  (context_write),
        .context_ready  (context_ready),
        .context_row    (context_row),
        .context_valid  (context_valid),
        .context_box    (context_box),
        .busy           (busy),
        .initialising   (initialising),
        .done           (done),
        .matching       (matching),
        .scanning       (scanning),
        .hcd            (hcd_so_far),
        .crt_is_full    (crt_is_full),
        .smt_is_full    (smt_is_full),
        .failure        (failure),
        .filters_waiting(filters_waiting),
        .asked_osid     (asked_osid),
        .s              (s),
        .s_max          (s_max_now),
        .rows_used      (rows_used),
        .match_cycles   (match_cycles),
        .register_cycles(register_cycles),
        .init_cycles    (init_cycles),
        .context_cycles (context_cycles),
        .publications   (publications_reg),
        .match          (match_wide)
    );

    control orders (
        .clk             (clk),
        .rst             (rst),
        .command_valid   (command_valid),
        .command         (command),
        .busy            (busy),
        .initialising    (initialising),
        .failure_reg     (failure),
        .start_init      (start_init),
        .start_register  (start_register),
        .start_remove    (start_remove),
        .drop            (drop),
        .init_done       (init_done),
        .finished        (finished),
        .finished_failure(finished_failure),
        .allowed         (allowed),
        .start           (start),
        .found_all       (found_all),
        .scanning        (scanning),
        .matching        (matching),
        .finish          (finish),
        .done_reg        (done)
    );

    memory_initialisation #(.ROWS(FILTERS), .GROUPS(GROUPS)) initialisation (
        .clk       (clk),
        .rst       (rst),
        .start     (start_init),
        .clear     (clear),
        .zero_row  (zero_row),
        .zero_group(zero_group),
        .step      (step),
        .done      (init_done)
    );

    xpath_fsm1 #(.WIDTH(WIDTH), .MOST(MOST), .SIDS(SIDS)) fsm1 (
        .clk           (clk),
        .rst           (rst || clear),
        .push          (push),
        .push_filter   (push_filter),
        .drop          (drop),
        .count         (filters_waiting),
        .start_register(start_register),
        .start_remove  (start_remove),
        .remove_sid    (asked_sid),
        .busy          (is_registering),
        .finished      (finished),
        .failure       (finished_failure),
        .sid           (sid),
        .who_reg       (who),
        .smt_is_full   (smt_is_full),
        .smt_free      (free_sid),
        .smt_is_used   (asked_is_used),
        .smt_take      (smt_take),
        .smt_give      (smt_give),
        .sid_next      (sid_next),
        .filter_valid  (filter_valid),
        .filter        (filter),
        .filter_done   (filter_done),
        .filter_failed (filter_failed),
        .sweep_start   (sweep_start),
        .sweep_done    (sweep_done)
    );

    smt #(.SIDS(SIDS)) mapping (
        .clk           (clk),
        .clear         (rst || clear),
        .is_full       (smt_is_full),
        .free          (free_sid),
        .take          (smt_take),
        .take_osid     (osid),
        .give          (smt_give),
        .give_sid      (sid),
        .asked_sid     (asked_sid),
        .asked_is_used (asked_is_used),
        .asked_osid_reg(asked_osid),
        .count         (s)
    );

    crt #(.CRT_MODE(CRT_MODE), .FILTERS(FILTERS), .SIDS(SIDS), .SLOTS(SLOTS), .WIDTH(WIDTH)) routing_table (
        .clk          (clk),
        .rst          (rst),
        .clear        (clear),
        .zero         (zero_row),
        .zero_address (step[ADDRESS-1:0]),
        .sid          (sid),
        .who          (who),
        .filter_valid (filter_valid),
        .filter       (filter),
        .filter_done  (filter_done),
        .filter_failed(filter_failed),
        .filter_is_new(filter_is_new),
        .hcd          (hcd),
        .sweep_start  (sweep_start),
        .sweep_done   (sweep_done),
        .is_full      (crt_is_full),
        .rows_used    (rows_used),
        .forget       (start),
        .word_valid   (word_valid),
        .word_last    (word_last),
        .word         (word),
        .found        (found),
        .found_all    (found_all)
    );

    s_max #(.SIDS(SIDS)) determination (
        .clk        (clk),
        .rst        (rst || clear),
        .crt_is_full(crt_is_full),
        .s          (s),
        .hcd        (hcd),
        .s_max_reg  (s_max_now),
        .hcd_reg    (hcd_so_far)
    );

    publication_stream #(.WIDTH(WIDTH)) publications (
        .clk           (clk),
        .rst           (rst),
        .s_axis_tdata  (s_axis_tdata),
        .s_axis_tvalid (s_axis_tvalid),
        .s_axis_tready (s_axis_tready),
        .s_axis_tlast  (s_axis_tlast),
        .allowed       (allowed),
        .start         (start),
        .position_valid(position_valid),
        .x             (x),
        .y             (y),
        .word_valid    (word_valid),
        .word_last     (word_last),
        .word          (word)
    );

    context_manager #(.SUBSCRIBERS(SUBSCRIBERS), .LANES(LANES), .WIDTH(WIDTH)) contexts (
        .clk            (clk),
        .rst            (rst),
        .zero           (zero_group),
        .zero_group     (step[GROUP-1:0]),
        .write          (context_write),
        .write_ready    (context_ready),
        .write_row      (context_row),
        .write_valid    (context_valid),
        .write_box      (context_box),
        .start          (position_valid),
        .x              (x),
        .y              (y),
        .scanning       (scanning),
        .contained_valid(contained_valid),
        .contained_group(contained_group),
        .contained      (contained)
    );

    context_selector #(.SIDS(SIDS), .LANES(LANES), .ROW(ROW), .GROUP(GROUP)) selector (
        .clk            (clk),
        .rst            (rst || clear),
        .link           (smt_take),
        .link_sid       (sid_next),
        .link_in_context(in_context),
        .link_row       (subscriber),
        .forget         (start),
        .contained_valid(contained_valid),
        .contained_group(contained_group),
        .contained      (contained),
        .is_selected    (is_selected)
    );

    matching_engine #(.SIDS(SIDS), .MOST(MOST)) engine (
        .clk        (clk),
        .rst        (rst || clear),
        .who        (who),
        .store      (filter_done && filter_is_new),
        .forget     (smt_give),
        .start      (start),
        .found      (found),
        .is_selected(is_selected),
        .finish     (finish),
        .match_reg  (match)
    );

    stopwatch match_watch (
        .clk       (clk),
        .rst       (rst),
        .running   (start || matching),
        .cycles_reg(match_cycles)
    );

    stopwatch register_watch (
        .clk       (clk),
        .rst       (rst),
        .running   (start_register || start_remove || is_registering),
        .cycles_reg(register_cycles)
    );

    stopwatch init_watch (
        .clk       (clk),
        .rst       (rst),
        .running   (start_init || is_initialising_reg),
        .cycles_reg(init_cycles)
    );

    stopwatch context_watch (
        .clk       (clk),
        .rst       (rst),
        .running   (position_valid || scanning),  // the first rows are read with the position
        .cycles_reg(context_cycles)
    );
endmodule

`default_nettype wire
