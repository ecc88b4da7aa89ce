import sqlite3
import unittest

from hoursbook.store import Book


class Store(unittest.TestCase):
    def setUp(self):
        self.book = Book()
        self.book.add("2024-04-01", "garden", 90, "hedge")
        self.book.add("2024-04-02", "house", 30)
        self.book.add("2024-04-09", "garden", 15)

    def tearDown(self):
        self.book.db.close()

    def test_filters_by_project(self):
        self.assertEqual(len(self.book.entries("garden")), 2)
        self.assertEqual(len(self.book.entries()), 3)

    def test_sums(self):
        self.assertEqual(self.book.sums(), [("garden", 105), ("house", 30)])
        self.assertEqual([m for _, m in self.book.sums("week")], [120, 15])

    def test_no_empty_entries(self):
        with self.assertRaises(sqlite3.IntegrityError):
            self.book.add("2024-04-01", "garden", 0)
