import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { curveChart } from "../../../bench/results/curve-chart.ts";
import type { Curve } from "../../../bench/results/curve.ts";
import { dollars, figure } from "../../../bench/results/figure.ts";
import { markdownTable } from "../../../bench/results/table.ts";
import { type Bill, billOf } from "../../../cli/cost/bill.ts";
import { limits } from "../../../src/limits.ts";
import { costsMs } from "./measured-costs.ts";
import { placeNames, places } from "./places.ts";
import {
  awayMs,
  coarseWeight,
  manyClients,
  type RatedOutcome,
  rates,
  type StandResults,
} from "./results.ts";
import type { Outcome, Return } from "./scenarios.ts";

/** Writes the page and its charts into docs/performance. */
export function writePage(results: StandResults): void {
  for (const [name, text] of pageFiles(results)) writeFileSync(join(folder, name), text);
}

/** The page and its charts, by the names of their files. */
export function pageFiles(results: StandResults): ReadonlyMap<string, string> {
  const charts = curves(results).map((curve): [string, string] => [
    `${curve.name}.svg`,
    curveChart(curve),
  ]);
  return new Map([["scale.md", page(results)], ...charts]);
}

const folder = join(import.meta.dirname, "../../../docs/performance");

function page(results: StandResults): string {
  return `<!-- npm run stand writes this file. -->

# A million connections, on a stand

\`npm run stand\` runs the real objects of \`src\` in simulated time, with a million connections on 200 gateways and a
network between continents, and counts. Nothing here was measured on Cloudflare. With the same seed (${results.seed}) it
writes the same page.

${answers(results)}

## What is real, and what is counted

| Part | |
| --- | --- |
| channel objects, gateways, the directory, the relay between them, recovery, rows in SQLite, alarms | real: the code that a Worker runs. Every call between objects is made |
| connections | real sessions on the real gateway. Each stands for 25 clients (${coarseWeight} from ${figure(manyClients)} on, one where each has a channel of its own) that do the same at the same time; it takes the thread for as many, and counts as many. The hub's bounds are divided by as many. With a session for each client a small run counts the same |
| each object's thread | simulated: an event takes as long as the bench measured (\`test/verification/stand/measured-costs.ts\` names the page of each figure), and the next one waits. A frame takes 31 µs a socket, a call 0.2 ms at each end, a commit 0.25 ms, a client that comes back 0.91 ms |
| the network between places | the medians between Azure's regions of 2026-07-30, as Cloudflare publishes none (\`test/verification/stand/places.ts\`) |
| how connections are spread | assumed: ${placeNames.map((place) => `${figure(places[place].share * 100)} % ${place}`).join(", ")}; 5 to 40 ms between a client and its gateway; the channel's object and the backend in \`na\` |
| a commit | assumed: 10 ms until it is durable, as in [cost.md](cost.md) |
| clients | counted: they connect without a token, and so have no home ([users.md](../users.md) has what homes cost). They come back with the backoff of centrifuge-js, and give up on a reply after its 5 s |
| what isn't there | the Worker in front, TLS, memory, slow readers, the bandwidth of a gateway's machine, lost packets, and the platform's soft limit of 1,000 requests a second to one object |

## One channel

Publications have 100 bytes of data and a history. The bill is without what $5 a month include. Bytes are those of frames.

${rateTable(results.oneChannel.filter(({ outcome }) => outcome.clients === 1_000_000))}

${curves(results)
  .map(({ title, name }) => `![${title}](${name}.svg)`)
  .join("\n\n")}

${sizeRows(results.oneChannel)}

A thread with a share of 1 has no time left. A gateway doesn't fail then: what comes while a frame is on its way shares the
next frame, and the channel's object waits with its next call for the gateway's answer.

With 1,000 connections on each gateway instead of 5,000 (\`client.connection_limit\`), 500,000 subscribers take five times
the calls:

${sizeRows(results.smallGateways)}

## Where one thread doesn't bear it

${bends(results)}

## A million channels with one subscriber each

${manyText(results.manyChannels)}

## A deploy that cuts everybody

All objects lose their memory and all 1,000,000 connections at once, while a backend publishes once a second.

${returnTable([
  ["5,000 on a gateway", results.deploy],
  ["2,500 on a gateway", results.deployHalf],
])}

Each gateway registers with the channel once, and what its clients have missed is read for many of them together:
${requestText(results.deploy.outcome)}. Letting 5,000 clients in again takes a gateway's thread ${seconds(5_000 * costsMs.comingBack)}, and they come
within a second. A client of centrifuge-js gives up after 5 s without a
reply, so more connections or a slower machine would have clients come twice.

## A place goes away

All gateways of \`eu\` are unreachable for ${figure(awayMs / 1_000)} s, with 300,000 connections. Then the platform runs them
in \`na\`, with no memory. How long the platform takes for that is assumed.

${returnTable([["", results.placeGone]])}

The other places aren't delayed: their last client has the slowest publication after ${ms(results.placeGone.outcome.lastUncutMs)}. A
gateway that doesn't answer keeps its own next call waiting, and nobody else's. ${figure(results.placeGone.outcome.counts.callsFailed)} calls failed. If the place of the
channel's own object goes away, publishing fails until the platform runs the object elsewhere, which no code of ours
changes.
`;
}

