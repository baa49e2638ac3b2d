"""The base protocol without I/O: bytes become frames (`framing`), bodies become envelopes (`messages`)."""
