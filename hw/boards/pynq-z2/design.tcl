# The block design: the processor, the core, and a DMA that sends it publications. All on one clock, FCLK0.
#
#   processor GP0 ── control ──┬── matcher s_axi       registers
#                              ├── dma                 its registers
#                              └── interrupts          its registers
#   processor HP0 ── memory ────── dma ── matcher s_axis    publications, read from memory
#   matcher irq, dma ── interrupts ── processor

source [file join [file dirname [file normalize [info script]]] settings.tcl]

proc build_design {} {
    create_bd_design system
    add_processor
    add_matcher
    add_dma
    add_interrupts
    add_control
    add_memory
    add_clock
    assign_bd_address
    validate_bd_design
    save_bd_design
}

proc add_processor {} {
    global clock
    create_bd_cell -type ip -vlnv xilinx.com:ip:processing_system7 processor
    apply_bd_automation -rule xilinx.com:bd_rule:processing_system7 \
        -config {make_external "FIXED_IO, DDR" apply_board_preset "1"} [get_bd_cells processor]
    set_property -dict [list \
        CONFIG.PCW_FPGA0_PERIPHERAL_FREQMHZ $clock \
        CONFIG.PCW_USE_M_AXI_GP0 1 \
        CONFIG.PCW_USE_S_AXI_HP0 1 \
        CONFIG.PCW_USE_FABRIC_INTERRUPT 1 \
        CONFIG.PCW_IRQ_F2P_INTR 1 \
    ] [get_bd_cells processor]
}

proc add_matcher {} {
    global vlnv parameters
    create_bd_cell -type ip -vlnv $vlnv matcher
    foreach {parameter value} $parameters {
        set_property CONFIG.$parameter $value [get_bd_cells matcher]
    }
}

# simple mode, only from memory to the stream: one transfer is one publication, and its last beat has TLAST
proc add_dma {} {
    create_bd_cell -type ip -vlnv xilinx.com:ip:axi_dma dma
    set_property -dict [list \
        CONFIG.c_include_sg 0 \
        CONFIG.c_include_mm2s 1 \
        CONFIG.c_include_s2mm 0 \
        CONFIG.c_sg_length_width 23 \
        CONFIG.c_m_axi_mm2s_data_width 32 \
        CONFIG.c_m_axis_mm2s_tdata_width 32 \
        CONFIG.c_mm2s_burst_size 16 \
    ] [get_bd_cells dma]
    connect_bd_intf_net [get_bd_intf_pins dma/M_AXIS_MM2S] [get_bd_intf_pins matcher/s_axis]
}

# pynq reaches interrupts through a controller of this kind; silbo's driver polls STATUS instead
proc add_interrupts {} {
    create_bd_cell -type ip -vlnv xilinx.com:ip:axi_intc interrupts
    set_property CONFIG.C_IRQ_CONNECTION 1 [get_bd_cells interrupts]
    create_bd_cell -type ip -vlnv xilinx.com:ip:xlconcat sources
    set_property CONFIG.NUM_PORTS 2 [get_bd_cells sources]
    connect_bd_net [get_bd_pins matcher/irq] [get_bd_pins sources/In0]
    connect_bd_net [get_bd_pins dma/mm2s_introut] [get_bd_pins sources/In1]
    connect_bd_net [get_bd_pins sources/dout] [get_bd_pins interrupts/intr]
    connect_bd_net [get_bd_pins interrupts/irq] [get_bd_pins processor/IRQ_F2P]
}

proc add_control {} {
    create_bd_cell -type ip -vlnv xilinx.com:ip:smartconnect control
    set_property -dict [list CONFIG.NUM_SI 1 CONFIG.NUM_MI 3 CONFIG.NUM_CLKS 1] [get_bd_cells control]
    connect_bd_intf_net [get_bd_intf_pins processor/M_AXI_GP0] [get_bd_intf_pins control/S00_AXI]
    connect_bd_intf_net [get_bd_intf_pins control/M00_AXI] [get_bd_intf_pins matcher/s_axi]
    connect_bd_intf_net [get_bd_intf_pins control/M01_AXI] [get_bd_intf_pins dma/S_AXI_LITE]
    connect_bd_intf_net [get_bd_intf_pins control/M02_AXI] [get_bd_intf_pins interrupts/s_axi]
}

proc add_memory {} {
    create_bd_cell -type ip -vlnv xilinx.com:ip:smartconnect memory
    set_property -dict [list CONFIG.NUM_SI 1 CONFIG.NUM_MI 1 CONFIG.NUM_CLKS 1] [get_bd_cells memory]
    connect_bd_intf_net [get_bd_intf_pins dma/M_AXI_MM2S] [get_bd_intf_pins memory/S00_AXI]
    connect_bd_intf_net [get_bd_intf_pins memory/M00_AXI] [get_bd_intf_pins processor/S_AXI_HP0]
}

proc add_clock {} {
    create_bd_cell -type ip -vlnv xilinx.com:ip:proc_sys_reset reset
    connect_bd_net [get_bd_pins processor/FCLK_RESET0_N] [get_bd_pins reset/ext_reset_in]
    foreach pin {
        processor/M_AXI_GP0_ACLK processor/S_AXI_HP0_ACLK reset/slowest_sync_clk matcher/aclk
        dma/s_axi_lite_aclk dma/m_axi_mm2s_aclk interrupts/s_axi_aclk control/aclk memory/aclk
    } {
        connect_bd_net [get_bd_pins processor/FCLK_CLK0] [get_bd_pins $pin]
    }
    foreach pin {matcher/aresetn dma/axi_resetn interrupts/s_axi_aresetn control/aresetn memory/aresetn} {
        connect_bd_net [get_bd_pins reset/peripheral_aresetn] [get_bd_pins $pin]
    }
}

build_design
