import { useEffect, useRef, useState } from "preact/hooks";
import type { CollectedRefusal, Info, Settings } from "../answers.ts";
import { href } from "../hash-route.ts";
import { useFeed } from "../feed.ts";
import { Message, NoUsers, Pager, type PageProps, Table, useAnswer } from "../parts.tsx";
import { count, lasting, milliseconds } from "../text.ts";
import { Plot } from "../plot.tsx";
import { RefusalTable } from "../rules.tsx";
import { type Point, sumOf } from "../rates.ts";
import { call } from "../server.ts";

/** The page with the present state: plots, and the gateways of all pools. */
export function OverviewPage({ loggedOut, settings }: PageProps & { readonly settings: Settings }) {
  const { report_ms: reportMs } = settings;
  const { metrics, points, refusals, problem } = useFeed(reportMs, loggedOut);
  const last = points.at(-1);
  return (
    <>
      <h1>Overview</h1>
      <Message text={problem === undefined ? "" : `No newer counts: ${problem}.`} isProblem />
      <ul class="tiles" aria-label="Now">
        <Tile name="Connections" value={last?.connections} />
        <Tile name="Subscriptions" value={last?.subscriptions} />
        <Tile name="Channels with subscribers" value={last?.channels} />
        <Tile name="Publications a second" value={last?.publications} />
        <Tile name="Deliveries a second" value={last?.deliveries} />
        <Tile name="Refusals a second" value={last?.refusals} />
      </ul>
      <Plots points={points} />
      <p class="quiet">
        The plots show the past hour{points[0] !== undefined && <PastSince at={points[0].at} />}.
        The rates are means over {Math.round(reportMs / 1_000)} seconds, and over two minutes before
        the page was opened. The page asks every few seconds, as long as it is visible.
      </p>
      <NewestRefusals refusals={refusals} settings={settings} />
      {settings.users ? (
        <Gateways loggedOut={loggedOut} connections={last?.connections ?? 0} />
      ) : (
        <NoUsers />
      )}
      {metrics !== undefined && <Objects counters={metrics.counters} />}
    </>
  );
}

/** Since when the plots know something of the past hour. */
function PastSince({ at }: { readonly at: number }) {
  const since = new Date(at * 1_000);
  return (
    <>
      , from <time dateTime={since.toISOString()}>{since.toLocaleTimeString()}</time> on
    </>
  );
}

function Tile({
  name,
  value,
}: {
  readonly name: string;
  readonly value: number | null | undefined;
}) {
  return (
    <li>
      <span class="tile-value">{value === undefined || value === null ? "–" : count(value)}</span>{" "}
      {name}
    </li>
  );
}

function Plots({ points }: { readonly points: readonly Point[] }) {
  const times = points.map(({ at }) => at);
  const line = (label: string, of: (point: Point) => number | null) => ({
    label,
    values: points.map(of),
  });
  return (
    <section class="plots" aria-label="Plots">
      <Plot
        title="Connected"
        times={times}
        format={count}
        lines={[
          line("connections", (point) => point.connections),
          line("subscriptions", (point) => point.subscriptions),
        ]}
      />
      <Plot
        title="Messages a second"
        times={times}
        format={count}
        lines={[
          line("deliveries", (point) => point.deliveries),
          line("publications", (point) => point.publications),
        ]}
      />
      <Plot
        title="HTTP API: time to the answer"
        times={times}
        format={milliseconds}
        lines={[
          line("median", (point) => point.latencyMedianMs),
          line("99 %", (point) => point.latencyHighMs),
        ]}
      />
      <Plot
        title="Requests a second"
        times={times}
        format={count}
        lines={[
          line("requests", (point) => point.requests),
          line("refusals", (point) => point.refusals),
        ]}
      />
    </section>
  );
}

function NewestRefusals({
  refusals,
  settings,
}: {
  readonly refusals: readonly CollectedRefusal[];
  readonly settings: Settings;
}) {
  return (
    <section>
      <h2>Refusals</h2>
      <RefusalTable
        caption="The newest refusals"
        refusals={refusals.slice(0, refusalsShown)}
        settings={settings}
      />
      <p>
        <a href={href("refusals")}>All refusals</a>
      </p>
    </section>
  );
}

