#!/usr/bin/env python3
"""Populations on a card beside PyTorch, in one run: network-steps per second of gradient descent of many small two-layer
networks (full batch, logistic loss, shared data), single and double precision; and the card beside its emulation, bit for
bit.

  bench/gpu.py check LIBRARY EMULATION     equal bits on every shape, loss, leak and rule
  bench/gpu.py speed LIBRARY [OUT.json]    the table; peers need PyTorch with CUDA
  bench/gpu.py align LIBRARY EMULATION     equal destinies of random starts
  bench/gpu.py own LIBRARY                 the rates alone, for each number of lanes
  bench/gpu.py one LIBRARY n d m single|double   one population, for a profiler

LIBRARY and EMULATION are libreluflow_cuda.so and libreluflow_emulated.so."""
import ctypes as C
import json
import math
import sys
import time

import numpy as np

MEASURES = 5


class Descent(C.Structure):
    """DeviceDescent of app/device/plugin.h."""
    _fields_ = [("n", C.c_int), ("d", C.c_int), ("m", C.c_int), ("loss", C.c_int), ("mean", C.c_bool),
                ("freeze_second", C.c_bool), ("single", C.c_bool), ("leak", C.c_double), ("nets", C.c_int64),
                ("data_sets", C.c_int64), ("X", C.c_void_p), ("y", C.c_void_p), ("data_of", C.c_void_p),
                ("weights", C.c_void_p), ("rate", C.c_void_p), ("raise_rate", C.c_void_p), ("max_steps", C.c_int64),
                ("stop_loss", C.c_double), ("stop_min_q", C.c_double), ("record_every", C.c_int64),
                ("record_room", C.c_int64), ("records", C.c_void_p), ("record_count", C.c_void_p), ("steps", C.c_void_p),
                ("stop", C.c_void_p), ("measure", C.c_void_p), ("lanes", C.c_int), ("stopped", C.c_void_p),
                ("user", C.c_void_p), ("seconds", C.c_double), ("launches", C.c_double)]


class Align(C.Structure):
    """DeviceAlign of app/device/plugin.h."""
    _fields_ = [("n", C.c_int), ("d", C.c_int), ("leak", C.c_double), ("X", C.c_void_p), ("c", C.c_void_p),
                ("zero", C.c_double), ("balanced", C.c_double), ("solver", C.c_double), ("count", C.c_int64),
                ("starts", C.c_void_p), ("destiny", C.c_void_p), ("plus", C.c_void_p), ("still", C.c_void_p),
                ("seconds", C.c_double)]


class Plugin(C.Structure):
    _fields_ = [("version", C.c_int), ("open", C.CFUNCTYPE(C.c_int, C.c_char_p, C.c_char_p)),
                ("descend", C.CFUNCTYPE(C.c_int, C.POINTER(Descent), C.c_char_p)),
                ("align", C.CFUNCTYPE(C.c_int, C.POINTER(Align), C.c_char_p))]


class Device:
    def __init__(self, path):
        self.plugin = Plugin.in_dll(C.CDLL(path), "reluflow_device")
        name, error = C.create_string_buffer(128), C.create_string_buffer(256)
        if self.plugin.open(name, error):
            sys.exit(f"{path}: {error.value.decode()}")
        self.name = name.value.decode()

    def descend(self, X, y, weights, m, steps, rate=0.01, raise_rate=0.0, loss=0, mean=True, freeze=False, single=False,
                leak=0.0, stop_loss=0.0, stop_min_q=math.inf, data_of=None, record_every=0, record_room=0, lanes=0):
        """weights: nets x (m d + m), changed in place. Returns a dict of what the device found."""
        n, d = X.shape[-2:]
        nets = len(weights)
        X, y = np.ascontiguousarray(X, float), np.ascontiguousarray(y, float)
        rates, raises = np.full(nets, float(rate)), np.full(nets, float(raise_rate))
        out = {"steps": np.zeros(nets, np.int64), "stop": np.zeros(nets, np.int32), "measure": np.zeros((nets, MEASURES)),
               "records": np.zeros((nets, record_room, MEASURES)), "count": np.zeros(nets, np.int32)}
        at = lambda a: None if a is None else a.ctypes.data
        task = Descent(n, d, m, loss, mean, freeze, single, leak, nets, 1 if X.ndim == 2 else len(X), at(X), at(y),
                       at(data_of), at(weights), at(rates), at(raises), steps, stop_loss, stop_min_q, record_every,
                       record_room, at(out["records"]) if record_every else None, at(out["count"]), at(out["steps"]),
                       at(out["stop"]), at(out["measure"]), lanes, None, None, 0, 0)
        error = C.create_string_buffer(256)
        if self.plugin.descend(C.byref(task), error):
            raise RuntimeError(error.value.decode())
        out["seconds"], out["weights"] = task.seconds, weights
        return out

    def align(self, X, c, starts, leak=0.0):
        n, d = X.shape
        words = (n + 31) // 32
        count = len(starts)
        destiny = np.zeros(count, np.int8)
        plus, still = np.zeros((count, words), np.uint32), np.zeros((count, words), np.uint32)
        task = Align(n, d, leak, X.ctypes.data, c.ctypes.data, 1e-12, 1e-14, 1e-14, count, starts.ctypes.data,
                     destiny.ctypes.data, plus.ctypes.data, still.ctypes.data, 0)
        error = C.create_string_buffer(256)
        if self.plugin.align(C.byref(task), error):
            raise RuntimeError(error.value.decode())
        return destiny, plus, still, task.seconds


