/** A uPlot chart that is created once and redrawn with new data. */
import { effect, signal, type ReadonlySignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { moment, zoom } from "../state/time";
import { colour, scheme } from "./colours";
import { extent, maximum, type Curve, type Drawing } from "./drawing";

const plain = (value: number) => String(Number(value.toPrecision(4)));
const HEIGHT = 210;

/** Return the range of the horizontal axis, which is the same in all charts of a figure. */
function horizontal([low, high]: [number, number], beside: Drawing[]): [number, number] {
  const all = beside.map(extent);
  return [Math.min(low, ...all.map(([first]) => first)), Math.max(high, ...all.map(([, last]) => last))];
}

/** Return the range of a vertical axis, which is the same in all charts of a figure. `high` is the
 * visible maximum of the drawing. */
function vertical(high: number, drawing: Drawing, beside: Drawing[], right: boolean): [number, number] {
  const [first, last] = (drawing.overTime && zoom.peek()) || [-Infinity, Infinity];
  // uPlot's maximum includes the curves' next points outside the visible range.
  const most = beside.length === 0 ? high : Math.max(...[drawing, ...beside].map((one) => maximum(one, right, first, last)));
  return [0, (most || 1) * 1.05];
}

function options(
  drawing: Drawing,
  drawn: () => Drawing,
  beside: () => Drawing[],
  width: number,
  onCursor: (u: uPlot) => void,
  onDraw: () => void,
): uPlot.Options {
  const axis = { stroke: colour("--muted"), grid: { stroke: colour("--grid"), width: 1 }, ticks: { show: false } };
  const format = drawing.format ?? plain;
  const axes: uPlot.Axis[] = [
    { ...axis, label: drawing.x, labelSize: 20, size: 28, labelFont: FONT, font: FONT },
    { ...axis, label: drawing.y, labelSize: 20, size: 50, labelFont: FONT, font: FONT },
  ];
  if (drawing.right) {
    axes.push({ ...axis, side: 1, scale: "right", label: drawing.right, labelSize: 20, size: 44, grid: { show: false }, labelFont: FONT, font: FONT });
  }
  return {
    width,
    height: HEIGHT,
    legend: { live: true },
    cursor: {
      ...(drawing.overTime ? { sync: { key: "time", setSeries: false } } : {}),
      drag: { x: true, y: false, setScale: !drawing.overTime },
      points: { size: 6 },
    },
    scales: {
      x: { time: false, range: (_u, low, high) => (drawing.overTime && zoom.peek()) || horizontal(drawing.rangeX ?? [low, high], beside()) },
      y: { range: (_u, _low, high) => drawing.range ?? vertical(high, drawn(), beside(), false) },
      right: { range: (_u, _low, high) => vertical(high, drawn(), beside(), true) },
    },
    axes,
    bands: (drawing.bands ?? []).map((series) => ({ series, fill: colour("--band") })),
    series: [
      { label: drawing.x, value: (_u, v) => (v == null ? "–" : (drawing.formatX ?? plain)(v)) },
      ...drawing.curves.map((curve) => ({
        label: curve.label,
        stroke: curve.colour,
        width: curve.width ?? 1.5,
        ...(curve.right ? { scale: "right" } : {}),
        ...(curve.dash ? { dash: curve.dash } : {}),
        ...shape(curve),
        value: (_u: uPlot, v: number | null) => (v == null ? "–" : format(v)),
      })),
    ],
    hooks: {
      setCursor: [onCursor],
      draw: [onDraw],
      setSelect: [
        (u) => {
          if (drawing.overTime && u.select.width > 4) {
            zoom.value = [u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x")];
            u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          }
        },
      ],
      ready: [
        (u) => {
          if (drawing.overTime) u.over.addEventListener("dblclick", () => (zoom.value = undefined));
        },
      ],
    },
  };
}

const FONT = "12px system-ui, sans-serif";

function shape(curve: Curve): Partial<uPlot.Series> {
  switch (curve.shape) {
    case "steps":
      return { paths: uPlot.paths.stepped!({ align: 1 }), points: { show: false } };
    case "bars":
      return { paths: uPlot.paths.bars!({ size: [0.9, 20], align: 1 }), fill: curve.colour, points: { show: false } };
    case "points":
      return { paths: () => null, points: { show: true, size: curve.width ?? 3, fill: curve.colour, width: 0 } };
    default:
      return { points: { show: false }, spanGaps: true };
  }
}

/** Text that changes if a chart must be created again instead of receiving new data. */
const structure = (drawing: Drawing): string =>
  JSON.stringify({ ...drawing, data: undefined, scheme: scheme.value });

/** Show one chart. `beside` are the other charts of the figure, which have the same axes. */
export function Chart(props: {
  drawing: ReadonlySignal<Drawing | undefined>;
  beside: ReadonlySignal<Drawing | undefined>[];
  setEmpty: (empty: boolean) => void;
  setChart: (chart: uPlot | undefined) => void;
}) {
  const { drawing: drawn, beside } = props;
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | undefined>(undefined);
  const line = useRef<HTMLDivElement | undefined>(undefined);
  useEffect(() => {
    let known = "";
    let overTime = false;
    let isEmpty = true;
    let current: Drawing;
    let others: Drawing[] = [];
    // A chart outside the window is drawn when the reader scrolls to it.
    const visible = signal(false);
    const watcher = new IntersectionObserver(
      (entries) => (visible.value = entries.some((entry) => entry.isIntersecting)),
      { rootMargin: "150px" },
    );
    watcher.observe(place.current!.closest("section")!);
    const placeLine = () => {
      const [u, at] = [chart.current, moment.value];
      if (!u || !line.current) return;
      const left = at === undefined || !overTime ? -1 : u.valToPos(at, "x");
      line.current.hidden = left < 0 || left > u.over.clientWidth;
      line.current.style.left = `${left}px`;
    };
    const onCursor = (u: uPlot) => {
      // The chart under the pointer sets the time; the others only follow.
      if (overTime && u.cursor.left != null && u.cursor.left >= 0 && u.over.matches(":hover")) {
        moment.value = u.posToVal(u.cursor.left, "x");
      }
    };
    const stopDrawing = effect(() => {
      if (!visible.value && !isEmpty) return;
      const drawing = drawn.value;
      isEmpty = !drawing;
      props.setEmpty(isEmpty);
      if (!place.current || !visible.value) return;
      if (!drawing) {
        chart.current?.destroy();
        props.setChart((chart.current = undefined));
        return;
      }
      current = drawing;
      overTime = drawing.overTime;
      others = beside.flatMap((one) => one.value ?? []);
      const next = structure(drawing);
      if (chart.current && next === known) {
        chart.current.setData(drawing.data);
      } else {
        chart.current?.destroy();
        chart.current = new uPlot(options(drawing, () => current, () => others, place.current.clientWidth, onCursor, placeLine), drawing.data, place.current);
        props.setChart(chart.current);
        line.current = document.createElement("div");
        line.current.className = "moment";
        chart.current.over.append(line.current);
        known = next;
      }
    });
    const stopZoom = effect(() => {
      void zoom.value;
      if (chart.current && overTime) chart.current.setData(chart.current.data, true);
    });
    const stopMoment = effect(placeLine);
    const resize = new ResizeObserver(() => {
      const width = place.current?.clientWidth;
      if (width && chart.current && chart.current.width !== width) chart.current.setSize({ width, height: HEIGHT });
      placeLine();
    });
    resize.observe(place.current!);
    return () => {
      stopDrawing();
      stopZoom();
      stopMoment();
      resize.disconnect();
      watcher.disconnect();
      chart.current?.destroy();
      props.setChart((chart.current = undefined));
    };
  }, [drawn]);
  return <div ref={place} class="chart" />;
}
