// Owns asking whether a database has a table: homes of every age are forgotten in. Reads only.
import type { Database } from '#base/database/connection.ts';

export function hasTable(database: Database, name: string): boolean {
  return database.get("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?", name) !== undefined;
}
