"""`lspz mcp`: language servers as tools of the Model Context Protocol, on the agent SDK.

A tool is a class of arguments in arguments.py, a function and a row in tools.py. What an agent in Python should have
as well belongs into `agent/`.
"""
