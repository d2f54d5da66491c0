"""The environment of a PYNQ image: whether this program runs in it, and the errors that say how to enter it.

An image has pynq in a virtual environment, and XRT's variables in a profile script. A root shell has neither until both
scripts were sourced: `sudo python3` starts the system's Python, which has no pynq, and without XILINX_XRT pynq does not
look for a device. This module knows only the image; `pynq_board` imports pynq.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from silbo.errors import HardwareUnavailable

VENV = Path("/etc/profile.d/pynq_venv.sh")  # activates the environment that has pynq
XRT = Path("/etc/profile.d/xrt_setup.sh")  # sets XILINX_XRT
ENTER = f"sudo -i, then: source {VENV}; source {XRT}"
ANYWHERE = 'The simulated matcher runs anywhere: offload="sim".'


def is_image() -> bool:
    """Whether this machine runs a PYNQ image."""
    return VENV.exists()


def pynq_missing() -> HardwareUnavailable:
    """The error if pynq cannot be imported. An image has pynq, but not for every Python."""
    if is_image():
        return HardwareUnavailable(
            "pynq", command=ENTER, why=f"{sys.executable} is not the Python of this PYNQ image's environment."
        )
    return HardwareUnavailable("pynq", extra="pynq", why=f"It is of use only on a PYNQ board. {ANYWHERE}")


def board_missing() -> HardwareUnavailable:
    """The error if pynq finds no device."""
    return HardwareUnavailable("a PYNQ board", command=ENTER, why=f"{_reason()} {ANYWHERE}")


def _reason() -> str:
    if not os.environ.get("XILINX_XRT"):
        return "XILINX_XRT is not set, and without it pynq does not look for a device: source the scripts of the image."
    if os.geteuid() != 0:
        return "pynq finds no device, and only root may use one."
    return "pynq finds no device here."
