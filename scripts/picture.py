#!/usr/bin/env python3
"""Draws one run as an SVG: AU and delivered MB/s of each epoch, and where accelerator time went.

usage: scripts/picture.py RESULT.json OUT.svg      (standard library only)
"""
import html
import json
import sys

WIDTH, HEIGHT, LEFT, RIGHT, TOP = 760, 330, 60, 60, 64
INK, GRID, AU, RATE = "#24292f", "#d0d7de", "#0969da", "#bc4c00"
PARTS = [("think_s", "think", "#1a7f37"), ("storage_wait_s", "storage", "#cf222e"), ("client_wait_s", "client", "#9a6700"),
         ("barrier_wait_s", "barrier", "#8250df"), ("outside_s", "outside", "#8c959f")]


def value(epoch, key):
    return next((m["value"] for m in epoch["metrics"] if m["key"] == key), None)


def text(x, y, words, size=12, anchor="start", colour=INK, weight="normal"):
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{colour}" font-weight="{weight}">'
            f"{html.escape(words)}</text>")


def main():
    result = json.load(open(sys.argv[1], encoding="utf-8"))
    epochs = [e for e in result["epochs"] if not e["evaluation"]]
    au = [value(e, "au_percentage") for e in epochs]
    rate = [value(e, "delivered_MB_per_second") for e in epochs]
    most = max([r for r in rate if r] or [1]) * 1.15
    plot_width, plot_height = WIDTH - LEFT - RIGHT, 170
    step = plot_width / max(len(epochs), 1)
    y_of = lambda percent: TOP + plot_height * (1 - percent / 100)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="system-ui, sans-serif">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
           text(LEFT, 22, f'{result["workload"]}: {result["accelerator_count"]} accelerator(s), {result["format"]} on '
                          f'{result["backend"]}', 15, weight="bold"),
           text(LEFT, 42, "bars: AU of each epoch (%), line: delivered MB/s; MLPerf-Storage-style, not verified by MLCommons", 12)]
    for percent in (0, 25, 50, 75, 100):
        out.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y_of(percent):.1f}" y2="{y_of(percent):.1f}" stroke="{GRID}"/>')
        out.append(text(LEFT - 8, y_of(percent) + 4, f"{percent}", anchor="end", colour=AU))
        out.append(text(WIDTH - RIGHT + 8, y_of(percent) + 4, f"{most * percent / 100:.0f}", colour=RATE))
    for i, percent in enumerate(au):
        if percent is None:
            continue
        x = LEFT + i * step + step * 0.15
        out.append(f'<rect x="{x:.1f}" y="{y_of(percent):.1f}" width="{step * 0.7:.1f}" height="{plot_height * percent / 100:.1f}" '
                   f'fill="{AU}" fill-opacity="0.75"/>')
    points = " ".join(f"{LEFT + (i + 0.5) * step:.1f},{TOP + plot_height * (1 - r / most):.1f}" for i, r in enumerate(rate) if r)
    out.append(f'<polyline points="{points}" fill="none" stroke="{RATE}" stroke-width="2"/>')
    if result["au_required_fraction"] > 0:
        bar = y_of(100 * result["au_required_fraction"])
        out.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{bar:.1f}" y2="{bar:.1f}" stroke="{INK}" stroke-dasharray="6 4"/>')
        out.append(text(WIDTH - RIGHT - 4, bar - 5, f'bar {100 * result["au_required_fraction"]:.0f} %', 11, "end"))
    for i in range(len(epochs)):
        if len(epochs) <= 20 or i % 5 == 4:
            out.append(text(LEFT + (i + 0.5) * step, TOP + plot_height + 16, str(i + 1), 11, "middle"))
    total, x, y = result["attribution"]["total_s"] or 1, float(LEFT), TOP + plot_height + 36
    out.append(text(LEFT, y + 8, "where accelerator time went"))
    for key, _, colour in PARTS:
        width = plot_width * result["attribution"][key] / total
        out.append(f'<rect x="{x:.1f}" y="{y + 14}" width="{width:.2f}" height="18" fill="{colour}"/>')
        x += width
    x = float(LEFT)
    for key, name, colour in PARTS:
        label = f'{name} {100 * result["attribution"][key] / total:.1f} %'
        out.append(f'<rect x="{x}" y="{y + 40}" width="10" height="10" fill="{colour}"/>' + text(x + 15, y + 49, label))
        x += plot_width / len(PARTS)
    out.append("</svg>")
    open(sys.argv[2], "w", encoding="utf-8").write("\n".join(out) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main()
