"""The command line."""

import argparse
import csv
import datetime
import sys

from . import __version__
from .report import as_html, as_text
from .spans import to_minutes, to_text
from .store import Book


def build_parser():
    parser = argparse.ArgumentParser(prog="hoursbook", description="Note working hours.")
    parser.add_argument("--version", action="version", version=f"hoursbook {__version__}")
    parser.add_argument("--db", default="hours.db")
    commands = parser.add_subparsers(dest="command", required=True)

    add = commands.add_parser("add", help="note an entry")
    add.add_argument("project")
    add.add_argument("span")
    add.add_argument("note", nargs="?", default="")
    add.add_argument("--day", default=datetime.date.today().isoformat())

    show = commands.add_parser("list", help="print the entries")
    show.add_argument("--project")

    sums = commands.add_parser("sum", help="print sums")
    sums.add_argument("--by", choices=["project", "day", "week"], default="project")
    sums.add_argument("--html", metavar="FILE")

    imp = commands.add_parser("import", help="read a CSV file: day,project,span,note")
    imp.add_argument("file")
    return parser


def main(argv=None):
    args = build_parser().parse_args(argv)
    try:
        with Book(args.db) as book:
            return run(args, book)
    except (ValueError, OSError) as error:
        print(f"hoursbook: {error}", file=sys.stderr)
        return 1


def run(args, book):
    if args.command == "add":
        number = book.add(args.day, args.project, to_minutes(args.span), args.note)
        print(f"entry {number} noted")
    elif args.command == "list":
        for number, day, project, minutes, note in book.entries(args.project):
            print(f"{number:>4} {day} {project:<10} {to_text(minutes):>6} {note}".rstrip())
    elif args.command == "sum":
        rows = book.sums(args.by)
        if args.html:
            with open(args.html, "w", encoding="utf-8") as out:
                out.write(as_html(f"Hours by {args.by}", rows))
            print(f"wrote {args.html}")
        else:
            print(as_text(rows))
    elif args.command == "import":
        count = 0
        with open(args.file, newline="", encoding="utf-8") as source:
            for row in csv.DictReader(source):
                book.add(row["day"], row["project"], to_minutes(row["span"]), row["note"])
                count += 1
        print(f"{count} entries read")
    return 0
