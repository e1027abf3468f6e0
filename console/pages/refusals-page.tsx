import { useState } from "preact/hooks";
import type { Info, Inspected, Refusal } from "../answers.ts";
import { href } from "../hash-route.ts";
import { useFeed } from "../metrics-feed.ts";
import { count, leadsTo, Message, type PageProps, Table, time, useAnswer } from "../parts.tsx";
import { usePolling } from "../polling.ts";
import { labelsOf } from "../rates.ts";
import { call } from "../server.ts";

/** What was refused: the sums by rule, and the newest refusals of the gateways or of one object. */
export function RefusalsPage({
  params,
  loggedOut,
  reportMs,
}: PageProps & { readonly reportMs: number }) {
  const { metrics } = useFeed(reportMs, loggedOut);
  const object = params.get("object") ?? "";
  return (
    <>
      <h1>Refusals</h1>
      <form class="line" onSubmit={leadsTo("refusals", "object")}>
        <label for="object">Of one object only</label>
        <input id="object" name="object" value={object} placeholder="channel:chat:1" />
        <button>Show</button>
      </form>
      <Newest object={object} loggedOut={loggedOut} />
      {metrics !== undefined && <Sums counters={metrics.counters} />}
    </>
  );
}

interface ShownRefusal extends Refusal {
  readonly object: string;
}

function Newest({
  object,
  loggedOut,
}: {
  readonly object: string;
  readonly loggedOut: () => void;
}) {
  const [newest, setNewest] = useState<readonly ShownRefusal[]>([]);
  const [listed, takeListed] = useAnswer<Info>(loggedOut);
  usePolling(async () => {
    const asked = object === "" ? await gatewaysOf(takeListed) : [object];
    const answers = await Promise.all(
      asked.map((name) => call<Inspected>("inspect", { object: name, refusals: shownMax })),
    );
    const all = answers.flatMap((answer) =>
      answer.outcome === "result"
        ? (answer.result.refusals ?? []).map((one) =>
            Object.assign(one, { object: answer.result.object }),
          )
        : [],
    );
    setNewest(all.toSorted((one, other) => other.at_ms - one.at_ms).slice(0, shownMax));
  }, everyMs);
  return (
    <section>
      <h2>Newest</h2>
      <Message text={listed.problem} isProblem />
      <Table
        caption={object === "" ? "The newest refusals of the first gateways" : `Of ${object}`}
        heads={["When", "Refused", "Rule", "Reason", "User", "Channel", "Object"]}
      >
        {newest.map((one) => (
          <tr
            key={`${one.object} ${one.at_ms} ${one.refused} ${one.user ?? ""} ${one.channel ?? ""}`}
          >
            <td>{time(one.at_ms)}</td>
            <td>
              {one.refused} {one.count > 1 ? `× ${one.count}` : ""}
            </td>
            <td>{one.rule}</td>
            <td>{one.reason}</td>
            <td>
              {one.user !== undefined && one.user !== "" && (
                <a href={href("users", { user: one.user })}>{one.user}</a>
              )}
            </td>
            <td>
              {one.channel !== undefined && (
                <a href={href("channel", { name: one.channel })}>{one.channel}</a>
              )}
            </td>
            <td>{one.object}</td>
          </tr>
        ))}
        {newest.length === 0 && (
          <tr>
            <td colSpan={7}>Nothing was refused there since the objects woke.</td>
          </tr>
        )}
      </Table>
      <p class="quiet">
        Asked every {everyMs / 1_000} seconds while this page is visible, which keeps these objects
        awake. What the edge refuses is in the sums below and in the log.
      </p>
    </section>
  );
}

async function gatewaysOf(
  take: (coming: ReturnType<typeof call<Info>>) => Promise<Info | undefined>,
): Promise<readonly string[]> {
  const info = await take(call("info", { limit: gatewaysAsked }));
  return (info?.nodes ?? []).map(({ uid }) => uid);
}

function Sums({ counters }: { readonly counters: Readonly<Record<string, number>> }) {
  const rows = Object.entries(counters)
    .filter(([series]) => series.startsWith("dormouse_refusals_total{"))
    .map(([series, value]) => ({ labels: labelsOf(series), value }))
    .toSorted((one, other) => other.value - one.value);
  return (
    <section>
      <h2>All of them</h2>
      <Table caption="Refusals since the counts began" heads={["Refused", "Rule", "How many"]}>
        {rows.map(({ labels, value }) => (
          <tr key={`${labels["refused"]} ${labels["rule"]}`}>
            <td>{labels["refused"]}</td>
            <td>{labels["rule"]}</td>
            <td class="number">{count(value)}</td>
          </tr>
        ))}
        {rows.length === 0 && (
          <tr>
            <td colSpan={3}>None.</td>
          </tr>
        )}
      </Table>
    </section>
  );
}

const everyMs = 4_000;
const shownMax = 100;
const gatewaysAsked = 10;