function answers(results: StandResults): string {
  const at = (perSecond: number): Outcome => outcomeOf(results, perSecond, 1_000_000);
  const [one, ten, hundred] = rates.map(at);
  if (one === undefined || ten === undefined || hundred === undefined) return "";
  const { backMs } = results.deploy;
  return [
    `- One channel with a million subscribers: the last one has a publication after ${ms(one.lastMedianMs)} at 1 a second, ${ms(ten.lastMedianMs)} at 10 and ${ms(hundred.lastMedianMs)} at 100. The channel's thread is used to ${percent(one.channelShare)}, ${percent(ten.channelShare)} and ${percent(hundred.channelShare)}, the busiest gateway's to ${percent(one.gatewayShare)}, ${percent(ten.gatewayShare)} and ${percent(hundred.gatewayShare)}.`,
    `- After a deploy half of a million clients are back after ${seconds(backMs.half)}, 99 of 100 after ${seconds(backMs.p99)}, the last one after ${seconds(backMs.last)}. ${results.deploy.unrecovered === 0 ? "All of them recovered what they had missed." : `${figure(results.deploy.unrecovered)} couldn't recover what they had missed.`}`,
    `- The first bound is that of gateways: a channel has at most ${limits.relayGatewaysMax}, which hold ${figure(limits.relayGatewaysMax * limits.connectionsDefault)} connections.`,
  ].join("\n");
}

function rateTable(rated: readonly RatedOutcome[]): string {
  const heads = ["a million subscribers", ...rated.map(({ perSecond }) => `${perSecond} a second`)];
  const row = (name: string, cell: (outcome: Outcome) => string): readonly string[] => [
    name,
    ...rated.map(({ outcome }) => cell(outcome)),
  ];
  const rows = [
    row(
      "calls between objects a second",
      each(({ counts }) => counts.callsMade),
    ),
    row(
      "rows written a second",
      each(({ counts }) => counts.rowsWritten),
    ),
    row(
      "alarms set a second",
      each(({ counts }) => counts.alarmsSet),
    ),
    row(
      "frames sent a second",
      each(({ counts }) => counts.framesSent),
    ),
    row(
      "MB sent to clients a second",
      each(({ counts }) => counts.bytesSent / 1e6),
    ),
    row(
      "kB between objects a second",
      each(({ counts }) => counts.callBytes / 1e3),
    ),
    row("share of the channel's thread", ({ channelShare }) => percent(channelShare)),
    row("share of the busiest gateway's thread", ({ gatewayShare }) => percent(gatewayShare)),
    row("half of the deliveries after", ({ halfMs }) => ms(halfMs)),
    row("99 of 100 after", ({ p99Ms }) => ms(p99Ms)),
    row("the last one, of the median publication", ({ lastMedianMs }) => ms(lastMedianMs)),
    row("the last one, of the slowest", ({ lastMs }) => ms(lastMs)),
    row("publications that all have", ({ complete, published }) => `${complete} of ${published}`),
    row("the bill of an hour", (outcome) => dollars(hourly(outcome))),
    row("the bill of a million deliveries", (outcome) =>
      dollars((billed(outcome).total / (outcome.published * outcome.clients)) * 1e6),
    ),
  ];
  return markdownTable({ heads, rows, right: rated.map((_, index) => index + 1) });
}

/** Gives a count by the second. */
function each(count: Measured): (outcome: Outcome) => string {
  return (outcome) => figure(count(outcome) / outcome.seconds);
}