def problem(n, d, seed=0, sets=None):
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, d) if sets is None else (sets, n, d)) / math.sqrt(d)
    y = np.where(X[..., 0] + 0.3 * X[..., 1] > 0, 1.0, -1.0)
    return X, y


def starts_of(nets, d, m, scale, seed=0):
    random = np.random.default_rng(seed)
    return scale * random.standard_normal((nets, m * d + m))


# ---- the card beside its emulation -------------------------------------------------------------------------------------

def check(device, emulation):
    bad = cases = 0
    random = np.random.default_rng(5)
    shapes = [(50, 2, 50), (50, 10, 50), (200, 20, 100), (500, 20, 100), (1, 2, 1), (7, 3, 9), (33, 4, 64), (65, 5, 8),
              (64, 6, 65), (129, 16, 33), (300, 32, 130), (40, 64, 20), (1024, 7, 512), (1024, 64, 512)]
    for n, d, m in shapes:
        for single in (False, True):
            for leak, loss, rules in ((0.0, 0, {}), (0.1, 1, {"raise_rate": 0.05}), (0.0, 2, {"stop_loss": 0.05}),
                                      (1.0, 0, {"stop_min_q": 0.1}), (0.3, 2, {"raise_rate": 0.02, "record_every": 5, "record_room": 9})):
                large = n * m * d > 200000
                steps, nets = (6, 2) if large else (40, 5)
                sets = 3 if random.random() < 0.4 else None
                X, y = problem(n, d, 7, sets)
                data_of = None if sets is None else (np.arange(nets) % sets).astype(np.int32)
                start = starts_of(nets, d, m, 0.5 / math.sqrt(m), 3)
                results = [one.descend(X, y, start.copy(), m, steps, rate=0.5, single=single, leak=leak, loss=loss,
                                       data_of=data_of, **rules) for one in (device, emulation)]
                cases += 1
                for what in ("weights", "measure", "steps", "stop", "records", "count"):
                    a, b = results[0][what], results[1][what]
                    if a.tobytes() != b.tobytes():
                        bad += 1
                        gap = np.nanmax(np.abs(a.astype(float) - b.astype(float)))
                        print(f"differ: {n} x {d}, m = {m}, single {single}, leak {leak}, loss {loss}, {rules}: {what} by {gap:.3g}")
                        break
    print(f"{cases} populations on {device.name} and in emulation: {cases - bad} equal bit for bit, {bad} not")
    return bad


def align_check(device, emulation):
    for n, d, seed in ((6, 2, 1), (20, 2, 2), (12, 3, 3), (40, 3, 4), (30, 5, 5), (100, 10, 6)):
        random = np.random.default_rng(seed)
        X = np.ascontiguousarray(random.standard_normal((n, d)))
        c = 0.5 * np.where(random.random(n) < 0.5, 1.0, -1.0)
        starts = random.standard_normal((20000, d + 1))
        starts[:, :d] /= np.linalg.norm(starts[:, :d], axis=1)[:, None]
        starts[:, d] = np.sign(starts[:, d])
        starts = np.ascontiguousarray(starts / math.sqrt(2))
        found = [one.align(X, c, starts) for one in (device, emulation)]
        same = np.mean(found[0][0] == found[1][0])
        print(f"{n} x {d}: {100 * same:.4f} % equal destinies, {100 * np.mean(found[0][0] < 0):.4f} % left to the processor")


