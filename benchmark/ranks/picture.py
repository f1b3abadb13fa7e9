#!/usr/bin/env python3
"""Draws docs/pictures/scaling.svg: what docs/manual/clusters.md measures and what its model says, with the figures of its tables.

    python3 benchmark/ranks/picture.py > docs/pictures/scaling.svg
"""
import math
import pathlib

MANUAL = pathlib.Path(__file__).resolve().parents[2] / "docs/manual/clusters.md"


def table(head):
    """The rows of the table of the manual whose head begins so, as lists of numbers; '-' is None."""
    lines = MANUAL.read_text().split("\n")
    at = next(i for i, line in enumerate(lines) if line.startswith(head)) + 2
    rows = []
    while lines[at].startswith("|"):
        cells = [c.strip().replace(",", "") for c in lines[at].strip("|").split("|")]
        rows.append([None if c == "-" else float(c) if c.replace(".", "").isdigit() else c for c in cells])
        at += 1
    return rows


# ---- the model ----

ENTITY_NS, GHOST_NS, GHOST_BYTES, FISH = 100, 62, 20, 20


def tick_ms(side, ranks, latency_us, gigabytes):
    """A tick of side x side cells with 20 entities each, in blocks (docs/manual/clusters.md, How it scales)."""
    entities = side * side * FISH / ranks
    if ranks == 1:
        return entities * ENTITY_NS * 1e-6
    ghosts = min(4 * math.sqrt(side * side / ranks) + 4, 8 * side * side / ranks) * FISH
    latencies = math.ceil(5 * math.log2(ranks)) + 2  # ghosts, and entities that move
    ns = entities * ENTITY_NS + ghosts * GHOST_NS + latencies * latency_us * 1e3 + ghosts * GHOST_BYTES / gigabytes
    return ns * 1e-6


# ---- drawing ----

STYLE = """    .card { fill: #f7f9fb; stroke: #cfd6de }
    .text { font: 14px sans-serif; fill: #1f2933 }
    .small { font: 12px sans-serif; fill: #4a5765 }
    .middle { text-anchor: middle }
    .end { text-anchor: end }
    .grid { stroke: #dde3ea; stroke-width: 1 }
    .line { stroke: #8794a3; stroke-width: 1; fill: none }
    .dash { stroke-dasharray: 5 4 }
    .blue { stroke: #3b7dbf } .blue-in { fill: #3b7dbf }
    .green { stroke: #3a9150 } .green-in { fill: #3a9150 }
    .amber { stroke: #bf7d1d } .amber-in { fill: #bf7d1d }
    .red { stroke: #b5484a } .red-in { fill: #b5484a }
    .curve { stroke-width: 2; fill: none }
    .open { stroke-width: 2; fill: #f7f9fb }
    @media (prefers-color-scheme: dark) {
      .card { fill: #161b22; stroke: #3a434e }
      .text { fill: #e6edf3 }
      .small { fill: #a9b4c0 }
      .grid { stroke: #2b323b }
      .line { stroke: #7d8896 }
      .blue { stroke: #5aa2e6 } .blue-in { fill: #5aa2e6 }
      .green { stroke: #4fb36a } .green-in { fill: #4fb36a }
      .amber { stroke: #dd9c3c } .amber-in { fill: #dd9c3c }
      .red { stroke: #e0777a } .red-in { fill: #e0777a }
      .open { fill: #161b22 }
    }"""

out = []


def put(text):
    out.append("  " + text)


class Axes:
    """A part of the picture with logarithmic axes."""

    def __init__(self, left, right, top, bottom, x, y):
        self.left, self.right, self.top, self.bottom = left, right, top, bottom
        self.x, self.y = [math.log(v) for v in x], [math.log(v) for v in y]

    def at(self, x, y):
        u = (math.log(x) - self.x[0]) / (self.x[1] - self.x[0])
        v = (math.log(y) - self.y[0]) / (self.y[1] - self.y[0])
        return self.left + u * (self.right - self.left), self.bottom - v * (self.bottom - self.top)

    def grid(self, xs, ys, x_title, y_title):
        for x in xs:
            px = self.at(x, math.exp(self.y[0]))[0]
            put(f'<path class="grid" d="M{px:.1f} {self.top}V{self.bottom}"/>')
            put(f'<text class="small middle" x="{px:.1f}" y="{self.bottom + 17}">{x:,g}</text>')
        for y in ys:
            py = self.at(math.exp(self.x[0]), y)[1]
            put(f'<path class="grid" d="M{self.left} {py:.1f}H{self.right}"/>')
            put(f'<text class="small end" x="{self.left - 6}" y="{py + 4:.1f}">{y:,g}</text>')
        put(f'<text class="small middle" x="{(self.left + self.right) / 2:.0f}" y="{self.bottom + 36}">{x_title}</text>')
        put(f'<text class="small" x="{self.left - 34}" y="{self.top - 10}">{y_title}</text>')

    def curve(self, points, style):
        d = "L".join("%.1f %.1f" % self.at(x, y) for x, y in points)
        put(f'<path class="{style}" d="M{d}"/>')

    def dot(self, x, y, colour, filled=True):
        px, py = self.at(x, y)
        put(f'<circle class="{colour}-in" cx="{px:.1f}" cy="{py:.1f}" r="4"/>' if filled else
            f'<circle class="{colour} open" cx="{px:.1f}" cy="{py:.1f}" r="3.5"/>')


