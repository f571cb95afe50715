from graphpart.crf.bounds._prepared import Prepared
from graphpart.stopping import Stopping

class Passing(Prepared):
    def half(self, forward: bool, cost: float, stopping: Stopping) -> tuple[float, bool]: ...
