"""State modification: sort files into folders by rules, and delete copies but never the last one."""

from envkit import ToolError, ToolUseEnv

KINDS = ("jpg", "txt", "wav")


class AtticFilesEnv(ToolUseEnv):
    """Sort a box of old files and throw away what is there twice."""

    max_turns = 25

    def build(self, rng):
        """Fill the inbox; two of the pictures have a copy under another name."""
        words = rng.sample(("boat", "hill", "rain", "oak", "fair", "snow", "lamp", "pond"), 8)
        kinds = ["jpg", "jpg", "jpg", "txt", "wav", "txt"]
        years = [rng.randint(1987, 1993) for _ in kinds]
        sums = rng.sample(range(16**5), 6)
        files = {
            f"inbox/{word}.{kind}": {"year": year, "sum": f"{number:05x}"}
            for word, kind, year, number in zip(words, kinds, years, sums, strict=False)
        }
        self.pictures = list(files)[:3]
        self.copies = {
            f"inbox/{word}.jpg": original
            for word, original in zip(words[6:], rng.sample(self.pictures, 2), strict=True)
        }
        files |= {copy: dict(files[original]) for copy, original in self.copies.items()}
        self.files = dict(rng.sample(sorted(files.items()), len(files)))
        self.state = {"files": dict(self.files), "folders": ["inbox"]}
        kept = {info["sum"] for info in files.values()}
        self.ask(
            "Some pictures are there twice under two names: same sum, same picture. Delete one of "
            "each such pair, whichever you like.",
            until=lambda s: len(s["files"]) == len(kept),
        )
        self.ask(
            "Now move every picture (jpg) into a folder named by its year, such as 1990. "
            "Leave everything else in the inbox.",
            until=lambda s: all(
                name.startswith("inbox/" if name[-3:] != "jpg" else f"{info['year']}/")
                for name, info in s["files"].items()
            ),
        )
        self.never(lambda s: {info["sum"] for info in s["files"].values()} != kept)

    def tool_list_folder(self, folder: str = "inbox") -> str:
        """List the files of a folder.

        folder: name of the folder
        """
        if folder not in self.state["folders"]:
            raise ToolError(f"no folder {folder}; there are {', '.join(self.state['folders'])}")
        names = [name for name in self.state["files"] if name.startswith(folder + "/")]
        return "\n".join(names) or "empty"

    def tool_inspect(self, paths: list[str]) -> str:
        """Tell year and sum of files; files with equal sums have equal content.

        paths: up to four files, each with its folder, for example inbox/boat.jpg
        """
        if not 0 < len(paths) <= 4:
            raise ToolError("inspect one to four files at a time")
        return "\n".join(
            f"{path}: year {self.file(path)['year']}, sum {self.file(path)['sum']}"
            for path in paths
        )

    def tool_make_folder(self, folder: str) -> str:
        """Make a folder at the top.

        folder: its name
        """
        if not folder.isalnum() or folder in self.state["folders"]:
            raise ToolError("a new folder needs a new name of letters and digits")
        self.state["folders"].append(folder)
        return f"{folder} is there."

    def tool_move(self, path: str, folder: str) -> str:
        """Move a file into a folder that is there.

        path: the file with its folder
        folder: where to
        """
        info = self.file(path)
        if folder not in self.state["folders"]:
            raise ToolError(f"there is no folder {folder}; make it first")
        del self.state["files"][path]
        self.state["files"][f"{folder}/{path.partition('/')[2]}"] = info
        return f"{path} lies in {folder}."

    def tool_delete(self, path: str) -> str:
        """Delete a file for good.

        path: the file with its folder
        """
        self.file(path)
        del self.state["files"][path]
        return f"{path} is gone."

    def file(self, path):
        """Return what is known of a file, or answer that there is none."""
        if path not in self.state["files"]:
            raise ToolError(f"there is no file {path}; see list_folder")
        return self.state["files"][path]

    def solution(self):
        """List, inspect all pictures, delete the copies, make the folders, and move."""
        pictures = [name for name in self.files if name.endswith("jpg")]
        years = {name: str(self.files[name]["year"]) for name in self.pictures}
        return [
            {"name": "list_folder", "arguments": {}},
            {"name": "inspect", "arguments": {"paths": pictures[:4]}},
            {"name": "inspect", "arguments": {"paths": pictures[4:]}},
            *({"name": "delete", "arguments": {"path": copy}} for copy in self.copies),
            *(
                {"name": "make_folder", "arguments": {"folder": year}}
                for year in dict.fromkeys(years.values())
            ),
            *(
                {"name": "move", "arguments": {"path": name, "folder": year}}
                for name, year in years.items()
            ),
        ]
