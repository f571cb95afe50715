"""Check labels and a certificate against an instance.

The exit status is 0 only if the labels are feasible, their cost is as the certificate states, and the certificate
proves its lower bound for this instance (by multipliers of inequalities for a set partition problem, by messages for a
factor graph). The bound is recomputed with directed rounding, or with --exact in rational numbers. A certificate that a
result is optimal is always checked without rounding: with NumPy, or with --exact by the one file graphpart/check.py,
which runs alone, too. For a CSV table, give the same options for columns as to graphpart solve.
"""

from __future__ import annotations

import argparse
import math

from graphpart.cli import arguments, demands
from graphpart.cli.console import emit_json, say
from graphpart.cli.display import Table, percent
from graphpart.cli.files import read_certificate, read_labels, read_problem
from graphpart.cli.kinds import columns, evaluate, rounding
from graphpart.display.progress import Progress
from graphpart.errors import InvalidCertificate

NAME = "verify"
HELP = "check labels and the certificate of a lower bound against an instance"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of this command."""
    parser.add_argument("file", metavar="FILE", help="an instance, '-' for standard input")
    parser.add_argument("labels", metavar="LABELS", help="a labels file, '-' for standard input")
    parser.add_argument("certificate", metavar="CERTIFICATE", help="a certificate, .json or .npz")
    parser.add_argument("--exact", action="store_true", help="recompute the bound in rational numbers, in plain Python")
    arguments.add_format(parser, "--format", "of the instance")
    arguments.add_json(parser)
    arguments.add_missing(parser)
    demands.add_arguments(parser)
    arguments.add_columns(parser)


def run(args: argparse.Namespace) -> int:
    """Verify both."""
    from graphpart.common.proof_tree import ProofTree

    arguments.check_one_input(args.file, args.labels, args.certificate)
    problem = read_problem(args.file, args.format, arguments.columns_of(args), args.missing, demands.wanted(args))
    labels = read_labels(args.labels, problem)
    facts = evaluate(args.file, problem, labels)
    certificate = read_certificate(args.certificate, problem)
    checked = None
    with Progress(1) as progress:
        progress.start(f"verifying {args.certificate}")
        if isinstance(certificate, ProofTree):
            report = certificate.report(problem, problem.labels(labels).tolist(), args.exact)
            checked = report.text(problem.sense, problem.offset)
        else:
            certificate.check(problem, exact=args.exact)
    cost, bound = facts["cost"], certificate.bound
    if certificate.cost is not None and not math.isclose(cost, certificate.cost, rel_tol=1e-12):
        raise InvalidCertificate(f"the labels cost {cost!r}: expected {certificate.cost!r}, as the certificate states")
    if bound > cost + rounding(problem):
        raise InvalidCertificate(f"the labels cost {cost!r}, less than the lower bound {bound!r}")
    difference = max(0.0, cost - bound)
    gap = 0.0 if not difference else difference / abs(cost) if cost else math.inf
    facts |= {"method": certificate.method, "lower_bound": bound, "gap": gap, "message": "verified"}
    facts |= {"checked": checked} if checked else {}
    facts |= {"status": "optimal"} if not difference else {}
    if args.json:
        emit_json(facts)
        return 0
    shown = columns(problem, ["cost.", "lower_bound.", "gap", "clusters", "verified:"])
    with Table([args.file], shown) as table:
        table.add(args.file, facts | {"gap": percent(gap), "verified": "yes"})
    if checked:
        say(checked)
    return 0