# ---- speed -------------------------------------------------------------------------------------------------------------

SIZES = [(50, 2, 50), (50, 10, 50), (200, 20, 100), (500, 20, 100)]


def instructions(n, d, m, single):
    """Cycles that the busiest unit of a quarter of a multiprocessor needs for one network-step, counted in the inner loops
    of the machine code (a warp of 32 lanes a cycle; 16 lanes a cycle in double): the issue of instructions in single, the
    unit for double precision in double; from 16 inputs in double the matrix unit, 32 fused products a cycle."""
    dim = next(k for k in (2, 4, 6, 10, 16, 20, 32, 64) if k >= d)
    pairs = n * m / 32
    if single:
        return pairs * ((dim + 3) + (dim + (1 if dim <= 4 else 2)))
    if dim >= 16:
        return pairs * 2 * dim
    return pairs * 2 * ((dim + 1) + dim)


def ours(device, n, d, m, single, lanes=0):
    X, y = problem(n, d)
    nets = {2: 1 << 18, 10: 1 << 16}.get(d, 1 << 14 if n < 300 else 1 << 13)
    weights = starts_of(nets, d, m, 0.01)
    device.descend(X, y, weights.copy(), m, 64, single=single, lanes=lanes)  # warm up
    goal = {2: 4000, 10: 3000}.get(d, 2000 if n < 300 else 1000)
    best = 0
    for _ in range(2):
        out = device.descend(X, y, weights.copy(), m, goal, single=single, lanes=lanes)
        best = max(best, nets * goal / out["seconds"])
    return best


def torch_steps(torch):
    """The same step in three ways that people write it. "products": by hand, two matrix products over all networks at once,
    possible because they share their data. "bmm": by hand, a product per network. "func": torch.func.vmap(grad(loss))."""
    def products(W, a, X, y, rate):
        B, m, d = W.shape
        Z = (W.reshape(B * m, d) @ X.T).reshape(B, m, -1)
        f = (torch.relu(Z) * a.unsqueeze(2)).sum(1)
        c = y * torch.sigmoid(-y * f) * (rate / X.shape[0])
        G = ((Z > 0) * c.unsqueeze(1)).reshape(B * m, -1) @ X
        G = G.reshape(B, m, d)
        return W + a.unsqueeze(2) * G, a + (W * G).sum(2)

    def bmm(W, a, X, y, rate):
        B = W.shape[0]
        Z = torch.bmm(W, X.T.expand(B, -1, -1))
        f = torch.bmm(a.unsqueeze(1), torch.relu(Z)).squeeze(1)
        c = y * torch.sigmoid(-y * f) * (rate / X.shape[0])
        G = torch.bmm((Z > 0) * c.unsqueeze(1), X.expand(B, -1, -1))
        return W + a.unsqueeze(2) * G, a + (W * G).sum(2)

    def loss(W, a, X, y):
        return torch.nn.functional.softplus(-y * (torch.relu(X @ W.T) @ a)).mean()

    slope = torch.func.vmap(torch.func.grad(loss, argnums=(0, 1)), in_dims=(0, 0, None, None))

    def func(W, a, X, y, rate):
        GW, Ga = slope(W, a, X, y)
        return W - rate * GW, a - rate * Ga

    return {"products": products, "bmm": bmm, "func": func}