function sizeRows(rated: readonly RatedOutcome[]): string {
  const heads = [
    "publications a second",
    "subscribers",
    "gateways",
    "calls a second",
    "channel's thread",
    "busiest gateway's",
    "last one, median",
    "last one, slowest",
    "an hour",
  ];
  const rows = rated.map(({ perSecond, outcome }) => [
    figure(perSecond),
    figure(outcome.clients),
    figure(outcome.gateways),
    figure(outcome.counts.callsMade / outcome.seconds),
    percent(outcome.channelShare),
    percent(outcome.gatewayShare),
    ms(outcome.lastMedianMs),
    ms(outcome.lastMs),
    dollars(hourly(outcome)),
  ]);
  return markdownTable({ heads, rows, right: [0, 1, 2, 3, 4, 5, 6, 7, 8] });
}

function bends({ oneChannel, smallGateways }: StandResults): string {
  const most = smallGateways.reduce((one, other) =>
    other.outcome.channelShare > one.outcome.channelShare ? other : one,
  );
  const full = oneChannel.filter(({ outcome }) => outcome.channelShare >= fullShare);
  const busiest = oneChannel.reduce((one, other) =>
    other.outcome.channelShare > one.outcome.channelShare ? other : one,
  );
  const { outcome, perSecond } = busiest;
  const first = full.toSorted((one, other) => one.outcome.clients - other.outcome.clients)[0];
  const channel =
    first === undefined
      ? `**The channel's object** isn't at its end at any of these sizes. It is used most with ${figure(outcome.clients)} subscribers and ${figure(perSecond)} publications a second: ${percent(outcome.channelShare)}. It makes at most one call at a time to each gateway, and a gateway answers once its frame is nearly sent, so more publications make the calls larger and not more. What it takes is decided by its gateways: ${figure(most.outcome.gateways)} of them, with 1,000 connections each and time for each frame, take ${percent(most.outcome.channelShare)} at ${figure(most.perSecond)} a second.`
      : `**The channel's object** is at its end with ${figure(first.outcome.clients)} subscribers at ${figure(first.perSecond)} publications a second.`;
  return `${channel}

**A gateway** with 5,000 subscribers of the channel sends a frame to all of them in ${ms(5_000 * costsMs.frame)}, so ${figure(1 / (5 * costsMs.frame))} frames a second
are its end, whether the channel has 5,000 subscribers or a million. More publications share frames: nothing is lost, and a
delivery waits for up to two frames. Who needs less sets \`client.connection_limit\` lower, and pays with a call for
each further gateway.

**The bound of ${limits.relayGatewaysMax} gateways** comes before the end of the channel's thread, and not long before it if gateways are small. A client on a further gateway is answered 111 and
tries again. Beyond it, ${figure(limits.relayGatewaysMax * limits.connectionsDefault)} subscribers by default, we would build a tree of relays: the channel calls one gateway of
each place, which passes the batch on to those near it. That divides the channel's calls by the gateways of a place, and adds
a hop within the place. It isn't built, because the channel's object doesn't reach its end below 250,000 subscribers.`;
}

function manyText({ outcome, perSecond }: RatedOutcome): string {
  const { counts, published, clients, gateways } = outcome;
  const mean = (count: number): string => figure(count / published);
  const bill = billed(outcome).total / published;
  return `The channels have nothing in common but their gateways, so ${figure(clients)} of them on ${gateways} gateways were run, with
${figure(perSecond)} publications a second, and the counts are those of a publication. Each channel's object is near its subscriber, and the backend in
\`na\`. A channel that is published to less often than each 8 s sets two alarms for a publication: one that covers a crash (rule
L4), and after that the one at which the stream expires.

| a publication | |
| --- | ---: |
| calls between objects | ${mean(counts.callsMade)} |
| rows written | ${mean(counts.rowsWritten)} |
| alarms set, with those of pings | ${mean(counts.alarmsSet)} |
| bytes between objects | ${mean(counts.callBytes)} |
| seconds awake, of all objects | ${mean(counts.awakeSeconds)} |
| half of them delivered after | ${ms(outcome.halfMs)} |
| the last one after | ${ms(outcome.lastMs)} |
| share of the busiest gateway's thread | ${percent(outcome.gatewayShare)} |
| the bill of a million publications | ${dollars(bill * 1e6)} |`;
}

