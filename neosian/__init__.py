"""neosian: a memory wiki for coding agents, kept in plain files under git.

For a Python program: ``from neosian import FileStore, home, project_scope``. They are loaded when first asked for,
since every hook imports this module.
"""

from __future__ import annotations

__version__ = "0.1.0"
__all__ = ["FileStore", "__version__", "home", "project_scope"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from neosian.filestore import FileStore, home, project_scope


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'neosian' has no attribute {name!r}")
    from neosian import filestore

    return getattr(filestore, name)
