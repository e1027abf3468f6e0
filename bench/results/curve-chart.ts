import type { Curve, CurveLine } from "./curve.ts";
import { figure } from "./figure.ts";
import { type Scale, scaleFor } from "./scale.ts";
import { lookOf } from "./shown-system.ts";

/**
 * A curve as SVG without external resources: a line through each system's medians, with a bar from the minimum to the
 * maximum of its rounds. Its background is white, so that it is readable on a dark page too.
 */
export function curveChart(curve: Curve): string {
  const marks = curve.lines.flatMap((line) => line.marks);
  const across = scaleFor(marks.map(({ value }) => value));
  const upward = scaleFor(marks.flatMap(({ spread }) => [spread.least, spread.most]));
  const values = [...new Set(marks.map(({ value }) => value))].sort((left, right) => left - right);
  const x = (value: number): number => left + across.place(value) * (right - left);
  const y = (value: number): number => bottom - upward.place(value) * (bottom - top);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(curve.title)}" font-family="system-ui, sans-serif" font-size="12">
<rect width="${width}" height="${height}" fill="#ffffff"/>
<text x="${left}" y="22" font-size="15" font-weight="600" fill="${ink}">${escaped(curve.title)}</text>
${upwardAxis(upward, curve.upward, y)}
${acrossAxis(values, across, curve.across, x)}
${curve.lines.map((line) => drawnLine(line, x, y)).join("\n")}
${curve.lines.map((line, index) => legendEntry(line, index)).join("\n")}
</svg>
`;
}

function upwardAxis(scale: Scale, title: string, y: Position): string {
  const ticks = scale.ticks.map((tick) => {
    const height = place(y(tick));
    return `<line x1="${left}" x2="${right}" y1="${height}" y2="${height}" stroke="${faint}"/><text x="${left - 6}" y="${place(y(tick) + 4)}" text-anchor="end" fill="${ink}">${figure(tick)}</text>`;
  });
  const middle = (top + bottom) / 2;
  const name = `<text transform="rotate(-90)" x="${-middle}" y="14" text-anchor="middle" fill="${ink}">${escaped(titled(title, scale))}</text>`;
  return [...ticks, name].join("\n");
}

/** The ticks are the measured values: a line says nothing between them. */
function acrossAxis(values: readonly number[], scale: Scale, title: string, x: Position): string {
  const ticks: string[] = [];
  let end = Number.NEGATIVE_INFINITY;
  for (const value of values) {
    const text = figure(value);
    const half = (text.length * digitWidth) / 2;
    ticks.push(tickMark(x(value)));
    if (x(value) - half < end) continue;
    end = x(value) + half + digitWidth;
    ticks.push(
      `<text x="${place(x(value))}" y="${bottom + 18}" text-anchor="middle" fill="${ink}">${text}</text>`,
    );
  }
  const middle = (left + right) / 2;
  return `<line x1="${left}" x2="${right}" y1="${bottom}" y2="${bottom}" stroke="${ink}"/>
${ticks.join("")}
<text x="${middle}" y="${bottom + 38}" text-anchor="middle" fill="${ink}">${escaped(titled(title, scale))}</text>`;
}

function tickMark(x: number): string {
  return `<line x1="${place(x)}" x2="${place(x)}" y1="${bottom}" y2="${bottom + 4}" stroke="${ink}"/>`;
}

function titled(title: string, { isLogarithmic }: Scale): string {
  return isLogarithmic ? `${title} (log)` : title;
}

function drawnLine({ system, marks }: CurveLine, x: Position, y: Position): string {
  const { colour, dashes } = lookOf(system);
  const points = marks.map(({ value, spread }) => `${place(x(value))},${place(y(spread.median))}`);
  const bars = marks.map(({ value, spread }) => {
    const at = place(x(value));
    const dot = `<circle cx="${at}" cy="${place(y(spread.median))}" r="3"/>`;
    if (spread.least === spread.most) return dot;
    return `${dot}<line x1="${at}" x2="${at}" y1="${place(y(spread.least))}" y2="${place(y(spread.most))}" stroke-width="1.5"/>`;
  });
  return `<g data-system="${escaped(system)}" stroke="${colour}" fill="${colour}"><polyline points="${points.join(" ")}" fill="none" stroke-width="2"${dashed(dashes)}/>${bars.join("")}</g>`;
}

function legendEntry({ system, label = system }: CurveLine, index: number): string {
  const { colour, dashes } = lookOf(system);
  const y = top + 6 + index * 20;
  return `<line x1="${right + 16}" x2="${right + 40}" y1="${y}" y2="${y}" stroke="${colour}" stroke-width="2"${dashed(dashes)}/><text x="${right + 46}" y="${y + 4}" fill="${ink}">${escaped(label)}</text>`;
}

function dashed(dashes: string): string {
  return dashes === "" ? "" : ` stroke-dasharray="${dashes}"`;
}

/** A tenth of a pixel is finer than the eye resolves. */
function place(position: number): string {
  return String(Math.round(position * 10) / 10);
}

function escaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

type Position = (value: number) => number;

const width = 760;
const height = 380;
const left = 84;
/** Where the legend begins. */
const right = 576;
const top = 42;
const bottom = 326;
const digitWidth = 7;
const ink = "#222222";
const faint = "#dddddd";
