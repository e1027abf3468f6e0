import { type Bill, billBetween, dollarsBeyondPlan, monthlyDollars } from "../bill.ts";
import type { CounterMark, Metrics } from "../answers.ts";
import { Message, type PageProps, Table, useAnswer } from "../parts.tsx";
import { count, counted } from "../text.ts";
import { usePolling } from "../polling.ts";
import { read } from "../server.ts";

/** The cost of today and of the last hour on Cloudflare, by the counts, and the shares of the namespaces. */
export function BillPage({ loggedOut }: PageProps) {
  const [{ result: metrics, problem }, take] = useAnswer<Metrics>(loggedOut);
  usePolling(async () => void (await take(read<Metrics>("metrics"))), everyMs);
  // While a release is replaced, a part of the counts may not be known.
  if (metrics?.hour === undefined || metrics.today === undefined)
    return (
      <>
        <h1>Bill</h1>
        <Message text={problem === "" ? "Asking…" : problem} />
      </>
    );
  return <Bills metrics={metrics} hour={metrics.hour} today={metrics.today} />;
}

function Bills({
  metrics,
  hour,
  today,
}: {
  readonly metrics: Metrics;
  readonly hour: CounterMark;
  readonly today: CounterMark;
}) {
  const bill = billBetween(today.counters, metrics.counters);
  const ofHour = billBetween(hour.counters, metrics.counters);
  const minutes = Math.round((metrics.at_ms - hour.since_ms) / 60_000);
  return (
    <>
      <h1>Bill</h1>
      <p class="answer">
        Today {dollars(bill.dollars)}, since {utc(today.since_ms)}
        {today.since_ms % dayMs === 0 ? "" : ", from when the counts are known"}:{" "}
        {dollars(dollarsBeyondPlan(bill))} beyond the plan.
      </p>
      <p>
        The last hour {dollars(ofHour.dollars)}, in {counted(minutes, "minute")} since{" "}
        {utc(hour.since_ms)}.{" "}
        {minutes < minutesMin
          ? "What that is a month is told after an hour."
          : `A month like this is ${dollars(monthlyDollars(ofHour, minutes / 60))} beyond the $5 of the plan and what it includes.`}
      </p>
      <Lines today={bill} hour={ofHour} />
      <Table
        caption="Today, by namespace"
        heads={["Namespace", "Publications", "Deliveries", "Estimated cost"]}
      >
        {bill.namespaces.map((one) => (
          <tr key={one.namespace}>
            <th scope="row">{one.namespace === "" ? "(without namespace)" : one.namespace}</th>
            <td class="number">{count(one.publications)}</td>
            <td class="number">{count(one.deliveries)}</td>
            <td class="number">{dollars(one.dollars)}</td>
          </tr>
        ))}
        {bill.namespaces.length === 0 && (
          <tr>
            <td colSpan={4}>Nothing was published.</td>
          </tr>
        )}
      </Table>
      <p class="quiet">
        The plan costs $5 a month. A day's part of what it includes for a month, about a thirtieth,
        is taken off: what is left is beyond the plan. An estimate from the counts of channels'
        objects and gateways, at Cloudflare's prices. The plan includes 10 million requests of the
        Worker, 1 million of objects, 400,000 GB-s and 50 million rows a month. Users' homes, the
        directory, the objects that collect these counts, and storage aren't in it, and objects
        count the seconds in which they could hibernate, too. A namespace's share is the mean of its
        shares of publications and deliveries.
      </p>
    </>
  );
}

/** What is billed, line by line, with the part of the plan's month that today has used. */
function Lines({ today, hour }: { readonly today: Bill; readonly hour: Bill }) {
  return (
    <Table
      caption="By what is billed"
      heads={["What", "Today", "Cost today", "Of what a month includes", "Cost of the hour"]}
    >
      {today.lines.map((line, index) => (
        <tr key={line.what}>
          <th scope="row">{line.what}</th>
          <td class="number">{counted(line.amount, line.unit, line.units)}</td>
          <td class="number">{dollars(line.dollars)}</td>
          <td class="number">{percent(line.amount / line.included)}</td>
          <td class="number">{dollars(hour.lines[index]?.dollars ?? 0)}</td>
        </tr>
      ))}
    </Table>
  );
}

function percent(share: number): string {
  if (share > 0 && share < 0.0001) return "< 0.01 %";
  return `${(share * 100).toFixed(2)} %`;
}

/** The time as Cloudflare's days have it: "00:00 UTC", with seconds where they aren't 0. */
function utc(ms: number): string {
  const text = new Date(ms).toISOString().slice(11, 19);
  return `${text.endsWith(":00") ? text.slice(0, 5) : text} UTC`;
}

function dollars(value: number): string {
  if (value === 0) return "$0";
  return `$${value.toFixed(value >= 1 ? 2 : value >= 0.01 ? 3 : 6)}`;
}

const dayMs = 86_400_000;
/** Counts of less than an hour say too little of a month. */
const minutesMin = 59;
/** An hour's sums change slowly. */
const everyMs = 60_000;
