"""The corpus that grounds briefs: documents of ours, or the user's own."""

from envgen.corpus.config import CorpusConfig
from envgen.corpus.corpus import Corpus, Document, read
from envgen.corpus.keywords import keywords

__all__ = ["Corpus", "CorpusConfig", "Document", "keywords", "read"]
