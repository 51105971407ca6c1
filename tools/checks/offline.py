"""Run a command with the network cut off: only the machine itself (127.0.0.1) can be reached.

    python tools/checks/offline.py COMMAND [ARGUMENT …]

On Linux the command gets a network namespace of its own, with nothing in it but the loopback. Root
may make one; others may inside a user namespace, where the system allows that. Elsewhere one
sentence says that the network stays on, and the command runs all the same.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import socket
import struct
import sys

CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 0x1
MARK = "GATES2HEADS_NETWORK"


def _unshare(flags: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(flags):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _raise_loopback() -> None:
    # struct ifreq: the interface's name in 16 bytes, then its flags; iproute2 is not needed.
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = struct.pack("16sH14s", b"lo", 0, b"")
        flags = struct.unpack("16sH14s", fcntl.ioctl(control, SIOCGIFFLAGS, request))[1]
        fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sH14s", b"lo", flags | IFF_UP, b""))


def cut(*, as_user: bool) -> None:
    """Move this process into a network of its own.

    Args:
        as_user: go through a user namespace, which needs no privilege.
    Raises:
        OSError, AttributeError: the system does not allow it, or has no such thing.
    """
    user, group = os.getuid(), os.getgid()
    _unshare(CLONE_NEWNET | (CLONE_NEWUSER if as_user else 0))
    if as_user:
        # Everybody stays who they are; without a map, every file would belong to nobody.
        for name, line in (
            ("setgroups", "deny"),
            ("uid_map", f"{user} {user} 1"),
            ("gid_map", f"{group} {group} 1"),
        ):
            with open(f"/proc/self/{name}", "w") as control:
                control.write(line)
    _raise_loopback()


def _works(*, as_user: bool) -> bool:
    """Try it in a child: a half-done move cannot be taken back."""
    child = os.fork()
    if child == 0:
        try:
            cut(as_user=as_user)
        except (OSError, AttributeError):
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def main(command: list[str]) -> None:
    """Cut the network if that is allowed, then become the command."""
    if not command:
        raise SystemExit("usage: python tools/checks/offline.py COMMAND [ARGUMENT …]")
    way = next((way for way in (False, True) if _works(as_user=way)), None)
    if way is None:
        print("The network stays on: this system allows no network namespace.", file=sys.stderr)
    else:
        cut(as_user=way)
    sys.stderr.flush()
    state = "on" if way is None else "cut"
    try:
        os.execvpe(command[0], command, {**os.environ, MARK: state})
    except FileNotFoundError:
        raise SystemExit(f"{command[0]}: no such command") from None


if __name__ == "__main__":
    main(sys.argv[1:])
