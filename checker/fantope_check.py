#!/usr/bin/env python3
"""Check a certificate of fantope without fantope: python fantope_check.py OUT [DATA] [--exact].

The problem is max ⟨S, X⟩ − Ω(X) over 0 ⪯ X ⪯ I, tr X = d, with Ω(X) = Σ w_ij|X_ij|. OUT holds X = Σ ω_a v_a v_aᵀ and a
symmetric U with ⟨U, X⟩ ≤ Ω(X) for all X: |U_ij| ≤ w_ij. With M = S − U, for all τ and P ⪰ 0 with τI + P − M ⪰ 0,
    ⟨S, X⟩ − Ω(X)  ≤  optimum  ≤  φ_d(M), the sum of the d largest eigenvalues  ≤  dτ + tr P.
τI + P − M ⪰ 0 is shown by any L with a small residual τI + P − M − LLᵀ: how eigenvalues and L were found is of no
consequence. A sum of k products errs by at most ku/(1 − ku) of their magnitudes, in any order; all such errors are
counted against the claim. --exact does without them, in rational numbers. See docs/trust.md and docs/certificate.md.
Exit code 0: all that is claimed holds. 1: something does not. 2: the certificate or its data cannot be read."""
import gzip, hashlib, importlib, itertools, json, math, sys
from fractions import Fraction
from pathlib import Path
import numpy as np

UNIT, BITS, STRIP, LARGEST, LARGEST_EXACT = 2.0**-53, 200, 512, 20_000, 150
MISSING = ",na,n/a,#n/a,#na,#n/a n/a,nan,-nan,null,none,<na>,1.#ind,-1.#ind,1.#qnan,-1.#qnan".split(",")
WORDS = {**dict.fromkeys(MISSING, math.nan), "true": 1.0, "false": 0.0}
SAID = ("folder", "objective", "dual_bound", "gap", "status", "alpha", "n_components", "tol")  # in both records
KINDS = ("l1", "weighted-l1", "l1+squared-lr", "smooth", "non-negative", "group", "trend")
fractions, whole, outer = np.frompyfunc(Fraction, 1, 1), np.frompyfunc(math.floor, 1, 1), np.multiply.outer
others = lambda: importlib.import_module("fantope_others")  # penalties of other kinds
sha256 = lambda path: hashlib.sha256(path.read_bytes()).hexdigest()
# ‖x‖²_q, rounded upwards by far more than powers and a sum of so many terms lose
power = lambda x, q: float((np.abs(x).astype(float) ** q).sum()) ** (2.0 / q) * (1.0 + 1e-11)
class Refused(Exception): """Something that is claimed does not hold (code 1), or cannot be checked (code 2)."""
def require(holds, problem, code=1):
    if not holds: raise Refused(problem, code)
def read_numbers(path, about):
    """Return the numbers that S comes from, arranged as the certificate says."""
    layout, n, p, name = about["layout"] or {}, about["n_samples"], about["n_variables"], path.name.lower()
    readable = path.is_file() and name.endswith((".npy", ".csv", ".tsv", ".csv.gz", ".tsv.gz"))
    require(readable, f"{path} is no .npy, .csv or .tsv file; give the data, as one, as the second argument", 2)
    require(about["sha256"] in (None, sha256(path)), f"{path} is not the file that was used: its checksum differs")
    if name.endswith(".npy"): A = np.load(path, mmap_mode="r", allow_pickle=False)
    else:
        number = lambda t: WORDS[t] if (t := t.strip().lower()) in WORDS else float(t.replace(layout["decimal"], "."))
        with (gzip.open if name.endswith(".gz") else open)(path, "rt", encoding="utf-8-sig") as lines:
            lines = (line for line in itertools.islice(lines, layout["skip"], None) if line.strip())
            A = np.loadtxt(lines, converters=number, delimiter=layout["separator"], comments=None, quotechar='"',
                           usecols=range(layout["row_names"], layout["width"]), ndmin=2, encoding=None)
    A = np.array((A.T if layout.get("transpose") else A)[:, layout.get("columns") or ...], dtype=np.float64, order="F")
    if layout.get("impute") == "mean": A = np.where(np.isnan(A), np.nanmean(A, axis=0), A)
    require([*A.shape, about["divisor"]] == [n, p, n] and np.isfinite(A).all(), f"{path} is not {n} × {p} numbers")
    return A
