"""The console and the JSON interface: pages and routes over the service. Nothing here opens rows."""
