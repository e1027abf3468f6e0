import { billBetween, monthlyDollars } from "../bill.ts";
import type { Metrics } from "../answers.ts";
import { count, Message, type PageProps, Table, time, useAnswer } from "../parts.tsx";
import { usePolling } from "../polling.ts";
import { read } from "../server.ts";

/** The cost of the last hour on Cloudflare, by the counts, and the shares of the namespaces. */
export function BillPage({ loggedOut }: PageProps) {
  const [{ result: metrics, problem }, take] = useAnswer<Metrics>(loggedOut);
  usePolling(async () => void (await take(read<Metrics>("metrics"))), everyMs);
  const hour = metrics?.hour;
  if (metrics === undefined || hour === undefined)
    return (
      <>
        <h1>Bill</h1>
        <Message text={problem === "" ? "Asking…" : problem} />
      </>
    );
  const bill = billBetween(hour.counters, metrics.counters);
  const minutes = Math.round((metrics.at_ms - hour.since_ms) / 60_000);
  return (
    <>
      <h1>Bill</h1>
      <p class="answer">
        {dollars(bill.dollars)} in {minutes} minutes, since {time(hour.since_ms)}.{" "}
        {minutes < minutesMin
          ? "What that is a month is told after an hour."
          : `A month like this is ${dollars(monthlyDollars(bill, minutes / 60))} beyond the $5 of the plan and what it includes.`}
      </p>
      <Table caption="By what is billed" heads={["What", "Amount", "Cost"]}>
        {bill.lines.map((line) => (
          <tr key={line.what}>
            <th scope="row">{line.what}</th>
            <td class="number">
              {count(line.amount)} {line.unit}
            </td>
            <td class="number">{dollars(line.dollars)}</td>
          </tr>
        ))}
      </Table>
      <Table
        caption="By namespace"
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
        An estimate from the counts of channels' objects and gateways, at Cloudflare's prices. The
        plan includes 10 million requests of the Worker, 1 million of objects, 400,000 GB-s and 50
        million rows a month. Users' homes, the directory, the objects that collect these counts,
        and storage aren't in it, and objects count the seconds in which they could hibernate, too.
        A namespace's share is the mean of its shares of publications and deliveries.
      </p>
    </>
  );
}

function dollars(value: number): string {
  return `$${value.toFixed(value >= 1 ? 2 : value >= 0.01 ? 3 : 6)}`;
}

/** Counts of less than an hour say too little of a month. */
const minutesMin = 59;
/** An hour's sums change slowly. */
const everyMs = 60_000;
