#!/usr/bin/env python3
"""Makes the JSON files beside it: samples and what SciPy computes from them.

    python3 -m venv venv && venv/bin/pip install scipy==1.17.1
    venv/bin/python crates/raddle-lab/tests/vectors/make.py

The samples come from a fixed seed. Cliff's delta is taken from the Mann-Whitney U statistic, Cohen's d from
NumPy's variances, and the Scott-Knott test is written here a second time on top of SciPy's chi-square
distribution and one-way sums of squares.
"""

import json
import math
from pathlib import Path

import numpy as np
import scipy
from scipy import stats

rng = np.random.default_rng(20260101)


def sample(n, kind):
    """n values: all different, with ties, or from very few values."""
    if kind == "continuous":
        return np.round(rng.normal(size=n), 4)
    if kind == "ties":
        return rng.integers(0, max(2, n // 2 + 1), size=n).astype(float)
    return rng.integers(0, 2, size=n).astype(float)


def clean(x):
    return [int(v) if v == int(v) else float(v) for v in x]


def number(v):
    v = float(v)
    return None if math.isnan(v) else v


def kendall():
    out = []
    for n in [2, 3, 4, 5, 8, 12, 20, 33, 34, 90]:
        for kind in ["continuous", "ties", "few"]:
            for link in [0.0, 0.8, -0.8]:
                x = sample(n, kind)
                y = np.round(sample(n, kind) + link * x, 4)
                r = stats.kendalltau(x, y)
                out.append({"x": clean(x), "y": clean(y), "tau": number(r.statistic), "p": number(r.pvalue)})
    # Perfect and nearly perfect order at lengths where only the short cuts of the exact test apply.
    for n in [40, 171, 180]:
        for swap in [False, True]:
            for sign in [1.0, -1.0]:
                x = np.arange(n, dtype=float)
                y = sign * x
                if swap:
                    y[[3, 4]] = y[[4, 3]]
                r = stats.kendalltau(x, y)
                out.append({"x": clean(x), "y": clean(y), "tau": number(r.statistic), "p": number(r.pvalue)})
    return out


def wilcoxon():
    out = []
    for n in [1, 2, 3, 5, 8, 10, 13, 14, 25, 49, 50, 51, 80]:
        for kind in ["continuous", "ties", "few"]:
            for shift in [0.0, 0.7, -1.0]:
                x = np.round(sample(n, kind) + shift, 4)
                y = sample(n, kind)
                if not np.any(x - y) and (n == 1 or n > 13):  # SciPy has no answer
                    continue
                r = stats.wilcoxon(x, y)
                out.append({"x": clean(x), "y": clean(y), "statistic": number(r.statistic), "p": number(r.pvalue)})
    # Zeros without ties, and ties without zeros, on both sides of the limits.
    for n in [12, 13, 14, 50, 51]:
        x, y = sample(n, "continuous"), sample(n, "continuous")
        x[:2] = y[:2]
        r = stats.wilcoxon(x, y)
        out.append({"x": clean(x), "y": clean(y), "statistic": number(r.statistic), "p": number(r.pvalue)})
        d = np.concatenate([[1.0, -1.0], np.arange(2, n)])
        r = stats.wilcoxon(d, np.zeros(n))
        out.append({"x": clean(d), "y": [0.0] * n, "statistic": number(r.statistic), "p": number(r.pvalue)})
    return out


def effect():
    out = []
    for n, m in [(2, 1), (3, 5), (10, 10), (30, 20), (45, 45)]:
        for kind in ["continuous", "ties"]:
            for shift in [0.0, 0.5, 3.0]:
                x, y = sample(n, kind) + shift, sample(m, kind)
                u = stats.mannwhitneyu(x, y).statistic
                pooled = ((n - 1) * np.var(x, ddof=1) + (m - 1) * (np.var(y, ddof=1) if m > 1 else 0.0)) / (n + m - 2)
                if pooled == 0:
                    continue
                out.append({
                    "x": clean(x),
                    "y": clean(y),
                    "delta": float(2 * u / (n * m) - 1),
                    "d": float((x.mean() - y.mean()) / math.sqrt(pooled)),
                })
    return out


def scott_knott_groups(samples, alpha, negligible):
    mse = sum(np.var(s) * len(s) for s in samples) / (sum(map(len, samples)) - len(samples))
    v = sum(map(len, samples)) - len(samples)
    s2 = mse * np.mean([1 / len(s) for s in samples])
    splits = []

    def divide(row):
        if len(row) < 2:
            return [row]
        m = np.array([samples[i].mean() for i in row])
        parts = [len(m[:a]) * (m[:a].mean() - m.mean()) ** 2 + len(m[a:]) * (m[a:].mean() - m.mean()) ** 2 for a in range(1, len(m))]
        at = int(np.argmax(parts)) + 1
        sigma = (((m - m.mean()) ** 2).sum() + v * s2) / (len(m) + v)
        lam = math.pi / (2 * (math.pi - 2)) * parts[at - 1] / sigma
        df = len(m) / (math.pi - 2)
        p = stats.chi2.sf(lam, df)
        splits.append({"means": clean(m), "at": at, "lambda": float(lam), "freedom": df, "p": float(p)})
        if lam <= stats.chi2.isf(alpha, df):
            return [row]
        return divide(row[:at]) + divide(row[at:])

    groups = divide(sorted(range(len(samples)), key=lambda i: samples[i].mean()))
    i = 1
    while i < len(groups):
        a = np.concatenate([samples[k] for k in groups[i - 1]])
        b = np.concatenate([samples[k] for k in groups[i]])
        pooled = ((len(a) - 1) * a.var(ddof=1) + (len(b) - 1) * b.var(ddof=1)) / (len(a) + len(b) - 2)
        if abs(a.mean() - b.mean()) / math.sqrt(pooled) < negligible:
            groups[i - 1:i + 1] = [groups[i - 1] + groups[i]]
            i = 1
        else:
            i += 1
    return groups, splits, float(s2), v


def scott_knott():
    out = []
    for k, r, step, noise in [(2, 5, 2.0, 1.0), (5, 10, 0.0, 1.0), (5, 10, 1.0, 1.0), (8, 30, 0.3, 1.0), (3, 600, 0.14, 1.0), (10, 12, 1.2, 1.5)]:
        for uneven in [False, True]:
            samples = [np.round(rng.normal(step * i, noise, size=r + (i % 3 if uneven else 0)), 2) for i in range(k)]
            order = rng.permutation(k)
            samples = [samples[i] for i in order]
            esd, splits, s2, v = scott_knott_groups(samples, 0.05, 0.2)
            plain, _, _, _ = scott_knott_groups(samples, 0.05, 0.0)
            out.append({"samples": [clean(s) for s in samples], "esd": esd, "plain": plain, "splits": splits, "variance": s2, "error_freedom": v})
    return out


for make in [kendall, wilcoxon, effect, scott_knott]:
    made = {"scipy": scipy.__version__, "numpy": np.__version__, "cases": make()}
    text = json.dumps(made, separators=(",", ":")).replace("},{", "},\n{")
    Path(__file__).with_name(make.__name__ + ".json").write_text(text + "\n")
