"""lspz between a client and a server: the façade, its client side, and the relay between them."""
