"""From records, embeddings and other labelings to clusters: one call each.

`match` compares records by splink and partitions them; `near_duplicates` groups vectors or MinHash signatures;
`consensus` makes one partition of several; `link_detections` makes tracks. `results` has what they return. All of them
make a `SetPartition` and solve it; nothing of the package calls them but the command line.
"""

from graphpart.records.duplicates import near_duplicates
from graphpart.records.labelings import consensus
from graphpart.records.matching import match
from graphpart.records.results import Consensus, Matches, NearDuplicates
from graphpart.records.tracks import link_detections

__all__ = ["Consensus", "Matches", "NearDuplicates", "consensus", "link_detections", "match", "near_duplicates"]


def __dir__() -> list[str]:
    return sorted(__all__)
