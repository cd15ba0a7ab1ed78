"""What a source must be before it is taken for a program."""

import importlib.util

import pytest

from sandbox import EnvironmentFault, check_source

PROGRAM = "class AEnv:\n    pass\n"
FOREIGN = [
    "# coding: unicode_escape\n",
    "#!/usr/bin/env python\n# -*- coding: latin-1 -*-\n",
    "\n \t\x0c# vim: set fileencoding=utf-7 :\n",
    "# a\r# coding=utf_16\n",
    "x = 1\r# coding: rot13\r",
    "# coding: utf8-sig\n",
]


@pytest.mark.parametrize("head", FOREIGN)
def test_a_source_that_names_another_encoding_is_refused_in_one_line(head: str) -> None:
    with pytest.raises(EnvironmentFault, match="encoding") as refused:
        check_source(head + PROGRAM, 1000)
    assert len(str(refused.value).splitlines()) == 1


HEADS = [
    "# coding: utf-8\n",
    "# -*- coding: UTF-8-unix -*-\n",
    "#!python\n# coding=utf8\n",
    "# é\n",
]


@pytest.mark.parametrize("head", [*HEADS, "\n\n# coding: latin-1\n", "# encoding is latin-1\n"])
def test_a_source_that_is_read_as_utf8_by_all_is_taken(head: str) -> None:
    data = check_source(head + PROGRAM, 1000)
    assert importlib.util.decode_source(data) == head + PROGRAM
