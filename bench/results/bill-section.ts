import { countMeasures } from "./count-measures.ts";
import {
  type Bill,
  billOf,
  deliveryUsage,
  type Idling,
  idleUsage,
  type PublicationCounts,
} from "../../cli/cost/bill.ts";
import { priceBeginning } from "../../cli/price-page/price-page.ts";
import { dollars, figure } from "./figure.ts";
import { Found } from "./judge.ts";
import { secondsPerMonth } from "../../cli/cost/prices.ts";
import type { Results } from "./results.ts";
import { spreadOf } from "./spread.ts";
import { markdownTable } from "./table.ts";

/**
 * The cost of a run's counts on Cloudflare, in dollars, as Markdown, after the beginning for people; undefined if the run counted nothing that Cloudflare
 * bills, or measured no time of a delivery.
 */
export function billSection({ scenarios }: Results): string | undefined {
  const found = new Found(scenarios);
  const counted = publicationCounts(found);
  const secondsPerDelivery = deliverySeconds(found);
  if (counted.length === 0 || secondsPerDelivery === undefined) return undefined;
  return [
    priceBeginning(),
    "[performance.md](../performance.md#cost-on-cloudflare) has the formula and what it assumes.",
    `Time awake: ${figure(secondsPerDelivery * 1_000_000)} µs a delivery, the longest that the run's channel sockets and gateways took of their processor; ${figure(1_000 * assumed.secondsPerPublication)} ms a publication for storage, and as much for each call.`,
    deliveryTable(counted, secondsPerDelivery),
    idleTable(secondsPerDelivery),
  ].join("\n\n");
}

interface Counted {
  readonly name: string;
  readonly counts: PublicationCounts;
}

/** The counts of each system and point of the scenario `counts`. */
function publicationCounts(found: Found): readonly Counted[] {
  const rows = found.of("counts", countMeasures.rowsWritten);
  return rows.map(({ system, point }) => {
    const count = (measure: string): number => {
      const finding = found
        .of("counts", measure)
        .find((each) => each.system === system && each.point === point);
      return finding === undefined ? 0 : spreadOf(finding.values).median;
    };
    return {
      name: `${system}, ${point}`,
      counts: {
        objectRequests: count(countMeasures.objectRequests),
        callsBetweenObjects: count(countMeasures.callsBetweenObjects),
        rowsWritten: count(countMeasures.rowsWritten),
        rowsRead: count(countMeasures.rowsRead),
        alarmsSet: count(countMeasures.alarmsSet),
        alarmsRung: count(countMeasures.alarmsRung),
      },
    };
  });
}

/**
 * At its highest rate an object uses this machine's processor all the time, which gives the share of a second for one
 * delivery.
 */
function deliverySeconds(found: Found): number | undefined {
  const rates = found.medians("fan-out", "deliveries a second", ["channel", "gateway"]);
  return rates.length === 0 ? undefined : 1 / Math.min(...rates.map(({ value }) => value));
}

function deliveryTable(counted: readonly Counted[], secondsPerDelivery: number): string {
  const rows = counted.flatMap(({ name, counts }) =>
    assumed.deliveriesPerPublication.map((deliveriesPerPublication) => {
      const bill = billOf(
        deliveryUsage(
          {
            counts,
            publicationsPerRequest: 1,
            deliveriesPerPublication,
            secondsPerDelivery,
            secondsPerPublication: assumed.secondsPerPublication * (1 + counts.callsBetweenObjects),
          },
          1_000_000,
        ),
      );
      return [name, figure(deliveriesPerPublication)].concat(billCells(bill));
    }),
  );
  const heads = ["a million deliveries", "subscribers", ...billHeads];
  return markdownTable({ heads, rows, right: [1, 2, 3, 4, 5, 6] });
}

/** Each row in both readings of the price list, which doesn't say whether answered messages are billed. */
function idleTable(secondsPerPing: number): string {
  const rows = idlings(secondsPerPing).map(({ name, idling }) => {
    const month = (answeredMessagesAreBilled: boolean): Bill =>
      billOf(idleUsage({ ...idling, answeredMessagesAreBilled, seconds: secondsPerMonth }));
    const { objectRequests, duration, rows: alarms, total } = month(false);
    return [name].concat([objectRequests, duration, alarms, total, month(true).total].map(dollars));
  });
  const heads = [
    "a million idle connections, a month",
    "object requests",
    "duration",
    "rows",
    "if answered messages are free",
    "if they are billed",
  ];
  return markdownTable({ heads, rows, right: [1, 2, 3, 4, 5] });
}

interface NamedIdling {
  readonly name: string;
  readonly idling: Omit<Idling, "seconds">;
}

function idlings(secondsPerPing: number): readonly NamedIdling[] {
  const common = {
    connections: 1_000_000,
    pingIntervalSeconds: 25,
    // A ping is sent like a publication, and reading its answer takes no longer.
    secondsPerPing,
    takenBy: "platform",
    answeredMessagesAreBilled: false,
    connectionsPerObject: 5_000,
  } as const;
  const server = { ...common, keepAlive: "server" } as const;
  const onGateways: readonly NamedIdling[] = [
    { name: "client-driven", idling: { ...common, keepAlive: "client" } },
    { name: "JSON clients, gateways with 5,000 each", idling: server },
    {
      name: "Protobuf or MessagePack clients, gateways with 5,000 each",
      idling: { ...server, takenBy: "object" },
    },
    {
      name: "the same, not asked for pongs",
      idling: { ...server, takenBy: "nobody" },
    },
  ];
  const onChannels = [1_000, 100, 10, 1].map((connectionsPerObject) => ({
    name: `JSON clients, channel sockets, ${figure(connectionsPerObject)} a channel`,
    idling: { ...server, connectionsPerObject },
  }));
  return [...onGateways, ...onChannels];
}

function billCells(bill: Bill): readonly string[] {
  const { workerRequests, objectRequests, duration, rows, total } = bill;
  return [workerRequests, objectRequests, duration, rows, total].map(dollars);
}

const billHeads = ["Worker requests", "object requests", "duration", "rows", "in all"];

/** Assumptions that no local run can measure. */
const assumed = {
  /** Cloudflare publishes no figure for the duration of a commit. */
  secondsPerPublication: 0.01,
  deliveriesPerPublication: [1, 100, 1_000],
} as const;
