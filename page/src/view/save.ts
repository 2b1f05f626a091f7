/** Files that the reader saves: figures and tables. */
import uPlot from "uplot";
import { colour } from "./colours";
import type { Table } from "../results/result";

/** Save a file. */
export function save(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

const fileName = (title: string) => title.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");

/** Return a table as CSV text. A missing value is empty. */
export function csv(table: Table): string {
  const columns = Object.entries(table.columns);
  const quoted = (text: string) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const value = (of: Table["columns"][string], row: number) => {
    const number = of.values[row] ?? Number.NaN;
    return of.names.length > 0 ? quoted(of.names[number] ?? "") : Number.isNaN(number) ? "" : String(number);
  };
  const lines = [columns.map(([name]) => name).join(",")];
  for (let row = 0; row < table.rows; row++) lines.push(columns.map(([, of]) => value(of, row)).join(","));
  return `${lines.join("\n")}\n`;
}

/** Save a chart as PNG or SVG. */
export function saveImage(chart: uPlot, title: string, format: "png" | "svg"): void {
  if (format === "svg") {
    save(`${fileName(title)}.svg`, new Blob([svg(chart, title)], { type: "image/svg+xml" }));
    return;
  }
  const canvas = document.createElement("canvas");
  const head = 28 * uPlot.pxRatio;
  [canvas.width, canvas.height] = [chart.ctx.canvas.width, chart.ctx.canvas.height + head];
  const context = canvas.getContext("2d")!;
  context.fillStyle = colour("--panel");
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = colour("--text");
  context.font = `${14 * uPlot.pxRatio}px system-ui, sans-serif`;
  context.fillText(title, 12 * uPlot.pxRatio, 19 * uPlot.pxRatio);
  context.drawImage(chart.ctx.canvas, 0, head);
  canvas.toBlob((blob) => blob && save(`${fileName(title)}.png`, blob));
}

const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
const position = (value: number) => value.toFixed(1);

/** Return a chart as SVG: its axes, its curves and the names of the curves. */
function svg(chart: uPlot, title: string): string {
  const ratio = uPlot.pxRatio;
  const box = { left: chart.bbox.left / ratio, top: chart.bbox.top / ratio + 28, width: chart.bbox.width / ratio, height: chart.bbox.height / ratio };
  const place = (x: number, y: number, scale: string) =>
    [box.left + chart.valToPos(x, "x"), box.top + chart.valToPos(y, scale)].map(position).join(",");
  const pointsOf = (curve: number) => {
    const values = chart.data[curve]!;
    return [...chart.data[0]]
      .map((x, row): [number, number | null | undefined] => [x, values[row]])
      .filter((point): point is [number, number] => point[1] != null && Number.isFinite(point[1]))
      .map(([x, y]) => place(x, y, chart.series[curve]!.scale ?? "y"));
  };
  // The types of uPlot lack this member of a chart.
  const { bands: ofSeeds } = chart as unknown as { bands: uPlot.Band[] };
  const bands = ofSeeds.map(({ series: [high, low] }) =>
    `<polygon fill="${colour("--band")}" points="${[...pointsOf(high), ...pointsOf(low).reverse()].join(" ")}"/>`);
  const isVisible = (series: uPlot.Series) => series.show && series.width !== 0;
  const curves = chart.series.slice(1).map((series, i) => {
    if (!isVisible(series)) return "";
    const points = pointsOf(i + 1);
    const stroke = String(typeof series.stroke === "function" ? series.stroke(chart, i + 1) : series.stroke);
    const isPoints = series.points?.show === true;
    if (isPoints) return points.map((p) => `<circle cx="${p.split(",")[0]}" cy="${p.split(",")[1]}" r="1.2" fill="${stroke}"/>`).join("");
    const dash = series.dash ? ` stroke-dasharray="${series.dash.join(" ")}"` : "";
    return `<polyline fill="none" stroke="${stroke}" stroke-width="${series.width ?? 1}"${dash} points="${points.join(" ")}"/>`;
  });
  const ticks = (["x", "y"] as const).flatMap((scale) => {
    const { min = 0, max = 1 } = chart.scales[scale]!;
    return [0, 1, 2, 3, 4].map((n) => {
      const value = min! + ((max! - min!) * n) / 4;
      const label = String(Number(value.toPrecision(3)));
      const [x, y] = place(scale === "x" ? value : chart.scales["x"]!.min!, scale === "y" ? value : chart.scales["y"]!.min!, "y").split(",").map(Number);
      return scale === "x"
        ? `<text x="${x}" y="${y! + 14}" text-anchor="middle">${label}</text>`
        : `<text x="${x! - 4}" y="${y! + 4}" text-anchor="end">${label}</text>`;
    });
  });
  const names = chart.series.slice(1).filter((series) => isVisible(series) && series.label).map((series) => {
    const stroke = String(typeof series.stroke === "function" ? series.stroke(chart, chart.series.indexOf(series)) : series.stroke);
    return `<tspan fill="${stroke}" dx="12">${escaped(String(series.label))}</tspan>`;
  });
  const width = chart.width;
  const height = chart.height + 56;
  const labels = chart.axes.slice(0, 2).map((axis) => escaped(String(axis.label ?? "")));
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="sans-serif" font-size="11" fill="${colour("--muted")}">
<rect width="100%" height="100%" fill="${colour("--panel")}"/>
<text x="12" y="19" font-size="14" fill="${colour("--text")}">${escaped(title)}</text>
<rect x="${box.left}" y="${box.top}" width="${box.width}" height="${box.height}" fill="none" stroke="${colour("--grid")}"/>
<clipPath id="box"><rect x="${box.left}" y="${box.top}" width="${box.width}" height="${box.height}"/></clipPath>
<g clip-path="url(#box)">${[...bands, ...curves].join("\n")}</g>
${ticks.join("")}
<text x="${box.left + box.width / 2}" y="${box.top + box.height + 30}" text-anchor="middle">${labels[0]}</text>
<text transform="translate(12 ${box.top + box.height / 2}) rotate(-90)" text-anchor="middle">${labels[1]}</text>
<text x="0" y="${height - 8}">${names.join("")}</text>
</svg>`;
}
