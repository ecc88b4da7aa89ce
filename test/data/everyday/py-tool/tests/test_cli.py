import contextlib
import io
import os
import tempfile
import unittest

from hoursbook.cli import main


class Cli(unittest.TestCase):
    def call(self, *args):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(["--db", self.db, *args])
        return code, out.getvalue(), err.getvalue()

    def setUp(self):
        self.dir = tempfile.TemporaryDirectory()
        self.db = os.path.join(self.dir.name, "t.db")

    def tearDown(self):
        self.dir.cleanup()

    def test_add_and_sum(self):
        self.assertEqual(self.call("add", "garden", "1h30")[0], 0)
        self.call("add", "garden", "0:20")
        self.assertIn("1h50", self.call("sum")[1])

    def test_bad_span(self):
        code, _, err = self.call("add", "garden", "soon")
        self.assertEqual(code, 1)
        self.assertIn("not a span", err)

    def test_page(self):
        self.call("add", "a<b", "5m")
        page = os.path.join(self.dir.name, "p.html")
        self.call("sum", "--html", page)
        with open(page, encoding="utf-8") as text:
            self.assertIn("a&lt;b", text.read())
