import unittest

from hoursbook.spans import to_minutes, to_text


class Spans(unittest.TestCase):
    def test_reads_the_usual_ways(self):
        for text, minutes in [("1h30", 90), ("45m", 45), ("2h", 120), ("1:15", 75)]:
            with self.subTest(text):
                self.assertEqual(to_minutes(text), minutes)

    def test_refuses_the_rest(self):
        for text in ["", "soon", "1:75", "h"]:
            with self.subTest(text), self.assertRaises(ValueError):
                to_minutes(text)

    def test_prints(self):
        self.assertEqual(to_text(125), "2h05")
