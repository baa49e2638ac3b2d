"""What `scripts/bench_relay` is made of.

`content` is what goes over the wire, `backend` the server that says it, `pump` the least a middle process can do;
`peers` are the ways from client to server, `session` the client on one of them, `measures` what is measured, and
`report` the table with its targets.
"""
