"""A very small linter: parses every file and looks at names and line lengths."""

import ast
import pathlib
import sys


def problems(path):
    text = path.read_text(encoding="utf-8")
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > 100:
            yield number, "line longer than 100"
        if line != line.rstrip():
            yield number, "blanks at the end"
    tree = ast.parse(text, str(path))
    names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
    names |= {n.value.id for n in ast.walk(tree)
              if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                name = (alias.asname or alias.name).split(".")[0]
                if name not in names:
                    yield node.lineno, f"{name} is imported and not used"


def main(folders):
    count = 0
    for folder in folders:
        for path in sorted(pathlib.Path(folder).rglob("*.py")):
            for number, message in problems(path):
                print(f"{path}:{number}: {message}")
                count += 1
    print(f"lint: {count} problem(s)")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or ["hoursbook", "tests", "tools"]))
