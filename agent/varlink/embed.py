#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes a C++ file holding the interface descriptions, so programs need no file at run time.

embed.py OUTPUT HEADER NAMESPACE INPUT.varlink...: io.pvrdma.Agent.varlink becomes kAgentInterface, which HEADER declares.
"""
import pathlib
import sys

output, header, namespace, *inputs = sys.argv[1:]
parts = [f'#include "{header}"\n\nnamespace {namespace} {{\n']
for path in map(pathlib.Path, inputs):
    last = path.name.removesuffix(".varlink").split(".")[-1]
    name = f"k{last[0].upper()}{last[1:]}Interface"
    parts.append(f'\nconst std::string_view {name} = R"varlink({path.read_text("utf-8")})varlink";\n')
parts.append(f"\n}}  // namespace {namespace}\n")
pathlib.Path(output).write_text("".join(parts), "utf-8")
