"""``python -m graphpart`` is the same as ``graphpart``."""

from graphpart.cli import main

raise SystemExit(main())
