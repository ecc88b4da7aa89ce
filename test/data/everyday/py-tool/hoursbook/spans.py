"""Reading and printing spans of time, kept as whole minutes."""

import re

_PATTERN = re.compile(r"^(?:(\d+)h)?\s*(?:(\d{1,2})m?)?$")


def to_minutes(text):
    """'1h30', '45m', '2h' or '1:15' as minutes."""
    text = text.strip().lower()
    if ":" in text:
        hours, _, minutes = text.partition(":")
        if not (hours.isdigit() and minutes.isdigit() and int(minutes) < 60):
            raise ValueError(f"not a span: {text!r}")
        return int(hours) * 60 + int(minutes)
    match = _PATTERN.match(text)
    if not match or not (match.group(1) or match.group(2)):
        raise ValueError(f"not a span: {text!r}")
    return int(match.group(1) or 0) * 60 + int(match.group(2) or 0)


def to_text(minutes):
    """Minutes as '2h05'."""
    return f"{minutes // 60}h{minutes % 60:02d}"
