"""For authors of coding agents: what goes beyond passing messages on.

Whatever is here works on JSON, paths and lsprotocol's types, with a server behind lspz or with any other.
"""