def model_against_measurement(a):
    a.grid([4, 10, 20, 50, 100], [4, 10, 20, 50, 100], "by the model, ms", "measured, ms")
    a.curve([(4, 4), (100, 100)], "line")
    colours = {2: "blue", 4: "green", 8: "amber"}
    for ranks, _, _, model, measured in table("| ranks | latency, ms | bandwidth, MB/s | model, ms |"):
        a.dot(model, measured, colours[int(ranks)])
    for i, (ranks, colour) in enumerate(colours.items()):
        x, y = a.left + 16, a.top + 18 + 20 * i
        put(f'<circle class="{colour}-in" cx="{x}" cy="{y}" r="4"/>')
        put(f'<text class="small" x="{x + 10}" y="{y + 4}">{ranks} ranks</text>')


def ticks_by_ranks(a):
    ranks = [2 ** (k / 8) for k in range(0, 97)]
    worlds = [(4096, "red", "335,544,320"), (1024, "amber", "20,971,520"), (256, "green", "1,310,720"), (64, "blue", "81,920")]
    a.grid([1, 4, 16, 64, 256, 1024, 4096], [0.1, 1, 10, 100, 1000, 10000], "ranks", "a tick, ms")
    for side, colour, entities in worlds:
        first = 1 if side < 4096 else 16
        one = tick_ms(side, 1, 0, 1)
        last = min(4096, one / 0.05)
        a.curve([(first, one / first), (last, one / last)], "line")
        for style, latency, gigabytes in (("", 2, 10), (" dash", 30, 1)):
            a.curve([(n, tick_ms(side, n, latency, gigabytes)) for n in ranks if n >= first and not 1 < n < 2],
                    f"curve {colour}{style}")
        x, y = a.at(first, tick_ms(side, first, 2, 10))
        put(f'<text class="small {colour}-in" x="{x + 12:.0f}" y="{y - 1:.0f}">{entities} entities</text>')
    rows = table("| ranks | cells | entities of a rank | ghosts of a rank | systems, ms |")[:4]
    for n, _, _, _, systems, addon, _, tick in rows:
        a.dot(n, tick if tick else systems + addon, "blue", tick is not None)


def main():
    put('<rect class="card" x="0.5" y="0.5" width="919" height="439" rx="8"/>')
    put('<text class="text" x="24" y="30">Under a simulated network</text>')
    put('<text class="text" x="372" y="30">By the model, up to 4,096 ranks</text>')
    model_against_measurement(Axes(60, 320, 76, 336, (4, 100), (4, 100)))
    put('<text class="small" x="24" y="400">Each point is a run with another latency or bandwidth.</text>')
    put('<text class="small" x="24" y="418">On the line, the model would be exact.</text>')
    ticks_by_ranks(Axes(420, 890, 76, 336, (1, 4096), (0.05, 10000)))
    legend = [("", "2 us and 10 GB/s"), (" dash", "30 us and 1 GB/s")]
    for i, (style, text) in enumerate(legend):
        put(f'<path class="curve line{style}" style="stroke-width: 2" d="M{386 + 160 * i} 396h30"/>')
        put(f'<text class="small" x="{424 + 160 * i}" y="400">{text}</text>')
    put('<path class="line" d="M706 396h30"/><text class="small" x="744" y="400">if nothing had to be sent</text>')
    put('<circle class="blue-in" cx="401" cy="418" r="4"/><text class="small" x="424" y="422">measured</text>')
    put('<circle class="blue open" cx="561" cy="418" r="3.5"/>')
    put('<text class="small" x="584" y="422">measured without waiting, since two cores had to do</text>')
    print('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 920 440" width="920" height="440" role="img" '
          'aria-label="Time of a tick by number of ranks">')
    print("  <title>Time of a tick by number of ranks</title>")
    print("  <desc>Left: 15 measurements under a simulated network lie on the model's line or up to 9% above it. Right: by the model, a "
          "tick of four worlds on 1 to 4,096 ranks. It gets shorter by the number of ranks until the latency of the network bounds it, "
          "at about 0.1 ms on a fast network and 1.9 ms on an Ethernet.</desc>")
    print("  <style>\n" + STYLE + "\n  </style>")
    print("\n".join(out))
    print("</svg>")


main()
