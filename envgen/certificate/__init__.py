"""The certificate: machine-checked facts about one environment, with messages that teach.

``certify(source, hint, sandbox)`` runs the ordered checks of ``CHECKS``; see ``certify``.
"""

from envgen.certificate.certify import certify, certify_sync
from envgen.certificate.code import code_digest
from envgen.certificate.record import CHECKS, Certificate, Check
from envgen.certificate.terms import Terms

__all__ = ["CHECKS", "Certificate", "Check", "Terms", "certify", "certify_sync", "code_digest"]