/** The gateways, a page at a time. They are asked again when connections come or go. */
function Gateways({
  loggedOut,
  connections,
}: {
  readonly loggedOut: () => void;
  readonly connections: number;
}) {
  const [cursors, setCursors] = useState<readonly string[]>([""]);
  const [called, take] = useAnswer<Info>(loggedOut);
  const askedAtMs = useRef(Number.NEGATIVE_INFINITY);
  const ask = (cursor: string) => {
    askedAtMs.current = Date.now();
    void take(call("info", { cursor, limit: 25 }));
  };
  const move = (next: readonly string[]) => {
    setCursors(next);
    ask(next.at(-1) ?? "");
  };
  useEffect(() => {
    const waitMs = Math.max(0, askedAtMs.current + askAgainMs - Date.now());
    const timer = setTimeout(() => ask(cursors.at(-1) ?? ""), waitMs);
    return () => clearTimeout(timer);
  }, [connections]);
  const { nodes: all = [], cursor: further = "", incomplete } = called.result ?? {};
  // It stands for no gateway (rule U23).
  const nodes = all.filter(({ uid }) => uid !== "edge");
  return (
    <section>
      <h2>Gateways</h2>
      <Message text={called.problem} isProblem />
      {incomplete === true && <Message text="Some objects haven't answered." isProblem />}
      <GatewayTable nodes={nodes} />
      <Pager cursors={cursors} next={further} move={move} />
    </section>
  );
}

function GatewayTable({ nodes }: Pick<Info, "nodes">) {
  return (
    <Table
      caption="Gateways that hold connections"
      heads={[
        "Gateway",
        "Region",
        "Connections",
        "Users",
        "Channels",
        "Subscriptions",
        "Awake for",
        "Release",
      ]}
    >
      {nodes.map((node) => (
        <tr key={node.uid}>
          <th scope="row">{node.name}</th>
          <td>{node.region ?? "–"}</td>
          <td class="number">{count(node.num_clients)}</td>
          <td class="number">{count(node.num_users)}</td>
          <td class="number">{count(node.num_channels)}</td>
          <td class="number">{count(node.num_subs)}</td>
          <td class="number">{lasting(node.uptime * 1_000)}</td>
          <td>{node.version}</td>
        </tr>
      ))}
      {nodes.length === 0 && (
        <tr>
          <td colSpan={8}>No gateway holds a connection.</td>
        </tr>
      )}
    </Table>
  );
}

/** The sums of the objects' work since the counts began, by their kinds. */
function Objects({ counters }: { readonly counters: Readonly<Record<string, number>> }) {
  const kinds = ["channel", "gateway"] as const;
  const of = (name: string, kind: string) => count(sumOf(counters, `${name}{kind="${kind}"}`));
  return (
    <section>
      <h2>Durable Objects</h2>
      <Table
        caption="Work of Durable Objects since the counts began, as Cloudflare bills it"
        heads={[
          "Objects of",
          "Times woken",
          "Alarms rung",
          "Calls made",
          "Rows written",
          "Seconds in memory",
        ]}
      >
        {kinds.map((kind) => (
          <tr key={kind}>
            <th scope="row">{kind === "channel" ? "channels" : "gateways"}</th>
            <td class="number">{of("dormouse_object_starts_total", kind)}</td>
            <td class="number">{of("dormouse_object_alarms_total", kind)}</td>
            <td class="number">{of("dormouse_object_calls_total", kind)}</td>
            <td class="number">{of("dormouse_object_rows_written_total", kind)}</td>
            <td class="number">{of("dormouse_object_awake_seconds_total", kind)}</td>
          </tr>
        ))}
      </Table>
    </section>
  );
}

const refusalsShown = 5;
/** Asking wakes the gateways that are shown. */
const askAgainMs = 10_000;
