"""Segment a picture or a volume: from boundary probabilities to labels.

FILE is a zarr array, a npy file, or a picture or stack of pictures that ends in .tif, .png or .jpg. It holds the
probability of a boundary, from 0 to 1; integers of 8 or 16 bits are divided by 255 or 65535. A photograph in colour
becomes a boundary map first, and so does a picture in grey with --image. Labels from 1 on are written by -o, as .zarr
(OME-Zarr with coarser scales), .npy, .tif or .png; 0 is no segment. --table writes sizes, boxes and neighbours of the
segments. --answers names a table left,right,answer whose elements are numbers of regions, from 0, or places such as
"(12, 30)": row and column, or plane, row and column. --questions writes such a table, to be answered and read again;
--review writes a page with pictures that does the same.

With --workers, --blocks or --work-folder, a zarr array or npy file is processed block by block, by processes of limited
memory. With --work-folder, a run that ended early is continued.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from graphpart.cli import arguments, demands
from graphpart.cli.console import emit, emit_json
from graphpart.errors import InvalidOption
from graphpart.files.tables import write_table

NAME = "segment"
HELP = "segment a picture or a volume"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of this command."""
    parser.add_argument("file", metavar="FILE", help="boundary probabilities, or a photograph")
    parser.add_argument("-o", "--output", metavar="PATH", required=True, help="labels: .zarr, .npy, .tif or .png")
    parser.add_argument("--table", metavar="PATH", help="write sizes, boxes and neighbours of the segments, as CSV")
    parser.add_argument("--image", action="store_true", help="FILE is a picture or volume, not a boundary map")
    parser.add_argument("--regions", metavar="PATH", help="regions that are not divided; 0 is none")
    parser.add_argument("--mask", metavar="PATH", help="0 where there is nothing to segment")
    parser.add_argument(
        "--threshold", type=float, default=0.5, metavar="VALUE",
        help="the boundary probability from which on regions are kept apart; default: 0.5",
    )  # fmt: skip
    parser.add_argument("--spacing", type=numbers, metavar="Z,Y,X", help="the size of a voxel along each axis")
    demands.add_arguments(parser, "answers", "error")
    parser.add_argument("--questions", metavar="PATH", help="write pairs of places about which to ask people, as CSV")
    parser.add_argument("--review", metavar="PATH", help="write a page on which people answer 100 questions, as HTML")
    arguments.add_limits(parser)
    group = parser.add_argument_group("volumes larger than memory")
    group.add_argument("--workers", type=arguments.whole, metavar="INTEGER", help="processes; 0: this one does it all")
    group.add_argument("--memory-limit", metavar="SIZE", help="of each worker, like 3GB, which is the default")
    group.add_argument("--blocks", type=numbers, metavar="Z,Y,X", help="voxels of a block along each axis")
    group.add_argument("--work-folder", metavar="PATH", help="for what is done so far; to continue a run")
    arguments.add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Segment, and write the labels."""
    from graphpart.images.files import check_output, is_zarr, read_array
    from graphpart.images.photographs import map_of

    check_output(args.output)
    by_block = {
        "workers": args.workers,
        "memory_limit": args.memory_limit,
        "blocks": None if args.blocks is None else [int(x) for x in args.blocks],
        "work_folder": args.work_folder,
    }
    given = {name: value for name, value in by_block.items() if value is not None}
    options: dict[str, Any] = {"threshold": args.threshold, "spacing": args.spacing, "time_limit": args.time_limit}
    said = demands.wanted(args, "answers", "error")
    if given:
        from graphpart.images import segment_blocks

        for flag, value in (
            ("--answers", args.answers),
            ("--questions", args.questions),
            ("--review", args.review),
            ("--regions", args.regions),
            ("--image", args.image),
            ("--seed", args.seed),
        ):
            if value:
                other = "--" + next(iter(given)).replace("_", "-")
                raise InvalidOption(f"{flag} is given with {other}: expected one of them")
        stored = is_zarr(args.file) or args.file.endswith(".npy")
        source = args.file if stored else map_of(read_array(args.file), args.file)
        if not (args.output.endswith((".zarr", ".npy"))):
            raise InvalidOption(f"{args.output}: blocks are written to an array that ends in .zarr or .npy")
        mask = args.mask
        if mask is not None and not (is_zarr(mask) or mask.endswith(".npy")):
            mask = read_array(mask) > 0
        s = segment_blocks(source, mask=mask, output=args.output, **options, **given)
        facts: dict[str, Any] = {
            "regions": s.n_regions,
            "segments": s.n_segments,
            "cost": s.cost,
            "lower_bound": s.lower_bound,
        }
        facts |= {"seconds": s.seconds}
        done: Any = s
    else:
        from graphpart.images import segment
        from graphpart.images.files import write_labels

        picture = read_array(args.file)
        shown: Any = {"image": picture} if args.image else {"boundary": map_of(picture, args.file)}
        regions = None if args.regions is None else read_array(args.regions)
        mask = None if args.mask is None else read_array(args.mask) > 0
        if said:
            options |= {"answers": demands.answers_in(said["answers"]), "error": said.get("error", 0.0)}
        found = segment(**shown, regions=regions, mask=mask, seed=args.seed, **options)
        write_labels(found.labels, args.output, args.spacing)
        done = found
        _ask(found, args.questions, args.review, options.get("answers"))
        r = found.result
        facts = {"regions": found.graph.n, "segments": found.n_segments, "cost": r.cost, "lower_bound": r.lower_bound}
        facts |= {"status": str(r.status), "seconds": r.seconds}
    if args.table is not None:
        write_table(done._table, args.table)
    if args.json:
        emit_json({"file": args.file, "output": args.output, **facts})
    else:
        for name, value in facts.items():
            emit(f"{name.replace('_', ' '):<12}{f'{value:.6g}' if isinstance(value, float) else value}\n", flush=False)
    return 0


def _ask(found: Any, table: str | None, page: str | None, answers: Any) -> None:
    """Write questions about segments: as a table whose elements are places, and as a page."""
    from graphpart.answers import questions
    from graphpart.reviewing import review

    if table is not None:
        asked = questions(found, found.result, 100, answers=answers, library="dict")
        places = {side: np.array([str(x) for x in asked[f"{side}_place"]], object) for side in ("left", "right")}
        rest = {name: asked[name] for name in ("decision", "chance", "gain")}
        write_table({**places, **rest, "answer": np.full(len(rest["gain"]), "", object)}, table)
    if page is not None:
        review(found, found.result, page, answers=answers)


def numbers(text: str) -> tuple[float, ...]:
    """Numbers separated by commas."""
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}: expected numbers separated by commas") from None
