"""What a new user does with the installed package, on any system: python try_wheel.py [FOLDER WITH torch_*.npz]. Prints one line for each."""
import importlib.metadata
import pathlib
import re
import sys

import numpy as np

import reluflow

where = f"Python {sys.version.split()[0]}, NumPy {np.__version__}"

answer = reluflow.explain("gen:DS-PL2")  # of the README
assert answer.sentences[-1] == "So gradient flow finds the best margin there is."
assert abs(answer.flow.limit.margin - 0.5068509654) < 1e-10 and abs(answer.maxmargin.global_.margin - 0.5068509654) < 1e-10
print(f"{where}: {answer.sentences[-1]}")

assert round(reluflow.maxmargin("gen:xor").global_.margin, 12) == 0.176776695297
assert len(reluflow.sweep("flow", "gen:xor", seed=range(2), width=4)["id"]) == 2
X, y = reluflow.datasets.load("gen:orthant,n=30,d=4,seed=2")
run = reluflow.flow(X, y, width=8)
assert run.limit.W.shape == (8, 4) and run.limit.W.base is not None and run.limit.status == "converged"
for other in (np.asfortranarray(X), X.astype(">f8"), np.repeat(X, 2, axis=1)[:, ::2]):  # converted, not misread
    assert abs(reluflow.flow(other, y, width=8).limit.margin - run.limit.margin) < 1e-14
print("functions, sweeps, arrays in and out")

proof = reluflow.certify(run, X, y, prove=True).kkt.proved  # in balls, of FLINT
assert proof.holds and proof.distance < 1e-12, proof
paths = reluflow.flow("gen:DS-PL2", width=4, prove_alignment=True).alignment.proof
assert paths.proved == 4 and not paths.differs, paths
print(f"balls: a KKT point within {proof.distance:.0e}, alignment of {paths.proved} neurons")

try:
    from sklearn.model_selection import cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
except ImportError:
    print("scikit-learn is not installed: no estimators")
else:
    for estimator in (reluflow.HardMarginSVC(), reluflow.MaxMarginReLU(), reluflow.GradientFlowClassifier(width=8, random_state=0)):
        scores = cross_val_score(make_pipeline(StandardScaler(), estimator), X, y, cv=3)
        assert scores.min() >= 0.7, scores
        print(f"{type(estimator).__name__}: cross-validated {scores.mean():.3f}")

if len(sys.argv) > 1:
    limits = []
    for steps in (1000, 100000):
        with np.load(pathlib.Path(sys.argv[1]) / f"torch_{steps}.npz") as stored:
            state = {name: stored[name] for name in ("0.weight", "2.weight")}
        limits.append(reluflow.torch.limit_of(state, X, y))
    assert abs(limits[0].margin - limits[1].margin) < 1e-10 and limits[1].certificate.global_.verdict == "optimum"
    print(f"PyTorch's weights after 1,000 and 100,000 steps: margin {limits[0].margin:.10f} and {limits[1].margin:.10f} at t = infinity")

loaded = {line.split()[-1] for line in open("/proc/self/maps") if ".so" in line}
own = [name for name in loaded if re.search(r"openblas|flint|gmp|mpfr|jansson|gomp", name)]
assert own and all("site-packages" in name for name in own), own
print(f"libraries: {len(own)}, all inside site-packages")

TEXTS = {"scipy_openblas": "OpenBLAS", "gfortran": "OpenBLAS", "quadmath": "OpenBLAS", "gomp": "GCC-runtime", "gmp": "GMP", "mpfr": "MPFR", "jansson": "jansson"}
package = importlib.metadata.distribution("reluflow")
texts = {pathlib.PurePath(name).stem: package.read_text(f"licenses/{name}") or "" for name in package.metadata.get_all("License-File")}
bundled = {re.match(r"lib([a-z_]+)", file.name).group(1) for file in package.files if file.parts[0] == "reluflow.libs"}
needed = {"LICENSE", "FLINT", "SQLite", *(TEXTS[name] for name in bundled)}  # the two are linked in
assert len(bundled) >= 5 and needed <= set(texts), needed - set(texts)
for name, part in (("OpenBLAS", "OpenBLAS Project"), ("OpenBLAS", "gfortran"), ("FLINT", "LESSER GENERAL PUBLIC"), ("GMP", "Free Software Foundation"),
                   ("MPFR", "Free Software Foundation"), ("jansson", "Lehtinen"), ("SQLite", "public"), ("GCC-runtime", "exception"), ("LICENSE", "MIT")):
    assert part.lower() in texts[name].lower(), (name, part)
referred = set(re.findall(r"/usr/share/common-licenses/([A-Za-z]+(?:-[0-9.]*[0-9])?)", " ".join(texts.values())))
assert referred <= set(texts) and all(len(text) > 200 for text in texts.values()), referred - set(texts)
print(f"licences: {len(texts)} texts for {len(bundled)} bundled libraries, FLINT and SQLite")
