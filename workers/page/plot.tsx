import { useEffect, useRef } from "preact/hooks";
import UPlot from "uplot";

/** One line of a plot. */
export interface PlotLine {
  readonly label: string;
  readonly values: readonly (number | null)[];
}

/** A plot of lines over time. The newest values stand beside it as text, for those who can't see it. */
export function Plot({
  title,
  times,
  lines,
  format,
}: {
  readonly title: string;
  readonly times: readonly number[];
  readonly lines: readonly PlotLine[];
  readonly format: (value: number) => string;
}) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<UPlot | undefined>(undefined);
  const data: UPlot.AlignedData = [[...times], ...lines.map(({ values }) => [...values])];
  const latest = useRef(data);
  latest.current = data;
  const labels = lines.map(({ label }) => label).join("\n");
  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const draw = () => {
      plot.current?.destroy();
      const options = optionsFor(element, labels.split("\n"), format);
      plot.current = new UPlot(options, latest.current, element);
    };
    draw();
    const resized = new ResizeObserver(() => {
      const size = { width: element.clientWidth, height: plotHeight };
      if (size.width > 0) plot.current?.setSize(size);
    });
    resized.observe(element);
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    scheme.addEventListener("change", draw);
    return () => {
      resized.disconnect();
      scheme.removeEventListener("change", draw);
      plot.current?.destroy();
      plot.current = undefined;
    };
  }, [labels, format]);
  useEffect(() => plot.current?.setData(data), [data]);
  return (
    <figure class="plot">
      <figcaption>
        <span class="plot-title">{title}</span>
        {lines.map(({ label, values }, index) => (
          <span class={`key key-${index}`} key={label}>
            {label} <b>{shown(values.at(-1), format)}</b>
          </span>
        ))}
      </figcaption>
      <div ref={place} aria-hidden="true" />
    </figure>
  );
}

function shown(value: number | null | undefined, format: (value: number) => string): string {
  return value === undefined || value === null ? "–" : format(value);
}

function optionsFor(
  element: HTMLElement,
  labels: readonly string[],
  format: (value: number) => string,
): UPlot.Options {
  const style = getComputedStyle(element);
  const color = (name: string) => style.getPropertyValue(name).trim();
  const axis = {
    stroke: color("--quiet"),
    grid: { stroke: color("--line"), width: 1 },
    ticks: { stroke: color("--line"), width: 1, size: 4 },
    font: "11px system-ui",
  };
  return {
    width: Math.max(element.clientWidth, 50),
    height: plotHeight,
    legend: { show: false },
    cursor: { show: false },
    scales: { y: { range: (_plot, _min, max) => [0, Math.max(max * 1.15, 1)] } },
    axes: [
      { ...axis, space: 80, size: 30, values: (plot, ticks) => clocks(plot, ticks) },
      { ...axis, size: 52, values: (_plot, ticks) => ticks.map(format) },
    ],
    series: [
      {},
      ...labels.map((label, index) => ({
        label,
        stroke: color(`--series-${index}`),
        fill: index === 0 ? color("--series-fill") : "transparent",
        width: 1.75,
        points: { show: false },
      })),
    ],
  };
}

/** The times at an axis: none before there are two points, which make a scale. */
function clocks(plot: UPlot, ticks: readonly number[]): string[] {
  const hasScale = (plot.data[0]?.length ?? 0) > 1;
  return ticks.map((seconds) => (hasScale ? clock(seconds) : ""));
}

function clock(seconds: number): string {
  return new Date(seconds * 1_000).toLocaleTimeString();
}

const plotHeight = 160;
