// The registers, as an AXI4-Lite slave. Addresses, commands and failures have the names of
// hw/driver/registers.py, and a test compares the two.
//
// A write of fewer than four bytes, or with a row or a t-SID that does not exist, is answered SLVERR and
// changes nothing. A write to CONTEXT is answered when the row is written, which may have to wait for a
// scan; all others at once. A register that a running command still needs cannot be written, and INIT,
// from its command on, needs all contexts: such writes are dropped, and STATUS says REFUSED.
`default_nettype none

module register_file #(
    parameter CRT_MODE    = 0,                // the values of the registers with these names
    parameter FILTERS     = 256,
    parameter SIDS        = 256,              // the register has one less: 0 is no t-SID
    parameter SUBSCRIBERS = 256,
    parameter LANES       = 16,
    parameter COUNT       = 5,                // bits of the number of waiting filters
    parameter SID         = $clog2(SIDS),
    parameter ROW         = $clog2(SUBSCRIBERS),
    parameter ADDRESS     = $clog2(FILTERS)
) (
    input  wire               clk,
    input  wire               rst,
    // AXI4-Lite
    input  wire [11:2]        s_axi_awaddr,   // word addresses
    input  wire               s_axi_awvalid,
    output wire               s_axi_awready,
    input  wire [31:0]        s_axi_wdata,
    input  wire [3:0]         s_axi_wstrb,
    input  wire               s_axi_wvalid,
    output wire               s_axi_wready,
    output wire [1:0]         s_axi_bresp,
    output wire               s_axi_bvalid,
    input  wire               s_axi_bready,
    input  wire [11:2]        s_axi_araddr,
    input  wire               s_axi_arvalid,
    output wire               s_axi_arready,
    output wire [31:0]        s_axi_rdata,
    output wire [1:0]         s_axi_rresp,
    output wire               s_axi_rvalid,
    input  wire               s_axi_rready,
    // commands
    output wire               command_valid,
    output wire [2:0]         command,
    output wire               push,           // one more filter
    output wire [31:0]        push_filter,
    output wire [63:0]        osid,
    output wire [ROW-1:0]     subscriber,
    output wire               in_context,
    output wire [SID-1:0]     sid,
    input  wire               registered,     // `registered_sid` was assigned to a new subscription
    input  wire [SID-1:0]     registered_sid,
    // context
    output wire               context_write,
    input  wire               context_ready,
    output wire [ROW-1:0]     context_row,
    output wire               context_valid,
    output wire [127:0]       context_box,
    // state
    input  wire               busy,
    input  wire               initialising,
    input  wire               done,
    input  wire               matching,
    input  wire               scanning,
    input  wire               hcd,
    input  wire               crt_is_full,
    input  wire               smt_is_full,
    input  wire [2:0]         failure,
    input  wire [COUNT-1:0]   filters_waiting,
    input  wire [63:0]        asked_osid,
    input  wire [SID:0]       s,
    input  wire [SID:0]       s_max,
    input  wire [ADDRESS:0]   rows_used,
    input  wire [31:0]        match_cycles,
    input  wire [31:0]        register_cycles,
    input  wire [31:0]        init_cycles,
    input  wire [31:0]        context_cycles,
    input  wire [31:0]        publications,
    input  wire [255:0]       match
);
    localparam [11:0]
        A_ID              = 12'h000,
        A_VERSION         = 12'h004,
        A_CRT_MODE        = 12'h008,
        A_FILTERS         = 12'h00C,
        A_SIDS            = 12'h010,
        A_SUBSCRIBERS     = 12'h014,
        A_LANES           = 12'h018,
        A_COMMAND         = 12'h020,
        A_STATUS          = 12'h024,
        A_TSID            = 12'h028,
        A_OSID_LOW        = 12'h02C,
        A_OSID_HIGH       = 12'h030,
        A_FILTER          = 12'h034,
        A_SUBSCRIBER      = 12'h038,
        A_S               = 12'h040,
        A_S_MAX           = 12'h044,
        A_FILTERS_USED    = 12'h048,
        A_X_LOW           = 12'h060,
        A_X_HIGH          = 12'h064,
        A_Y_LOW           = 12'h068,
        A_Y_HIGH          = 12'h06C,
        A_CONTEXT         = 12'h070,
        A_MATCH_CYCLES    = 12'h080,
        A_REGISTER_CYCLES = 12'h084,
        A_INIT_CYCLES     = 12'h088,
        A_CONTEXT_CYCLES  = 12'h08C,
        A_PUBLICATIONS    = 12'h090,
        A_MATCH           = 12'h100;
    localparam [31:0] ID = 32'h58324342, VERSION = 32'd1;
    localparam [1:0] OKAY = 2'b00, SLVERR = 2'b10;

    // a write: its address and its data may arrive in any order
    reg         has_address_reg;
    reg         has_data_reg;
    reg [11:0]  address_reg;
    reg [31:0]  data_reg;
    reg         is_whole_reg;
    reg         bvalid_reg;
    reg [1:0]   bresp_reg;
    // a read
    reg         rvalid_reg;
    reg [31:0]  rdata_reg;
    reg [31:0]  value;
    // values that were written
    reg [63:0]    osid_reg;
    reg [SID-1:0] sid_reg;
    reg [ROW-1:0] subscriber_reg;
    reg           in_context_reg;
    reg [127:0]   box_reg;
    reg           refused_reg;                // a write was dropped since the last command

    wire is_complete = has_address_reg && has_data_reg && !bvalid_reg;
    wire names_row   = address_reg == A_CONTEXT || address_reg == A_SUBSCRIBER;
    wire is_in_range = names_row ? ~(|data_reg[30:ROW]) : address_reg != A_TSID || ~(|data_reg[31:SID]);
    wire is_good     = is_whole_reg && is_in_range;
    wire waits       = is_good && address_reg == A_CONTEXT && !context_ready && !initialising;
    wire writes      = is_complete && !waits;
    wire counts      = writes && is_good;
    wire is_needed   = address_reg == A_COMMAND ? command != 3'd4  // TAKE is always accepted
                     : address_reg == A_FILTER || address_reg == A_OSID_LOW || address_reg == A_OSID_HIGH
                       || address_reg == A_SUBSCRIBER || address_reg == A_TSID;
    wire drops       = counts && (is_needed ? busy : address_reg == A_CONTEXT && initialising);
    wire takes       = counts && !drops;

    wire [7:0]  not_zero = {|match[255:224], |match[223:192], |match[191:160], |match[159:128],
                            |match[127:96], |match[95:64], |match[63:32], |match[31:0]};
    wire [31:0] status   = {not_zero & {8{done}}, 13'd0, failure, refused_reg, smt_is_full, crt_is_full, hcd, scanning,
                            matching, done, busy};

    assign s_axi_awready = !has_address_reg;
    assign s_axi_wready  = !has_data_reg;
    assign s_axi_bvalid  = bvalid_reg;
    assign s_axi_bresp   = bresp_reg;
    assign s_axi_arready = !rvalid_reg;
    assign s_axi_rvalid  = rvalid_reg;
    assign s_axi_rdata   = rdata_reg;
    assign s_axi_rresp   = OKAY;

    assign command_valid = takes && address_reg == A_COMMAND;
    assign command       = |data_reg[31:3] ? 3'd0 : data_reg[2:0];
    assign push          = takes && address_reg == A_FILTER;
    assign push_filter   = data_reg;
    assign osid          = osid_reg;
    assign sid           = sid_reg;
    assign subscriber    = subscriber_reg;
    assign in_context    = in_context_reg;
    assign context_write = is_complete && is_good && address_reg == A_CONTEXT && !initialising;
    assign context_row   = data_reg[ROW-1:0];
    assign context_valid = data_reg[31];
    assign context_box   = box_reg;

    always @(posedge clk) begin
        if (s_axi_awvalid && s_axi_awready) address_reg <= {s_axi_awaddr, 2'b00};
        if (s_axi_wvalid && s_axi_wready) data_reg <= s_axi_wdata;
        if (s_axi_wvalid && s_axi_wready) is_whole_reg <= &s_axi_wstrb;
        has_address_reg <= has_address_reg ? !writes : s_axi_awvalid;
        has_data_reg    <= has_data_reg ? !writes : s_axi_wvalid;
        if (writes) bresp_reg <= is_good ? OKAY : SLVERR;
        bvalid_reg <= writes || (bvalid_reg && !s_axi_bready);
        if (rst) begin
            has_address_reg <= 1'b0;
            has_data_reg    <= 1'b0;
            bvalid_reg      <= 1'b0;
        end
    end

    always @(posedge clk) begin
        if (takes)
            case (address_reg)
                A_TSID:       sid_reg <= data_reg[SID-1:0];
                A_OSID_LOW:   osid_reg[31:0] <= data_reg;
                A_OSID_HIGH:  osid_reg[63:32] <= data_reg;
                A_SUBSCRIBER: {in_context_reg, subscriber_reg} <= {data_reg[31], data_reg[ROW-1:0]};
                A_X_LOW:      box_reg[31:0] <= data_reg;
                A_X_HIGH:     box_reg[63:32] <= data_reg;
                A_Y_LOW:      box_reg[95:64] <= data_reg;
                A_Y_HIGH:     box_reg[127:96] <= data_reg;
                default: ;
            endcase
        if (registered) sid_reg <= registered_sid;
        refused_reg <= drops || (refused_reg && !command_valid);
        if (rst) refused_reg <= 1'b0;
    end

    always @* begin
        value = 32'd0;
        case ({s_axi_araddr, 2'b00})
            A_ID:              value = ID;
            A_VERSION:         value = VERSION;
            A_CRT_MODE:        value = CRT_MODE;
            A_FILTERS:         value = FILTERS;
            A_SIDS:            value = SIDS - 1;
            A_SUBSCRIBERS:     value = SUBSCRIBERS;
            A_LANES:           value = LANES;
            A_STATUS:          value = status;
            A_TSID:            value[SID-1:0] = sid_reg;
            A_OSID_LOW:        value = asked_osid[31:0];
            A_OSID_HIGH:       value = asked_osid[63:32];
            A_FILTER:          value[COUNT-1:0] = filters_waiting;
            A_S:               value[SID:0] = s;
            A_S_MAX:           value[SID:0] = s_max;
            A_FILTERS_USED:    value[ADDRESS:0] = rows_used;
            A_MATCH_CYCLES:    value = match_cycles;
            A_REGISTER_CYCLES: value = register_cycles;
            A_INIT_CYCLES:     value = init_cycles;
            A_CONTEXT_CYCLES:  value = context_cycles;
            A_PUBLICATIONS:    value = publications;
            default:
                if ({s_axi_araddr[11:5], 5'd0} == A_MATCH) value = match[{s_axi_araddr[4:2], 5'd0} +: 32];
        endcase
    end

    always @(posedge clk) begin
        if (s_axi_arvalid && s_axi_arready) rdata_reg <= value;
        rvalid_reg <= rvalid_reg ? !s_axi_rready : s_axi_arvalid;
        if (rst) rvalid_reg <= 1'b0;
    end
endmodule

`default_nettype wire