def peer(n, d, m, single, seconds=0.3):
    """PyTorch: every way eager at several batch sizes, and compiled at the best of them. Returns the rates by name."""
    import torch
    torch.backends.cuda.matmul.allow_tf32 = False
    kind = torch.float32 if single else torch.float64
    Xn, yn = problem(n, d)
    X, y = torch.tensor(Xn, dtype=kind, device="cuda"), torch.tensor(yn, dtype=kind, device="cuda")
    found = {}

    def rate_of(run, B):
        W = torch.tensor(starts_of(B, d, m, 0.01)[:, :m * d].reshape(B, m, d), dtype=kind, device="cuda")
        a = W[:, :, 0].clone()
        for _ in range(3):
            W, a = run(W, a, X, y, 0.01)
        torch.cuda.synchronize()
        began, steps = time.time(), 0
        while time.time() - began < seconds:
            for _ in range(10):
                W, a = run(W, a, X, y, 0.01)
            torch.cuda.synchronize()
            steps += 10
        return B * steps / (time.time() - began)

    room = 24e9 / (n * m * (4 if single else 8) * 4)
    for way, step in torch_steps(torch).items():
        sizes = {B: rate_of(step, B) for B in (1024, 4096, 16384, 65536) if B <= room}
        found.update({f"{way}, eager, {B}": rate for B, rate in sizes.items()})
        best = max(sizes, key=sizes.get)
        for B in sorted({best, max(1024, best // 4)}) if way == "products" else [best]:
            try:
                torch._dynamo.reset()
                found[f"{way}, compiled, {B}"] = rate_of(torch.compile(step, dynamic=False), B)
            except Exception as error:  # a peer that fails is a peer less
                print(f"# {way}, compiled, {B}: {type(error).__name__}", file=sys.stderr)
    return found


def best_of(found, *ways):
    name = max((key for key in found if key.split(",")[0] in ways), key=found.get)
    return found[name], name


def speed(device, path):
    import torch
    props = torch.cuda.get_device_properties(0)
    clock = 1.98e9  # highest clock of the card, as nvidia-smi tells it; the fraction below is of this
    try:
        import subprocess
        clock = 1e6 * float(subprocess.run(["nvidia-smi", "--query-gpu=clocks.max.sm", "--format=csv,noheader,nounits"],
                                           capture_output=True, text=True).stdout.split()[0])
    except Exception:
        pass
    units = props.multi_processor_count * 4
    rows = []
    print(f"{device.name}, {props.multi_processor_count} multiprocessors at {clock / 1e9:.2f} GHz, PyTorch {torch.__version__}", flush=True)
    print("| n, d, m | precision | network-steps/s | of the bound | torch.func or bmm | its best | ratio | by hand | ratio |\n"
          "|---|---|---:|---:|---:|---|---:|---:|---:|", flush=True)
    for n, d, m in SIZES:
        for single in (True, False):
            own = {lanes: ours(device, n, d, m, single, lanes) for lanes in (0, 32, 128) if not (lanes == 32 and n > 256)}
            bound = units * clock / instructions(n, d, m, single)
            every = peer(n, d, m, single)
            (other, how), (hand, _) = best_of(every, "func", "bmm"), best_of(every, "products")
            rows.append({"n": n, "d": d, "m": m, "single": single, "rate": own, "bound": bound, "peers": every})
            print(f"| {n}, {d}, {m} | {'single' if single else 'double'} | {own[0]:.3g} | {100 * own[0] / bound:.0f} % | {other:.3g} | {how} "
                  f"| {own[0] / other:.1f} | {hand:.3g} | {own[0] / hand:.1f} |   {own}", flush=True)
    if path:
        json.dump(rows, open(path, "w"), indent=1)


if __name__ == "__main__":
    words = sys.argv[1:]
    if len(words) < 2 or words[0] not in ("check", "speed", "align", "own", "one"):
        sys.exit(__doc__)
    first = Device(words[1])
    if words[0] == "check":
        sys.exit(1 if check(first, Device(words[2])) else 0)
    if words[0] == "align":
        align_check(first, Device(words[2]))
    elif words[0] == "own":
        for n, d, m in SIZES:
            for single in (True, False):
                rates = {lanes: f"{ours(first, n, d, m, single, lanes):.3g}" for lanes in (0, 32, 128) if lanes == 0 or d > 2}
                print(n, d, m, "single" if single else "double", rates, flush=True)
    elif words[0] == "one":
        n, d, m = map(int, words[2:5])
        X, y = problem(n, d)
        nets = {2: 1 << 17, 10: 1 << 15}.get(d, 1 << 12)
        out = first.descend(X, y, starts_of(nets, d, m, 0.01), m, 32 * 9, single=words[5] == "single")
        print(f"{nets * 288 / out['seconds']:.3g} network-steps/s")
    else:
        speed(first, words[2] if len(words) > 2 else None)
