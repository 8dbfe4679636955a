"""`judge.py --update`: merge newer stubs into the student's files."""

from __future__ import annotations

from collections.abc import Sequence

from ..handed_in import Unreadable, read_work
from ..source import SourceError
from ..student import Workplace, base_file, create_missing, spare_copy, write_text
from ..update import merge
from .session import Session


def update(session: Session, names: Sequence[str] = ()) -> int:
    """Bring the files of the exercises named (all: none named) up to their stubs; 1 when one could not be."""
    for path in create_missing(session.root):
        print(f"{path}: made from its stub")
    places = {place.exercise.file: place for place in session.places(names)}
    refused = [file for file, place in places.items() if not _update_one(session, place)]
    return 1 if refused else 0


def newer_stubs(session: Session) -> list[str]:
    """The student's files that began as another stub than there is now."""
    places = {place.exercise.file: place for place in session.places()}
    return [file for file, place in places.items() if (base := _base(session, place)) and base != place.stub]


def _update_one(session: Session, place: Workplace) -> bool:
    file = place.exercise.file
    try:
        text, base = read_work(session.root, file) or place.stub, _base(session, place)
        merged = merge(place, text, base)
    except (Unreadable, SourceError) as error:
        print(f"{file}: not updated: {error}")
        return False
    if place.stub == base or merged.text == text:
        print(f"{file}: as new as its stub")
    else:
        path = session.root / file
        backup = spare_copy(path)
        write_text(backup, text)
        write_text(path, merged.text)
        kept = f", with your {', '.join(merged.kept)}" if merged.kept else ""
        print(f"{file}: is now the newer stub{kept}; what you had is in {backup.name} beside it")
        for line in merged.done:
            print(f"    {line}")
    write_text(session.root / base_file(place.exercise), place.stub)
    return True


def _base(session: Session, place: Workplace) -> str | None:
    try:
        return read_work(session.root, base_file(place.exercise))
    except Unreadable:
        return None
