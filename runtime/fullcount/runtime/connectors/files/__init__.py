"""Files and folders below a root: the declaration; what walks and moves is imported when a source is opened.

**What it guarantees.** Folders can't be read at one instant, so they are listed until two lists in a row are equal
(`interval`); the end marker, `every_folder_listed`, is the system's own word for each folder. A folder that can't be
entered, went, changed meanwhile or lies on another device, a link, a name that is no text, a root where nothing is
mounted or whose marker is missing: each makes the read incomplete, or has to be left out by name. `replies.py` says
what is what.

**Acting.** Nothing is removed where it lies. The object is moved to the quarantine folder, looked at again there, and
only then is it done; what had taken its place in the last instant is put back, never over anything. `delete` leaves it
there, from where `put_back` and a restore bring back the very object, or removes it for good, as the configuration
says; `move` moves it on to the archive.

**What it can't.** A rename moves `ctime` on, so a change of rights in the very instant of the move is not noticed. A
file that a program has open lives on in the quarantine folder, and is lost where it is removed for good.
"""

from __future__ import annotations

from fullcount.runtime.connectors.files.declaration import FilesConnector

CONNECTOR = FilesConnector()

__all__ = ["CONNECTOR"]
