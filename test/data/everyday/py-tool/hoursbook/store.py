"""The SQLite side."""

import sqlite3

SCHEMA = """
CREATE TABLE IF NOT EXISTS entry (
    id INTEGER PRIMARY KEY,
    day TEXT NOT NULL,
    project TEXT NOT NULL,
    minutes INTEGER NOT NULL CHECK (minutes > 0),
    note TEXT NOT NULL DEFAULT ''
);
CREATE INDEX IF NOT EXISTS entry_day ON entry (day);
"""


class Book:
    def __init__(self, path=":memory:"):
        self.db = sqlite3.connect(path)
        self.db.executescript(SCHEMA)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.db.close()

    def add(self, day, project, minutes, note=""):
        with self.db:
            cursor = self.db.execute(
                "INSERT INTO entry (day, project, minutes, note) VALUES (?, ?, ?, ?)",
                (day, project, minutes, note),
            )
        return cursor.lastrowid

    def entries(self, project=None):
        query = "SELECT id, day, project, minutes, note FROM entry"
        values = ()
        if project:
            query += " WHERE project = ?"
            values = (project,)
        return self.db.execute(query + " ORDER BY day, id", values).fetchall()

    def sums(self, by="project"):
        key = {"project": "project", "day": "day", "week": "strftime('%Y-%W', day)"}[by]
        return self.db.execute(
            f"SELECT {key} AS k, SUM(minutes) FROM entry GROUP BY k ORDER BY k"
        ).fetchall()
