"""Tables as text and as a small page."""

from html import escape

from .spans import to_text


def as_text(rows):
    if not rows:
        return "(nothing yet)"
    width = max(len(str(key)) for key, _ in rows)
    lines = [f"{key:<{width}}  {to_text(minutes):>7}" for key, minutes in rows]
    lines.append(f"{'total':<{width}}  {to_text(sum(m for _, m in rows)):>7}")
    return "\n".join(lines)


def as_html(title, rows):
    body = "".join(
        f"<tr><td>{escape(str(key))}</td><td>{to_text(minutes)}</td></tr>\n"
        for key, minutes in rows
    )
    return (
        f"<!doctype html>\n<title>{escape(title)}</title>\n"
        f"<h1>{escape(title)}</h1>\n<table>\n{body}</table>\n"
    )
