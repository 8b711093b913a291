// SPDX-License-Identifier: MIT
//
// How large each cluster was in each frame, as bands on top of each other (the paper's Figure 5), with the frames in which
// clusters were born, came back, were merged and died marked above. Drawn by uPlot; drag to scrub.
import uPlot from "uplot";
import { channels } from "../data/colours";
import type { Selection } from "../data/selection";
import { CanvasPen } from "../draw/canvas_pen";
import type { Pen } from "../draw/pen";
import { el, onceAFrame } from "../ui/dom";
import { percent } from "../ui/format";
import { swatch } from "../ui/swatch";
import { inks, onInks } from "../ui/theme";
import { hideTooltip, showTooltip } from "../ui/tooltip";
import { OTHERS, bandAt, bandsOf } from "./bands";
import type { Bands } from "./bands";
import type { Player } from "./player";
import { LANES, SIGNS, shape } from "./shapes";
import type { StreamEvent, Timeline } from "./timeline";

const LANE = 15;
const HEIGHT = 280;
const LEFT = 64;

export class Shares {
  readonly element = el("div", {
    class: "shares",
    role: "img",
    "aria-label": "Shares of the clusters over the frames; the table and the list of events say the same",
  });
  private plot: uPlot | null = null;
  private bands: Bands = { ids: [], tops: [] };
  private timeline: Timeline | null = null;
  private readonly playhead = el("div", { class: "playhead" });
  private readonly rebuild = onceAFrame(() => this.build());

  constructor(
    private readonly player: Player,
    private readonly selection: Selection,
  ) {
    new ResizeObserver(() => this.resize()).observe(this.element);
    onInks(this.rebuild);
    selection.listen(() => this.plot?.redraw(false, false));
    player.listen(() => this.movePlayhead());
  }

  show(timeline: Timeline): void {
    const bands = bandsOf(timeline),
      same = this.timeline === timeline && String(bands.ids) === String(this.bands.ids);
    this.timeline = timeline;
    this.bands = bands;
    if (!this.plot || !same) return this.rebuild();
    this.plot.setData(columns(bands, timeline.length));
    this.movePlayhead();
  }

  private resize(): void {
    if (!this.plot) this.rebuild();
    else this.plot.setSize({ width: Math.max(200, this.element.clientWidth), height: HEIGHT });
    this.movePlayhead();
  }

  private build(): void {
    const { timeline } = this,
      width = this.element.clientWidth;
    this.plot?.destroy();
    this.plot = null;
    if (!timeline || timeline.length === 0 || width < 100) return;
    this.plot = new uPlot(this.options(width), columns(this.bands, timeline.length), this.element);
    this.plot.over.append(this.playhead);
    this.listen(this.plot.over, this.plot);
    this.movePlayhead();
  }

