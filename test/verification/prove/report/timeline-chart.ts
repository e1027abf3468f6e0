import { faultKinds } from "../faults/fault-kind.ts";
import type { RunTimeline } from "./run-timeline.ts";

/**
 * A run over time as SVG: publications delivered in each second, and below them a row of marks for each kind of fault.
 */
export function timelineChart(timeline: RunTimeline): string {
  const seconds = Math.max(timeline.deliveries.length, 1);
  const kinds = faultKinds
    .map(({ kind }) => kind)
    .filter((kind) => timeline.faults.some((fault) => fault.kind === kind));
  const height = chartHeight + 24 + kinds.length * rowHeight + 18;
  const x = (second: number): string => (left + (second / seconds) * (width - left)).toFixed(1);
  const rows = kinds.map((kind, index) =>
    faultRow(timeline, kind, chartHeight + 24 + index * rowHeight, x),
  );
  return `<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="Deliveries and faults over time">
${curve(timeline.deliveries, x)}
${rows.join("\n")}
${axis(seconds, height, x)}
</svg>`;
}

/** Each point is the mean of the seconds that one pixel covers. */
function curve(deliveries: readonly number[], x: (second: number) => string): string {
  const step = Math.max(1, Math.ceil(deliveries.length / (width - left)));
  const means: number[] = [];
  for (let from = 0; from < deliveries.length; from += step) {
    const part = deliveries.slice(from, from + step);
    means.push(part.reduce((sum, count) => sum + count, 0) / part.length);
  }
  const most = Math.max(...means, 1);
  const points = means.map((mean, index) => {
    const y = (chartHeight - (mean / most) * (chartHeight - 14)).toFixed(1);
    return `${x(index * step)},${y} ${x(Math.min((index + 1) * step, deliveries.length))},${y}`;
  });
  return `<text x="0" y="12">${Math.round(most).toLocaleString("en-US")}/s</text>
<text x="0" y="${chartHeight}">0</text>
<polygon class="deliveries" points="${left},${chartHeight} ${points.join(" ")} ${width},${chartHeight}"/>`;
}

function faultRow(
  timeline: RunTimeline,
  kind: string,
  y: number,
  x: (second: number) => string,
): string {
  const marks = timeline.faults
    .filter((fault) => fault.kind === kind)
    .map(({ from, to }) => {
      const begin = (from - timeline.from) / 1_000_000;
      const long = Number(x((to - timeline.from) / 1_000_000)) - Number(x(begin));
      return `<rect x="${x(begin)}" y="${y}" width="${Math.max(long, 1).toFixed(1)}" height="${rowHeight - 4}"/>`;
    });
  return `<text x="0" y="${y + rowHeight - 6}">${kind}</text><g class="fault">${marks.join("")}</g>`;
}

function axis(seconds: number, height: number, x: (second: number) => string): string {
  const step = axisSteps.find((each) => seconds / each <= 12) ?? 3_600;
  const marks: string[] = [];
  for (let second = 0; second <= seconds; second += step) {
    marks.push(`<text x="${x(second)}" y="${height - 2}">${second} s</text>`);
  }
  return marks.join("");
}

const width = 960;
/** The x coordinate where names end and time begins. */
const left = 110;
const chartHeight = 160;
const rowHeight = 16;
const axisSteps = [1, 5, 10, 30, 60, 120, 300, 600] as const;
