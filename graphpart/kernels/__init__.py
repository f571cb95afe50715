"""C-level pieces that several algorithms share, and elementary functions. Nothing here knows networkx."""