function returnTable(named: readonly (readonly [string, Return])[]): string {
  const row = (name: string, cell: (back: Return) => string): readonly string[] => [
    name,
    ...named.map(([, back]) => cell(back)),
  ];
  const rows = [
    row("half are back after", ({ backMs }) => seconds(backMs.half)),
    row("99 of 100", ({ backMs }) => seconds(backMs.p99)),
    row("the last one", ({ backMs }) => seconds(backMs.last)),
    row(
      "attempts to connect",
      counted(({ connects }) => connects),
    ),
    row(
      "attempts given up after 5 s",
      counted(({ timeouts }) => timeouts),
    ),
    row(
      "clients that recovered what they had missed",
      counted(({ recovered }) => recovered),
    ),
    row(
      "clients that couldn't",
      counted(({ unrecovered }) => unrecovered),
    ),
    row(
      "publications that all have in the end",
      ({ outcome }) => `${outcome.complete} of ${outcome.published}`,
    ),
    row(
      "calls between objects",
      counted(({ outcome }) => outcome.counts.callsMade),
    ),
    row(
      "rows written",
      counted(({ outcome }) => outcome.counts.rowsWritten),
    ),
    row(
      "alarms set",
      counted(({ outcome }) => outcome.counts.alarmsSet),
    ),
    row(
      "messages from clients",
      counted(({ outcome }) => outcome.counts.messagesTaken),
    ),
    row("share of the busiest gateway's thread in the first 10 s", (back) =>
      percent(back.gatewayShareAtFirst),
    ),
    row("share of the channel's thread in the first 10 s", (back) =>
      percent(back.channelShareAtFirst),
    ),
    row("the bill of these two minutes", ({ outcome, connects }) =>
      dollars(billed(outcome, connects).total),
    ),
  ];
  const heads = ["", ...named.map(([name]) => name)];
  return markdownTable({ heads, rows, right: named.map((_, index) => index + 1) });
}

/** Gives a count as a cell. */
function counted(count: (back: Return) => number): (back: Return) => string {
  return (back) => figure(count(back));
}

function requestText({ requests, gateways }: Outcome): string {
  const { follow = 0, recover = 0 } = requests;
  return `${figure(follow)} registrations of ${gateways} gateways, and ${figure(recover)} reads`;
}

/** A chart for each figure that depends on the size. */
function curves({ oneChannel }: StandResults): readonly Curve[] {
  const curve = (name: string, title: string, upward: string, value: Measured): Curve => ({
    name: `scale-${name}`,
    title: `scale: ${title}`,
    across: "subscribers",
    upward,
    lines: rates.map((perSecond, index) => ({
      system: looks[index] ?? "channel",
      label: `${perSecond} a second`,
      marks: oneChannel
        .filter((rated) => rated.perSecond === perSecond)
        .map(({ outcome }) => {
          const median = value(outcome);
          return { value: outcome.clients, spread: { median, least: median, most: median } };
        }),
    })),
  });
  return [
    curve("last-over-subscribers", "until the last one has it", "ms", (one) => one.lastMedianMs),
    curve("channel-over-subscribers", "the channel's thread", "share", (one) => one.channelShare),
    curve(
      "gateway-over-subscribers",
      "the busiest gateway's thread",
      "share",
      (one) => one.gatewayShare,
    ),
  ];
}

type Measured = (outcome: Outcome) => number;

function outcomeOf({ oneChannel }: StandResults, perSecond: number, clients: number): Outcome {
  const found = oneChannel.find(
    (rated) => rated.perSecond === perSecond && rated.outcome.clients === clients,
  );
  if (found === undefined) throw new Error(`nothing was counted with ${clients} at ${perSecond}`);
  return found.outcome;
}

/** @param connects attempts to connect, each a request to the Worker and one to an object */
function billed({ counts, published, refused }: Outcome, connects = 0): Bill {
  return billOf({
    workerRequests: published + refused + connects,
    objectRequests: published + refused + connects,
    callsBetweenObjects: counts.callsMade,
    incomingMessages: counts.messagesTaken,
    awakeSeconds: counts.awakeSeconds,
    rowsWritten: counts.rowsWritten,
    rowsRead: counts.rowsRead,
    alarmsSet: counts.alarmsSet,
    alarmsRung: counts.alarmsRung,
  });
}

function hourly(outcome: Outcome): number {
  return (billed(outcome).total / outcome.seconds) * 3_600;
}

function percent(share: number): string {
  return `${figure(Math.round(share * 1_000) / 10)} %`;
}

function ms(value: number): string {
  return `${figure(Math.round(value))} ms`;
}

function seconds(value: number): string {
  return `${figure(Math.round(value / 100) / 10)} s`;
}

const looks = ["channel", "gateway", "ws"] as const;
/** From here on a thread has no time left. */
const fullShare = 0.95;
