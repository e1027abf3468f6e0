import { billBetween } from "../bill.ts";
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
  const hours = Math.min(1, Math.max((metrics.at_ms - hour.since_ms) / 3_600_000, 1 / 60));
  return (
    <>
      <h1>Bill</h1>
      <p class="answer">
        {dollars(bill.dollars)} since {time(hour.since_ms)}; at this rate,{" "}
        {dollars((bill.dollars / hours) * hoursOfMonth)} a month.
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
        An estimate from the counts of channels' objects and gateways, at Cloudflare's prices beyond
        what a plan includes. Users' homes, the directory, the objects that collect these counts,
        and storage aren't in it, and objects count the seconds in which they could hibernate, too.
        A namespace's share is the mean of its shares of publications and deliveries.
      </p>
    </>
  );
}

function dollars(value: number): string {
  return `$${value.toFixed(value >= 1 ? 2 : value >= 0.01 ? 3 : 6)}`;
}

const hoursOfMonth = 730;
/** An hour's sums change slowly. */
const everyMs = 60_000;
