// The content routing table: a CAM of filters and a RAM with a row of subscriptions (t-SIDs) for each.
//
// CRT_MODE chooses the form of a row: 0, a bit for each t-SID, read in one step; 1, the paper's list of
// t-SIDs and the address of the next row. Registering and matching never run at the same time: control.v
// ensures it.
`default_nettype none

module crt #(
    parameter CRT_MODE = 0,
    parameter FILTERS  = 256,                 // entries of the CAM, rows of the RAM
    parameter SIDS     = 256,
    parameter SLOTS    = 31,                  // t-SIDs of a row that is a list
    parameter WIDTH    = 32,                  // bits of a filter
    parameter ADDRESS  = $clog2(FILTERS),
    parameter SID      = $clog2(SIDS)
) (
    input  wire               clk,
    input  wire               rst,
    // memory initialisation
    input  wire               clear,          // the CAM and the free list, at once
    input  wire               zero,           // one row
    input  wire [ADDRESS-1:0] zero_address,
    // registering (FSM1): one filter of subscription `sid`, or the removal of the subscription
    input  wire [SID-1:0]     sid,
    input  wire [SIDS-1:0]    who,            // its bit
    input  wire               filter_valid,
    input  wire [WIDTH-1:0]   filter,
    output wire               filter_done,
    output wire               filter_failed,
    output wire               filter_is_new,  // with `filter_done`: the subscription did not have it yet
    output wire               hcd,
    input  wire               sweep_start,
    output wire               sweep_done,
    output wire               is_full,
    output wire [ADDRESS:0]   rows_used,
    // matching: words of a publication, and the t-SIDs of the words that are filters
    input  wire               forget,         // a publication begins
    input  wire               word_valid,     // `word_last` may be set without a word
    input  wire               word_last,
    input  wire [WIDTH-1:0]   word,
    output wire [SIDS-1:0]    found,          // one more filter of each of these was found
    output wire               found_all       // no more filters of this publication follow
);
    localparam LIST = SLOTS*SID + ADDRESS;
    localparam ROW  = CRT_MODE == 0 ? SIDS : LIST;

    // CAM
    wire               search;
    wire [WIDTH-1:0]   search_key;
    wire               answer_valid;
    wire               answer_last;
    wire               answer_hit;
    wire [ADDRESS-1:0] answer_address;
    wire               cam_write;
    wire [ADDRESS-1:0] cam_write_address;
    wire [FILTERS-1:0] is_filter;
    // rows
    wire [FILTERS-1:0] unused_rows;           // the CAM says which entries are used
    wire [ADDRESS-1:0] lowest;
    wire [ADDRESS-1:0] highest;
    wire               has_no_high;
    wire               take_high;
    wire               give;
    wire               give_is_first;
    wire [ADDRESS-1:0] give_address;
    wire               append;
    wire [ADDRESS-1:0] append_address;
    wire               append_done;
    wire               append_failed;
    wire               fsm_read;
    wire [ADDRESS-1:0] fsm_read_address;
    wire               read_visitors;
    wire               match_read;
    wire [ADDRESS-1:0] match_read_address;
    wire [ROW-1:0]     row;
    wire               write;
    wire [ADDRESS-1:0] write_address;
    wire [ROW-1:0]     write_row;
    wire [SID-1:0]     visitors;
    wire               write_visitors_valid;
    wire [ADDRESS-1:0] write_visitors_address;
    wire [SID-1:0]     write_visitors;

    wire answers = answer_valid && answer_hit && !filter_valid;  // to a word of a publication

    crt_cam #(.FILTERS(FILTERS), .WIDTH(WIDTH)) cam (
        .clk           (clk),
        .clear         (rst || clear),
        .key_valid     (search || word_valid),
        .key_once      (!search),
        .key_last      (word_last),
        .key           (search ? search_key : word),
        .forget        (forget),
        .answer_valid  (answer_valid),
        .answer_last   (answer_last),
        .answer_hit    (answer_hit),
        .answer_address(answer_address),
        .write         (cam_write || (give && give_is_first)),
        .write_used    (cam_write),
        .write_address (cam_write ? cam_write_address : give_address),
        .write_filter  (search_key),
        .used          (is_filter)
    );

    free_list #(.DEPTH(FILTERS)) rows (
        .clk            (clk),
        .clear          (rst || clear),
        .take           (cam_write || take_high),
        .take_address   (cam_write ? cam_write_address : highest),
        .give           (give),
        .give_address   (give_address),
        .used           (unused_rows),
        .lowest_reg     (lowest),
        .highest_reg    (highest),
        .is_full_reg    (is_full),
        .has_no_high_reg(has_no_high),
        .count_reg      (rows_used)
    );

    xpath_fsm2 #(.WIDTH(WIDTH), .ADDRESS(ADDRESS)) fsm2 (
        .clk            (clk),
        .rst            (rst),
        .filter_valid   (filter_valid),
        .filter         (filter),
        .filter_done    (filter_done),
        .filter_failed  (filter_failed),
        .key_valid      (search),
        .key            (search_key),
        .answer_valid   (answer_valid),
        .answer_hit     (answer_hit),
        .answer_address (answer_address),
        .write          (cam_write),
        .write_address  (cam_write_address),
        .crt_is_full    (is_full),
        .crt_free       (lowest),
        .append         (append),
        .append_address (append_address),
        .append_done    (append_done),
        .append_failed  (append_failed)
    );

    crt_ram #(.WIDTH(ROW), .DEPTH(FILTERS)) ram (
        .clk          (clk),
        .read         (fsm_read || match_read),
        .read_address (match_read ? match_read_address : fsm_read_address),
        .row_reg      (row),
        .write        (write || zero),
        .write_address(zero ? zero_address : write_address),
        .write_row    (zero ? {ROW{1'b0}} : write_row)
    );

    crt_ram #(.WIDTH(SID), .DEPTH(FILTERS)) visitor_counts (
        .clk          (clk),
        .read         (read_visitors),
        .read_address (fsm_read_address),
        .row_reg      (visitors),
        .write        (write_visitors_valid || zero),
        .write_address(zero ? zero_address : write_visitors_address),
        .write_row    (zero ? {SID{1'b0}} : write_visitors)
    );

    generate
        if (CRT_MODE == 0) begin : bitmap
            reg       found_reg;
            reg [1:0] last_reg;

            // only lists have chains
            wire unused = &{1'b0, is_filter, highest, has_no_high, sid};

            assign match_read             = answers;
            assign match_read_address     = answer_address;
            assign found                  = row & {SIDS{found_reg}};
            assign found_all              = last_reg[1];
            assign read_visitors          = fsm_read;
            assign write_visitors_valid   = write;
            assign write_visitors_address = write_address;
            assign append_failed          = 1'b0;
            assign take_high              = 1'b0;
            assign give_is_first          = 1'b1;

            always @(posedge clk) begin
                found_reg <= answers && !rst;
                last_reg  <= {last_reg[0] && !rst, answer_last && !rst};
            end

            xpath_fsm3_bitmap #(.ROWS(FILTERS), .SIDS(SIDS), .SLOTS(SLOTS)) fsm3 (
                .clk           (clk),
                .rst           (rst),
                .who           (who),
                .append        (append),
                .append_address(append_address),
                .append_done   (append_done),
                .append_is_new (filter_is_new),
                .hcd           (hcd),
                .sweep_start   (sweep_start),
                .sweep_done    (sweep_done),
                .read          (fsm_read),
                .read_address  (fsm_read_address),
                .row           (row),
                .visitors      (visitors),
                .write         (write),
                .write_address (write_address),
                .write_row     (write_row),
                .write_visitors(write_visitors),
                .give          (give),
                .give_address  (give_address)
            );
        end else begin : list
            wire           tells;
            wire [SID-1:0] told;
            reg            tells_reg;
            reg  [SID-1:0] told_reg;
            reg            found_all_reg;
            wire           reads_all;
            wire           unused = &{1'b0, who};  // a slot holds the t-SID as a number

            assign found     = {{(SIDS - 1){1'b0}}, tells_reg} << told_reg;
            assign found_all = found_all_reg;

            always @(posedge clk) begin
                tells_reg     <= tells && !rst;
                told_reg      <= told;
                found_all_reg <= reads_all && !rst;
            end

            list_reader #(.ROWS(FILTERS), .SIDS(SIDS), .SLOTS(SLOTS)) reader (
                .clk         (clk),
                .rst         (rst),
                .hit         (answers),
                .hit_address (answer_address),
                .last        (answer_last),
                .done        (reads_all),
                .read        (match_read),
                .read_address(match_read_address),
                .row         (row),
                .found       (tells),
                .found_sid   (told)
            );

            xpath_fsm3_list #(.ROWS(FILTERS), .SIDS(SIDS), .SLOTS(SLOTS)) fsm3 (
                .clk                   (clk),
                .rst                   (rst),
                .sid                   (sid),
                .append                (append),
                .append_address        (append_address),
                .append_done           (append_done),
                .append_failed         (append_failed),
                .append_is_new         (filter_is_new),
                .hcd                   (hcd),
                .sweep_start           (sweep_start),
                .sweep_done            (sweep_done),
                .is_first              (is_filter),
                .read                  (fsm_read),
                .read_address          (fsm_read_address),
                .read_visitors         (read_visitors),
                .row                   (row),
                .visitors              (visitors),
                .write                 (write),
                .write_address         (write_address),
                .write_row             (write_row),
                .write_visitors_valid  (write_visitors_valid),
                .write_visitors_address(write_visitors_address),
                .write_visitors        (write_visitors),
                .has_no_row            (has_no_high),
                .free_row              (highest),
                .take                  (take_high),
                .give                  (give),
                .give_address          (give_address),
                .give_is_first         (give_is_first)
            );
        end
    endgenerate
endmodule

`default_nettype wire