class Matrix:
    """S by blocks; a computed entry is within error·σ_iσ_j of the true one, σ_i² = |S_ii|."""
    def __init__(self, A, kind, center):
        self.raw, self.kind, self.center, self.size, given = A, kind, center, A.shape[1], kind == "precomputed"
        for _ in range(2 if center and not given else 0):
            A = A - A.mean(axis=0)  # the second mean is one of numbers near zero, and leaves u² of the variance
        if kind == "correlation":  # scaled by powers of two, so that no square over- or underflows
            A = np.ldexp(A, -np.frexp(np.abs(A).max(axis=0))[1])
            A = A / np.linalg.norm(A, axis=0)
        self.A = 0.5 * (A + A.T) if given else A / math.sqrt(len(A)) if kind == "covariance" else A
        self.diagonal = self.A.diagonal() if given else (self.A**2).sum(axis=0) ** (kind == "covariance")
        self.error, self.sigma = 0.0 if given else (2 * len(A) + 32) * UNIT, np.sqrt(np.abs(self.diagonal))
        good = np.isfinite(self.A).all() and (1e-140 if not given else -1.0) < np.abs(self.A).max() < 1e140
        require(good, "S is not to be had in double precision: a variable is constant, or numbers overflow", 2)
    def block(self, rows, cols):
        S = self.A[np.ix_(rows, cols)] if self.kind == "precomputed" else self.A[:, rows].T @ self.A[:, cols]
        return np.where(rows[:, None] == cols, self.diagonal[rows][:, None], S)
    def exact(self, rows):
        """Return S[rows][:, rows] in fractions; correlations to 2^-BITS."""
        if self.kind == "precomputed": return fractions(self.A[np.ix_(rows, rows)])
        Z = fractions(self.raw[:, rows])
        Z = Z - Z.sum(axis=0) / len(Z) if self.center else Z
        scale = np.array([math.lcm(*(x.denominator for x in column)) for column in Z.T], dtype=object)
        Z = whole(Z * scale)  # whole numbers are multiplied faster
        S = Z.T @ Z
        if self.kind == "covariance": return np.frompyfunc(Fraction, 2, 1)(S, outer(scale, scale) * len(Z))
        root = np.frompyfunc(lambda s, v: (1 if s > 0 else -1) * math.isqrt((s * s << 2 * BITS) // v), 2, 1)
        return fractions(root(S, outer(S.diagonal(), S.diagonal()))) / (1 << BITS)
class Dual:
    """Ω by its weights; U inside the parts that the labels name: stored, or S_ij clipped to ±w_ij, and U_ii = w_ii.
    Between parts U_ij = S_ij. Online-P's Ω has κ‖X‖²_r more, κ = 1/(2√t): any U will do, at ‖U − clip(U)‖²_q/(4κ)."""
    def __init__(self, stored, penalty, p):
        self.alpha, self.labels, kept, kind = penalty["alpha"], stored["labels"], stored["kept"], penalty["kind"]
        require(kind in KINDS, f"the penalty {kind!r} is not known here", 2)
        self.kind, self.more, self.off, self.free = kind, None, 0.0, "squared" in kind
        self.W, (self.own, self.col, self.row) = np.zeros((1, 1)), np.full((3, p), -1)
        if kind == "weighted-l1":
            self.W, self.own[stored["weighted"]] = stored["weights"], np.arange(len(stored["weights"]))
            self.W = np.multiply(self.alpha, self.W, out=self.W.copy(), where=np.isfinite(self.W))
        self.kappa, self.q = (0.5 / math.sqrt(penalty["t"]), penalty["q"]) if self.free else (0.0, 2.0)
        proper = 0 <= self.alpha < np.inf and (self.W >= 0).all() and np.array_equal(self.W, self.W.T) and self.q >= 2
        require(len(self.labels) == p and stored["alpha"] == self.alpha and proper, "U and the penalty do not fit")
        if kind in KINDS[4:]:  # U is stored whole, by its parts
            more, kept, self.labels = others().Coupled(stored, kind, self.alpha, p), np.arange(p), np.zeros(p, int)
            require(more.inside, "U leaves the dual set of the penalty, or is no number")
            self.more, self.W, self.own, self.off, stored = more, more.W, kept, more.off, dict(rows=more.U, active=kept)
        self.row[kept[stored["active"]] if "rows" in stored else kept] = np.arange(len(stored.get("rows", kept)))
        self.U = stored["rows"] if "rows" in stored else np.zeros((len(kept), len(kept)))
        self.col[:], self.col[kept], self.col[kept[stored.get("columns", ...)]] = -2, -1, np.arange(self.U.shape[1])
        if "half" in stored:  # the upper half, row by row
            self.U[np.triu_indices(len(kept))] = stored["half"]
            self.U += np.triu(self.U, 1).T
    def weights(self, rows, cols):
        w, r, c = np.full((len(rows), len(cols)), self.alpha), self.own[rows], self.own[cols]
        w[np.ix_(r >= 0, c >= 0)] = self.W[np.ix_(r[r >= 0], c[c >= 0])]
        return w
    def point(self, S, rows, cols):
        """Return U and M = S − U on rows and columns of one part."""
        block, w = S.block(rows, cols), self.weights(rows, cols)
        r, a, c, b = self.col[rows], self.row[rows], self.col[cols], self.row[cols]
        require(min(r.min(), c.min()) > -2, "U does not know all variables of a part")
        one, other, U = outer(a >= 0, c >= 0), outer(r >= 0, b >= 0), np.clip(block, -w, w)
        if len(self.U):
            x, y = self.U[a][:, c], self.U[b][:, r].T
            require((np.abs(x - y) <= 1e-8 * max(self.alpha, np.abs(U).max()))[one & other].all(), "U is not symmetric")
            U = np.where(one | other, (np.where(one, x, 0.0) + np.where(other, y, 0.0)) / (1.0 + (one & other)), U)
        if not (self.free or self.more):
            U = np.where(rows[:, None] == cols, w, U)
            require((np.abs(U) <= w * (1 + 8 * UNIT)).all(), "U leaves the box |U_ij| ≤ w_ij, or is no number")
            U = np.clip(U, -w, w)
        return U, block - U
def lower_bound(S, dual, X, d, exact):
    """Return what (1 − t)sX + tI, on the r rows in use, reaches at least, X moved into the Fantope, and its terms."""
    rows, number, u = X["rows"], fractions if exact else np.float64, 0 if exact else UNIT
    V, omega, w = number(X["vectors"]), number(X["weights"]), dual.weights(rows, rows)
    allowed, r, k = np.isfinite(w), len(rows), len(omega)
    good = V.shape == (k, r) and k and (omega >= 0).all() and (np.diff(rows) > 0).all() and rows[0] >= 0
    require(good and allowed.diagonal().all(), "X is not Σ ω_a v_a v_aᵀ, ω ≥ 0, on variables that may be used")
    A, w, G = S.exact(rows) if exact else S.block(rows, rows), number(np.where(allowed, w, 0.0)), V @ V.T
    off = abs(G - np.eye(k, dtype=int)).sum(axis=1).max() + 4 * k * (r + 2) * u
    T, mu, x = (omega * G.diagonal()).sum(), omega.max() * (1 + off), (V.T * omega) @ V
    size, signed = (abs(V).T * omega) @ abs(V), dual.kind == "non-negative"  # rounding may hide an entry below zero
    allowed = allowed & ((x >= 0) | (not signed))
    margin = number(outer(S.sigma[rows], S.sigma[rows])) * (Fraction(2, 1 << BITS) if exact else S.error)
    margin = margin + 2 * (2 * r + k + 16) * u * (abs(A) + w)
    cost = lambda x: dual.more.cost(x, rows) if dual.more else (w * abs(x)).sum(axis=1).sum()
    f = (A * x * allowed).sum(axis=1).sum() - cost(x * allowed) - (margin * size).sum()
    e = 2 * math.sqrt(((x * ~allowed) ** 2).sum()) + 2 * signed * (k + 4) * u * r * float(size.max())
    centre = (A.diagonal() - margin.diagonal()).sum() - cost(number(np.eye(r)))
    near = abs(T - d) <= 1e-9 * d and mu <= 1 + 1e-9 * d and e <= 1e-9
    require(near, f"X is not in the Fantope: its trace is {float(T):.12g}, its norm {float(mu):.12g}")
    if dual.free:
        f, centre = (float(y) - dual.kappa * power(z, dual.q / (dual.q - 1)) for y, z in ((f, x), (centre, np.eye(r))))
    s, own = min(1, 1 / (mu + e), d / (T + e * r)), abs(number(getattr(S, "given", S).diagonal[rows]))
    t = (d - s * T) / (r - s * T) if d > s * T else 0
    terms = float(x.diagonal() @ np.maximum(own, 0 * T if dual.more else w.diagonal()))  # whose difference f is
    return float((1 - t) * s * f + t * centre) - 16 * UNIT * float(abs(f) + t * abs(centre)), terms
def leading(M, count, start):
    """Return about ``count`` leading eigenpairs of M, vectors as rows: a guess by which nothing is proved."""
    Q = np.linalg.qr(np.vstack([start, 1e-3 * np.random.default_rng(0).standard_normal((count + 5, len(M)))]).T)[0]
    for _ in range(25 if len(M) > 600 else 1):  # of few variables all are found
        K = np.linalg.qr(np.hstack([Q, M @ Q, M @ (M @ Q)]))[0] if len(M) > 600 else np.eye(len(M))
        values, C = np.linalg.eigh(K.T @ (M @ K))
        Q = K @ C[:, ::-1][:, : count + 5]
    return values[::-1][:count], Q.T[:count]
def exact_shortfall(S, dual, rows, level, g, V):
    """Return 0 if level·I + Σ g_a v_a v_aᵀ − M ≻ 0 on ``rows``, by the pivots of LDLᵀ in whole numbers; else None."""
    U, one, last = np.triu(dual.point(S, rows, rows)[0]), np.eye(len(rows), dtype=int), 1
    unit = Fraction(2) ** (BITS - math.frexp(np.abs(S.block(rows, rows)).max())[1])
    A = (fractions(V).T * fractions(g)) @ fractions(V) + fractions(U + np.triu(U, 1).T) - S.exact(rows)
    A = whole((A + Fraction(level) * one) * unit) - 4 * len(rows) * one
    for k in range(len(rows)):
        if A[k, k] <= 0: return None
        A[k + 1 :, k + 1 :] = (A[k + 1 :, k + 1 :] * A[k, k] - outer(A[k + 1 :, k], A[k + 1 :, k])) // last
        last = A[k, k]
    return 0.0
def shortfall(S, dual, rows, level, g, V):
    """Return δ with (level + δ)I + Σ g_a v_a v_aᵀ − M ⪰ 0 on ``rows``, by a factor and its residual; or None."""
    m, A, size, worst = len(rows), np.empty((len(rows), len(rows))), 0.0, 0.0
    for i in range(0, m, STRIP):
        M = dual.point(S, rows[i : i + STRIP], rows)[1]
        size, A[i : i + STRIP] = np.maximum(size, np.abs(M).sum(axis=1).max()), (V.T[i : i + STRIP] * g) @ V - M
    A.flat[:: m + 1] += level
    try: L = np.linalg.cholesky(A)
    except np.linalg.LinAlgError: return None
    for i in range(0, m, STRIP):
        worst = np.maximum(worst, np.abs(A[i : i + STRIP] - L[i : i + STRIP] @ L.T).sum(axis=1).max())
    size += abs(level) + (g * (V**2).sum(axis=1)).sum()
    return 2 * (worst + (m + 4) * UNIT * (L**2).sum() + (len(g) + 8) * UNIT * size)
def upper_bound(S, dual, X, d, claim, exact):
    """Return dτ + tr P for a τ a little above the d-th eigenvalue of M and P for the larger ones, part by part."""
    limits = np.where(dual.own < 0, dual.alpha, dual.W.diagonal()[dual.own])
    every, parts, start = np.flatnonzero(limits < np.inf), [], np.zeros((len(X["vectors"]), S.size))
    labels, start[:, X["rows"]], most = dual.labels[every], X["vectors"], (LARGEST, LARGEST_EXACT)[exact]
    sizes = np.bincount(labels)
    require(max(sizes) <= most, f"a part has more than {most} variables; fantope verify has no such limit", 2)
    for i in range(0, len(every), STRIP):
        rows, rounding = every[i : i + STRIP], S.error * outer(S.sigma[every[i : i + STRIP]], S.sigma[every])
        small = np.abs(S.block(rows, every)) <= dual.weights(rows, every) + (-1 if exact else 2) * rounding
        small |= labels[i : i + STRIP][:, None] == labels
        require(small.all(), "S exceeds the penalty, or is too near it, between parts of U", 2 if exact else 1)
    for label in np.flatnonzero(sizes > 1):
        rows = every[labels == label]
        M = np.vstack([dual.point(S, rows[i : i + STRIP], rows)[1] for i in range(0, len(rows), STRIP)])
        parts.append((rows, *leading(M, d, start[:, rows])))
    alone = (S.diagonal * (1 + S.error) - limits)[every[sizes[labels] == 1]]
    values = np.sort(np.concatenate([alone, *(theta for _, theta, _ in parts)]))[::-1][:d]
    tau, off = values[-1], dual.off + (0.0 if exact else 4 * S.error * (S.sigma[every] ** 2).sum())
    U = dual.point(S, every, every)[0] if dual.free else np.zeros(1)
    cost = power(U - np.clip(U, -dual.alpha, dual.alpha), dual.q) / (4 * dual.kappa) if dual.free else 0.0
    eta = max(1e-15 * max(sizes) * np.abs(values).max(), (claim - cost - values.sum()) / (4 * d) - off)
    for show in 20 * [exact_shortfall if exact else shortfall]:
        found = [show(S, dual, rows, tau + eta, np.maximum(theta - tau, 0.0), V) for rows, theta, V in parts]
        if None not in found: break
        eta *= 4
    require(None not in found, "no bound can be shown")
    terms = [cost, d * (tau + eta + np.max([0.0, *found]) + off), np.maximum(alone - tau, 0.0).sum()]
    terms += [(np.maximum(theta - tau, 0.0) * (V**2).sum(axis=1)).sum() for _, theta, V in parts]
    return float(sum(terms) + 4 * (S.size + d) * UNIT * np.abs(terms).sum())
def check(out, data=None, exact=False):
    """Check all solutions in the folder ``out``; yield a line on each, and raise Refused at what does not hold."""
    folder, matrix, arrays, altered = Path(out), None, {}, "is missing, or was changed after it was written"
    certificate, run = (json.loads((folder / name).read_text("utf-8")) for name in ("certificate.json", "run.json"))
    for name, record in (("certificate.json", certificate), ("run.json", run)):
        said = json.dumps({key: value for key, value in record.items() if key != "digest"}, sort_keys=True)
        require(hashlib.sha256(said.encode()).hexdigest() == record["digest"], f"{folder / name} {altered}")
    require(certificate["format"] == "fantope-certificate" and certificate["version"] < 3, "a format not known here", 2)
    for name, digest in {"certificate.json": None, **run["files"]}.items():
        require((folder / name).is_file() and sha256(folder / name) == digest, f"{folder / name} {altered}")
    require(data is None or certificate["data"] in (None, sha256(Path(data))), f"{data} is not the file that was used")
    require(len(certificate["solutions"]) == len(run["solutions"]) > 0, "run.json speaks of other solutions")
    for claim, recorded in zip(certificate["solutions"], run["solutions"]):
        one, other = {**claim, "alpha": claim["penalty"]["alpha"]}, {**run["parameters"], **recorded}
        differ = [name for name in SAID if one[name] != other[name]]
        require(not differ, f"run.json and certificate.json differ in {', '.join(differ)}")
        if claim["matrix"] != matrix:
            matrix, about = claim["matrix"], certificate["matrices"][claim["matrix"]]
            path = folder / about["file"] if about["stored"] or data is None else Path(data)
            S = Matrix(read_numbers(path, about), about["kind"], about["center"])
        for name in ("X", "U"):
            file = folder / claim["folder"] / claim[name]["file"]
            require(sha256(file) == claim[name]["sha256"], f"{file} {altered}")
            with np.load(file, allow_pickle=False) as stored: arrays[name] = {key: stored[key] for key in stored.files}
        d, low, high = claim["n_components"], claim["objective"], claim["dual_bound"]
        X, dual = arrays["X"], Dual(arrays["U"], claim["penalty"], S.size)
        here = others().Rougher(S, arrays["U"]) if dual.kind == "smooth" else S
        (lower, terms), upper = lower_bound(here, dual, X, d, exact), upper_bound(here, dual, X, d, high, exact)
        scale, whose = max(abs(lower), terms, np.abs(here.diagonal).max(), dual.alpha), f"{claim['folder']}: alpha = "
        whose += f"{dual.alpha:.6g}, d = {d}, S from {path}: the optimum is in [{lower:.12g}, {upper:.12g}]"
        shown = abs(lower - low) <= 1e-9 * scale and upper <= high + 1e-9 * scale
        require(shown, f"{whose}, which does not show the [{low:.12g}, {high:.12g}] that is claimed")
        gap = max(high - low, 0.0) / max(abs(low), abs(high), 1e-300)
        met = claim["status"] != "SOLVED" or gap <= claim["tol"] or high - low <= max(claim["tol"] / 100, 1e-10) * terms
        require(met and abs(gap - claim["gap"]) <= 1e-9, f"{whose}: the gap or the status claimed does not follow")
        yield f"{whose}; claimed [{low:.12g}, {high:.12g}], gap {gap:.2g}"
def main(arguments):
    try:
        for line in check(*(name for name in arguments if name != "--exact"), exact="--exact" in arguments): print(line)
    except Exception as error:  # whatever a damaged file may raise: there is nothing that could be checked
        what, code = error.args if isinstance(error, Refused) else (f"{type(error).__name__}: {error}", 2)
        print("DOES NOT HOLD:" if code == 1 else "cannot be checked:", what)
        return code
    print("All of it holds" + (", in rational arithmetic." if "--exact" in arguments else ", all rounding counted in."))
    return 0
if __name__ == "__main__": sys.exit(main(sys.argv[1:]))
