"""A program under construction: what it imports, its statements in order, its result."""

from __future__ import annotations

from humeval_power.interfaces.python_code.expressions import Code, Value, flat, written


class Source:
    """The statements of a program; the last one prints what was assigned to `result`."""

    def __init__(self) -> None:
        self._imports: list[str] = []
        self._lines: list[str] = []

    def imports(self, line: str) -> None:
        """Import something beside the package."""
        if line not in self._imports:
            self._imports.append(line)

    def let(self, name: str, value: Value) -> Code:
        """Assign a value to a name, which stands for it from here on."""
        self._lines.append(f"{name} = {written(value, before=len(name) + 3)}")
        return Code(name)

    def text_of(self, name: str, *lines: str) -> Code:
        """Assign what is written over several lines."""
        self._lines.append(f"{name} = " + "\n".join(lines))
        return Code(name)

    def define(self, name: str, arguments: str, value: Value) -> Code:
        """Define a function that returns a value."""
        body = written(value, indent=4, before=7)
        self._lines.append(f"\n\ndef {name}({arguments}):\n    return {body}\n\n")
        return Code(name)

    def named(self, name: str, value: Value, *, room: int = 40) -> Value:
        """The value itself where it is short, else its name."""
        return value if isinstance(value, Code) or len(flat(value)) <= room else self.let(name, value)

    def text(self) -> str:
        """The program."""
        imports = "".join(f"{line}\n" for line in sorted(self._imports))
        head = f"{imports}\n" if imports else ""
        body = "\n".join(self._lines).replace("\n\n\n\n\n", "\n\n\n")
        return f"{head}import humeval_power as hp\n\n{body.lstrip()}\nprint(result)\n"
