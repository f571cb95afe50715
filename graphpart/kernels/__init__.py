"""C-level pieces that several algorithms share. Nothing here knows networkx."""