  private options(width: number): uPlot.Options {
    const ink = inks(),
      axis = {
        stroke: ink.muted,
        grid: { stroke: ink.line, width: 1 },
        ticks: { stroke: ink.line, width: 1 },
        font: "12px system-ui, sans-serif",
      };
    const number = (_: uPlot, values: number[]): string[] =>
      values.map((value) => (Number.isInteger(value) ? String(this.timeline?.frames[value]?.frame ?? "") : ""));
    return {
      width,
      height: HEIGHT,
      padding: [LANE * LANES.length + 12, 14, 0, 0],
      legend: { show: false },
      cursor: { drag: { x: false, y: false }, points: { show: false }, y: false },
      scales: {
        x: { time: false, range: () => [-0.5, Math.max(0.5, (this.timeline?.length ?? 1) - 0.5)] },
        y: { range: [0, 1] },
      },
      axes: [
        {
          ...axis,
          values: number,
          incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 50000],
          size: 34,
        },
        { ...axis, values: (_, values) => values.map((value) => `${Math.round(100 * value)} %`), size: LEFT },
      ],
      series: [{}, ...this.series()],
      hooks: { draw: [(plot) => this.drawEvents(plot)] },
    };
  }

  /** Every band is filled down to the axis and the lower ones are drawn over it. */
  private series(): uPlot.Series[] {
    const stepped = uPlot.paths.stepped;
    return [...this.bands.ids].reverse().map((id) => ({
      paths: stepped ? stepped({ align: 1 }) : null,
      points: { show: false },
      fill: () => this.fill(id),
      stroke: () => inks().card,
      width: (this.timeline?.length ?? 0) < 400 ? 1 : 0,
    })) as uPlot.Series[];
  }

  private fill(id: number): string {
    const { active } = this.selection,
      colour = id === OTHERS ? inks().line : (this.timeline?.colours.css(id) ?? "#888");
    return active === null || active === id ? colour : mixed(colour, inks().card, 0.8);
  }

  private movePlayhead(): void {
    const { plot, player } = this;
    this.playhead.hidden = !plot || player.count === 0;
    if (plot) this.playhead.style.transform = `translateX(${plot.valToPos(player.index, "x")}px)`;
  }

  private drawEvents(plot: uPlot): void {
    this.movePlayhead(); // the scale may be another since the player moved
    const { context, ratio } = { context: plot.ctx, ratio: devicePixelRatio || 1 };
    context.save();
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const top = plot.bbox.top / ratio,
      left = plot.bbox.left / ratio;
    drawLanes(
      new CanvasPen(context),
      this.timeline as Timeline,
      (index) => plot.valToPos(index, "x", true) / ratio,
      top,
      left,
      this.selection.active,
    );
    context.restore();
  }

  private listen(over: HTMLElement, plot: uPlot): void {
    const indexAt = (event: PointerEvent): number =>
      Math.round(plot.posToVal(event.clientX - over.getBoundingClientRect().left, "x"));
    let scrubbing = false;
    over.addEventListener("pointerdown", (event) => {
      scrubbing = true;
      over.setPointerCapture(event.pointerId);
      this.player.seek(indexAt(event));
    });
    over.addEventListener("pointerup", () => (scrubbing = false));
    over.addEventListener("pointercancel", () => (scrubbing = false));
    over.addEventListener("pointermove", (event) => {
      if (scrubbing) this.player.seek(indexAt(event));
      this.point(event, indexAt(event), plot.posToVal(event.clientY - over.getBoundingClientRect().top, "y"));
    });
    over.addEventListener("pointerleave", () => {
      this.selection.hover(null);
      hideTooltip();
    });
  }

  private point(event: PointerEvent, index: number, height: number): void {
    const id = bandAt(this.bands, index, height),
      frame = this.timeline?.frames[index];
    this.selection.hover(id === OTHERS ? null : id);
    if (!frame || id === null || !this.timeline) return hideTooltip();
    const share =
      id === OTHERS ? "clusters too small for a band of their own" : percent(this.timeline.share(index, id));
    showTooltip(
      event.clientX,
      event.clientY,
      id === OTHERS ? "" : swatch(id, this.timeline.colours.css(id)),
      ` ${share} `,
      el("span", { class: "fine" }, `frame ${frame.frame}`),
    );
  }
}

/** The lanes of events, for the screen and for the file. */
export function drawLanes(
  pen: Pen,
  timeline: Timeline,
  x: (index: number) => number,
  top: number,
  left: number,
  active: number | null,
): void {
  const ink = inks();
  LANES.forEach((kind, lane) => {
    const y = top - 15 - LANE * (LANES.length - 1 - lane);
    pen.text(left - 8, y + 4, `${kind} ${SIGNS[kind]}`, { colour: ink.muted, size: 11, anchor: "end" });
    let before = -1,
      beside = 0;
    for (const event of timeline.events.filter((event) => event.kind === kind)) {
      // Those of one frame stand beside each other, a few of them.
      beside = event.index === before ? Math.min(beside + 1, 5) : 0;
      before = event.index;
      drawEvent(pen, timeline, event, x(event.index) + 7 * beside, y, active);
    }
  });
}

function drawEvent(
  pen: Pen,
  timeline: Timeline,
  event: StreamEvent,
  x: number,
  y: number,
  active: number | null,
): void {
  const opacity = active === null || active === event.id ? 1 : 0.15;
  pen.line(shape(event.kind, x, y, 5), true, {
    fill: timeline.colours.css(event.id),
    stroke: inks().ink,
    width: 0.8,
    opacity,
  });
}

/** uPlot's columns: frame i reaches from i - 1/2 to i + 1/2, so the last value stands twice. */
function columns(bands: Bands, length: number): uPlot.AlignedData {
  const across = Array.from({ length: length + 1 }, (_, i) => i - 0.5);
  const tops = [...bands.tops].reverse().map((top) => [...top, top[length - 1] ?? 0]);
  return [across, ...tops];
}

function mixed(colour: string, with_: string, part: number): string {
  const a = channels(colour),
    b = channels(with_);
  return `rgb(${a.map((value, i) => Math.round(value + ((b[i] ?? 0) - value) * part)).join(",")})`;
}
