// SPDX-License-Identifier: MIT
//
// The bands of shares as files: SVG and CSV.
import { SvgPen } from "../draw/svg_pen";
import { saveCsv, saveSvg } from "../ui/save";
import { inks } from "../ui/theme";
import { OTHERS, bandsOf } from "./bands";
import { drawLanes } from "./shares";
import type { Timeline } from "./timeline";

const WIDTH = 1100;
const HEIGHT = 435;
const PLOT = { left: 80, right: WIDTH - 20, top: 85, bottom: HEIGHT - 40 };

export function saveSharesCsv(timeline: Timeline): void {
  const rows = timeline.frames.flatMap((frame) =>
    frame.clusters.map((c) => [frame.frame, frame.source, c.id, c.count, c.share, c.event, c.into ?? null, ...c.xyz]),
  );
  saveCsv("shares", ["frame", "source", "id", "count", "share", "event", "into", "x", "y", "z"], rows);
}

export function saveSharesSvg(timeline: Timeline, title: string): void {
  const pen = new SvgPen(WIDTH, HEIGHT, title, inks().card),
    { ids, tops } = bandsOf(timeline),
    count = Math.max(1, timeline.length);
  const x = (index: number): number => PLOT.left + ((index + 0.5) / count) * (PLOT.right - PLOT.left);
  const y = (share: number): number => PLOT.bottom - share * (PLOT.bottom - PLOT.top);
  for (let b = ids.length - 1; b >= 0; b--) {
    const id = ids[b] as number,
      colour = id === OTHERS ? inks().line : timeline.colours.css(id);
    pen.line(outline(tops[b] as number[], x, y), true, { fill: colour, stroke: inks().card, width: 0.5 });
  }
  drawScales(pen, timeline, x, y);
  drawLanes(pen, timeline, x, PLOT.top, PLOT.left, null);
  saveSvg("shares", pen.finish());
}

function outline(tops: number[], x: (index: number) => number, y: (share: number) => number): number[] {
  const places = tops.flatMap((top, i) => [x(i - 0.5), y(top), x(i + 0.5), y(top)]);
  return [x(-0.5), y(0), ...places, x(tops.length - 0.5), y(0)];
}

function drawScales(pen: SvgPen, timeline: Timeline, x: (index: number) => number, y: (share: number) => number): void {
  const style = { colour: inks().muted, size: 12 },
    step = Math.max(1, Math.ceil(timeline.length / 12));
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    pen.text(PLOT.left - 8, y(share) + 4, `${100 * share} %`, { ...style, anchor: "end" });
    pen.line([PLOT.left, y(share), PLOT.right, y(share)], false, { stroke: inks().ink, width: 0.5, opacity: 0.25 });
  }
  for (let i = 0; i < timeline.length; i += step)
    pen.text(x(i), PLOT.bottom + 20, String(timeline.frames[i]?.frame ?? i), { ...style, anchor: "middle" });
}
