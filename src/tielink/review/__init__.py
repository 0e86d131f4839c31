"""Ask a person about the links that matter most, and learn from the answers: `tielink review`.

`queue` says what to ask, `Answer` is what comes back, `Posterior.given` takes it in.
"""

from tielink.data.answers import Answer
from tielink.review.queue import Question, queue, settled_pairs

__all__ = ["Answer", "Question", "queue", "settled_pairs"]
