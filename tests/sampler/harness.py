"""Frequencies of matchings in a chain, held against exact probabilities."""

import numpy as np
from scipy.stats import f as f_distribution


def codes_of(matchings, n2):
    out = []
    for partner in matchings:
        code = 0
        for q in partner:
            code = code * (n2 + 1) + q + 1
        out.append(code)
    return np.array(out)


def batch_test(codes, all_codes, probability, batches=300, rare=0.004):
    """
    Hotelling's test of batch frequencies against the exact probabilities; returns (p value, total variation).

    Batches much longer than the chain's correlation are near-independent, so no effective sample size is guessed.
    Rare matchings are pooled.
    """
    common = all_codes[probability >= rare]
    p = probability[probability >= rare]
    length = codes.size // batches
    frequency = np.stack(
        [(codes[: batches * length].reshape(batches, length) == c).mean(axis=1) for c in common], axis=1
    )
    assert np.isin(codes, all_codes[probability > 0]).all()
    total_variation = 0.5 * np.abs([(codes == c).mean() - q for c, q in zip(all_codes, probability, strict=True)]).sum()
    if 1.0 - p.sum() < 1e-9:
        frequency, p = frequency[:, :-1], p[:-1]
    d = p.size
    difference = frequency.mean(axis=0) - p
    t2 = batches * difference @ np.linalg.solve(np.cov(frequency.T), difference)
    return float(f_distribution.sf(t2 * (batches - d) / (d * (batches - 1)), d, batches - d)), float(total_variation)
