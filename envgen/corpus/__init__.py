"""The corpus that grounds briefs: documents of ours, or the user's own."""

from envgen.corpus.config import CorpusConfig
from envgen.corpus.corpus import Corpus, Shelf, builtin
from envgen.corpus.document import Document, cut
from envgen.corpus.hub import Stream
from envgen.corpus.keywords import keywords
from envgen.corpus.local import Files

__all__ = [
    "Corpus",
    "CorpusConfig",
    "Document",
    "Files",
    "Shelf",
    "Stream",
    "builtin",
    "cut",
    "keywords",
]
