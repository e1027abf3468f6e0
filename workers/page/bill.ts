/** What today and the last hour cost on Cloudflare, by the counts; docs/performance.md has the formula. */
import { planIncludes, prices } from "../../cli/cost/prices.ts";
import type { SeriesValues } from "./answers.ts";
import { labelsOf, sumOf } from "./rates.ts";

/** One line of the bill. */
interface BillLine {
  readonly what: string;
  readonly amount: number;
  /** Of one, and of several. */
  readonly unit: string;
  readonly units: string;
  readonly dollars: number;
  /** Of one, in dollars. */
  readonly price: number;
  /** How many the plan includes a month. */
  readonly included: number;
}

/** The share of a namespace: "" for channels without one. */
interface NamespaceShare {
  readonly namespace: string;
  readonly publications: number;
  readonly deliveries: number;
  readonly dollars: number;
}

export interface Bill {
  readonly lines: readonly BillLine[];
  readonly dollars: number;
  readonly namespaces: readonly NamespaceShare[];
}

/** The bill for what was counted between two states. */
export function billBetween(before: SeriesValues, now: SeriesValues): Bill {
  const added = (name: string): number => Math.max(0, sumOf(now, name) - sumOf(before, name));
  const requests = added("centrifugo_node_incoming_http_requests_total");
  const commands = added("dormouse_client_commands_total");
  const alarms = added("dormouse_object_alarms_total");
  const calls = added("dormouse_object_calls_total") + alarms;
  const toObjects = requests + calls + commands / prices.incomingMessagesPerRequest;
  const awakeSeconds = added("dormouse_object_awake_seconds_total");
  // Each alarm that rang was set, which counts as a row.
  const rows = added("dormouse_object_rows_written_total") + alarms;
  const lines = [
    line(
      "Requests to the Worker",
      requests,
      ["request", "requests"],
      prices.workerRequest,
      planIncludes.workerRequests,
    ),
    line(
      "Requests to objects",
      toObjects,
      ["request", "requests"],
      prices.objectRequest,
      planIncludes.objectRequests,
    ),
    line(
      "Objects awake",
      awakeSeconds * prices.objectGigabytes,
      ["GB-s", "GB-s"],
      prices.gigabyteSecond,
      planIncludes.gigabyteSeconds,
    ),
    line("Rows written", rows, ["row", "rows"], prices.rowWritten, planIncludes.rowsWritten),
  ];
  const dollars = lines.reduce((sum, one) => sum + one.dollars, 0);
  return { lines, dollars, namespaces: sharesOf(before, now, dollars) };
}

function line(
  what: string,
  amount: number,
  [unit, units]: readonly [string, string],
  price: number,
  includedAmount: number,
): BillLine {
  return { what, amount, unit, units, dollars: amount * price, price, included: includedAmount };
}

/** What a month would cost in which each hour is like those that were counted, beyond what the plan includes. */
export function monthlyDollars({ lines }: Bill, hours: number): number {
  return lines.reduce((sum, { amount, price, included: free }) => {
    const ofMonth = (amount / hours) * hoursOfMonth;
    return sum + Math.max(0, ofMonth - free) * price;
  }, 0);
}

/** What a day costs beyond its part of what the plan includes for a month. */
export function dollarsBeyondPlan({ lines }: Bill): number {
  return lines.reduce((sum, { amount, price, included: free }) => {
    return sum + Math.max(0, amount - (free * 24) / hoursOfMonth) * price;
  }, 0);
}

const hoursOfMonth = 730;

/** The namespaces by their shares: half by publications, which cost rows, and half by deliveries, which cost time. */
function sharesOf(
  before: SeriesValues,
  now: SeriesValues,
  dollars: number,
): readonly NamespaceShare[] {
  const publications = byNamespace(before, now, "centrifugo_node_messages_sent_count");
  const deliveries = byNamespace(before, now, "dormouse_deliveries_total");
  const [allPublications, allDeliveries] = [total(publications), total(deliveries)];
  const halves = Number(allPublications > 0) + Number(allDeliveries > 0);
  const part = (value: number, all: number): number => (all === 0 ? 0 : value / all / halves);
  const names = [...new Set([...publications.keys(), ...deliveries.keys()])];
  return names
    .map((namespace) => {
      const published = publications.get(namespace) ?? 0;
      const delivered = deliveries.get(namespace) ?? 0;
      const share = part(published, allPublications) + part(delivered, allDeliveries);
      return {
        namespace,
        publications: published,
        deliveries: delivered,
        dollars: dollars * share,
      };
    })
    .toSorted((one, other) => other.dollars - one.dollars);
}

function total(values: ReadonlyMap<string, number>): number {
  return [...values.values()].reduce((sum, value) => sum + value, 0);
}

function byNamespace(
  before: SeriesValues,
  now: SeriesValues,
  name: string,
): ReadonlyMap<string, number> {
  const values = new Map<string, number>();
  for (const [series, value] of Object.entries(now)) {
    if (!series.startsWith(`${name}{`)) continue;
    const added = value - (before[series] ?? 0);
    const { channel_namespace: namespace = "" } = labelsOf(series);
    if (added > 0) values.set(namespace, (values.get(namespace) ?? 0) + added);
  }
  return values;
}
