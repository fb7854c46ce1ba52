"""The command `more`: what fewer people need."""

from __future__ import annotations

from humeval_power.asking.command_groups import OpenGroup

command = OpenGroup("more", help="What fewer people need.")
