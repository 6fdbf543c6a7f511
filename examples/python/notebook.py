# SPDX-License-Identifier: Apache-2.0
# %% [markdown]
# A notebook: paste the cells, or open the file in an editor that knows `# %%`. Models show themselves as a table, results plot,
# and a replay appears inline.

# %%
import sys
from pathlib import Path

import calder

root = Path(__file__).resolve().parents[2] if "__file__" in globals() else Path(".")
m = calder.load(root / "examples/four_bar.yaml")
m  # a table of the model
assert "<table>" in m._repr_html_()

# %% A four-bar linkage has a loop: three joints, one degree of freedom.
s = m.state()
mobility = m.mobility(s)
print(mobility)
assert mobility.mobility == 1

# %% Run it, and look at the numbers.
sim = calder.Sim(m, step=1e-3)
r = sim.record(["q", "energy"], 1.0, interval=0.01)
r.to_pandas().tail()

# %% Plots are matplotlib figures.
import matplotlib  # noqa: E402

matplotlib.use("Agg")  # not in a notebook
figure = r.plot("q")
figure.savefig(Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "notebook.png")

# %% The replay, inline: the last expression of a cell is shown. Elsewhere, save it and open it in a browser.
replay = r.replay(title="Four-bar linkage")
replay
assert replay._repr_html_().startswith("<iframe") and len(replay.html) > 10_000

# %% Change something, and run again: what is written to the state closes the loops anew.
sim.q[0] += 0.1
sim.run(0.5)
assert abs(m.loop_residual(sim.state)[0]).max() < 1e-9
