# Build x2cbbr.bit and x2cbbr.hwh from the Verilog, into this folder:
#
#   vivado -mode batch -source build.tcl
#
# There is no file of constraints: the clock comes with the processor, and no pin of the FPGA is used.

source [file join [file dirname [file normalize [info script]]] settings.tcl]
source [file join $here package.tcl]

proc build {} {
    global here out part board name
    if {[llength [get_board_parts -quiet $board]] == 0} {
        error "Vivado has no board $board. Install the board files of the PYNQ-Z2 first; README.md says where from."
    }
    create_project -force $name [file join $out project] -part $part
    set_property board_part $board [current_project]
    set_property ip_repo_paths [file join $out ip] [current_project]
    update_ip_catalog
    source [file join $here design.tcl]
    set design [get_files system.bd]
    generate_target all $design
    add_files -norecurse [make_wrapper -files $design -top]
    set_property top system_wrapper [current_fileset]
    implement
    deliver
}

proc implement {} {
    launch_runs impl_1 -to_step write_bitstream -jobs 4
    wait_on_run impl_1
    if {[get_property PROGRESS [get_runs impl_1]] ne "100%"} {
        error "no bitstream was written: see the messages of the runs"
    }
    open_run impl_1
    report_utilization -file [file join $::out utilization.txt]
    report_timing_summary -file [file join $::out timing.txt]
    set slack [get_property SLACK [get_timing_paths -delay_type max]]
    if {$slack < 0} {
        error "at $::clock MHz the slowest path is $slack ns short (build/timing.txt). Lower `clock` in settings.tcl."
    }
    set slack [get_property SLACK [get_timing_paths -delay_type min]]
    if {$slack < 0} {
        error "a path misses its hold time by $slack ns, at any clock (build/timing.txt). Route the design again."
    }
}

# pynq needs the two files in one folder, with the same name
proc deliver {} {
    global here out name
    set project [file join $out project]
    file copy -force [file join $project $name.runs impl_1 system_wrapper.bit] [file join $here $name.bit]
    set handoff [file join $project $name.gen sources_1 bd system hw_handoff]
    file copy -force [file join $handoff system.hwh] [file join $here $name.hwh]
}

build
