"""Several servers that a client takes for one.

Most requests go to the first server that has the capability; those whose answers are lists that add up go to all of
them (`answers`). Diagnostics are merged by document and version (`publishing`). What servers choose independently of
each other, ids and tokens, is kept apart (`naming`).
"""
