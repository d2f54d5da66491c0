# The core as IP: its Verilog, its two buses with their clock, and its interrupt.

source [file join [file dirname [file normalize [info script]]] settings.tcl]

# the Verilog files in a folder and in the folders inside it
proc verilog {folder} {
    set found [lsort [glob -nocomplain -directory $folder *.v]]
    foreach inside [lsort [glob -nocomplain -directory $folder -types d *]] {
        lappend found {*}[verilog $inside]
    }
    return $found
}

proc package_core {} {
    global rtl out part vendor library name version
    create_project -force package [file join $out package] -part $part
    add_files [verilog $rtl]
    set_property top $name [current_fileset]
    update_compile_order -fileset sources_1
    ipx::package_project -root_dir [file join $out ip] -vendor $vendor -library $library -taxonomy /UserIP \
        -import_files -force
    set core [ipx::current_core]
    set_property name $name $core
    set_property version $version $core
    set_property display_name "X2CBBR matcher" $core
    set_property description "Content-based matching with context lanes" $core
    package_buses $core
    ipx::create_xgui_files $core
    ipx::update_checksums $core
    ipx::check_integrity $core
    ipx::save_core $core
    close_project
}

# Vivado infers s_axi, s_axis, aclk and aresetn from the ports' names; the rest is set here
proc package_buses {core} {
    foreach bus {s_axi s_axis} {
        if {[llength [ipx::get_bus_interfaces $bus -of_objects $core]] != 1} {
            error "Vivado found no bus $bus: are the ports of x2cbbr.v named ${bus}_…?"
        }
        ipx::associate_bus_interfaces -busif $bus -clock aclk $core
    }
    ipx::associate_bus_interfaces -clock aclk -reset aresetn $core
    ipx::infer_bus_interface irq xilinx.com:signal:interrupt_rtl:1.0 $core
    set interrupt [ipx::get_bus_interfaces irq -of_objects $core]
    set_property value LEVEL_HIGH [ipx::add_bus_parameter SENSITIVITY $interrupt]
    ipx::remove_all_memory_map $core
    ipx::add_memory_map s_axi $core
    set_property slave_memory_map_ref s_axi [ipx::get_bus_interfaces s_axi -of_objects $core]
    set block [ipx::add_address_block registers [ipx::get_memory_maps s_axi -of_objects $core]]
    set_property range 4096 $block
    set_property width 32 $block
    set_property usage register $block
}

package_core
