# Settings that the scripts share: names, paths, and the assumed clock.

set here [file dirname [file normalize [info script]]]
set rtl [file normalize [file join $here .. .. rtl]]
set out [file join $here build]

set part xc7z020clg400-1
set board tul.com.tw:pynq-z2:part0:1.0

# the name that hw/driver/pynq_board.py looks for
set vendor silbo
set library hw
set name x2cbbr
set version 1.0
set vlnv $vendor:$library:$name:$version

# MHz of FCLK0, which drives everything. This is assumed: no tool has confirmed yet that the design meets it.
set clock 100

# parameters of the top level; hw/rtl/x2cbbr.v says what they mean
set parameters {
    CRT_MODE    0
    FILTERS     256
    SIDS        256
    SLOTS       31
    MOST        16
    SUBSCRIBERS 256
    LANES       16
}
