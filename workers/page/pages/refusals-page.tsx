import { useEffect, useState } from "preact/hooks";
import type { CollectedRefusal, Inspected, Settings } from "../answers.ts";
import { useFeed } from "../feed.ts";
import { leadsTo, Message, type PageProps, Table, useAnswer } from "../parts.tsx";
import { count } from "../text.ts";
import { labelsOf } from "../rates.ts";
import { RuleLink, RefusalTable } from "../rules.tsx";
import { call } from "../server.ts";

/**
 * The refusals: the newest of all objects and of the edge, those of one object, and the sums by rule.
 */
export function RefusalsPage({
  params,
  loggedOut,
  settings,
}: PageProps & { readonly settings: Settings }) {
  const { metrics, refusals, problem } = useFeed(settings.report_ms, loggedOut);
  const object = params.get("object") ?? "";
  const reported =
    object === "" ? refusals : refusals.filter((refusal) => refusal.object === object);
  return (
    <>
      <h1>Refusals</h1>
      <Message text={problem === undefined ? "" : `No newer ones: ${problem}.`} isProblem />
      <form class="line" onSubmit={leadsTo("refusals", "object")}>
        <label for="object">Of one object only</label>
        <input id="object" name="object" value={object} placeholder="edge, or channel:chat:1" />
        <button>Show</button>
      </form>
      <Newest object={object} refusals={reported} settings={settings} />
      {object !== "" && (
        <Remembered object={object} loggedOut={loggedOut} settings={settings} key={object} />
      )}
      {metrics !== undefined && <Sums counters={metrics.counters} />}
    </>
  );
}

function Newest({
  object,
  refusals,
  settings,
}: {
  readonly object: string;
  readonly settings: Settings;
  readonly refusals: readonly CollectedRefusal[];
}) {
  const [shown, setShown] = useState(shownFirst);
  return (
    <section>
      <h2>Newest</h2>
      <RefusalTable
        caption={object === "" ? "The newest refusals" : `The newest refusals of ${object}`}
        refusals={refusals.slice(0, shown)}
        settings={settings}
      />
      {refusals.length > shown && (
        <p class="buttons">
          <button onClick={() => setShown(refusals.length)}>Show all {refusals.length}</button>
        </p>
      )}
      <p class="quiet">
        Objects and the edge report their last refusals with their counts, so a flood of them isn't
        here as a whole. The sums below have all.
      </p>
    </section>
  );
}

/** The refusals that one object itself remembers, which are more than it has reported. Asking wakes it. */
function Remembered({
  object,
  loggedOut,
  settings,
}: {
  readonly object: string;
  readonly settings: Settings;
  readonly loggedOut: () => void;
}) {
  const [called, take] = useAnswer<Inspected>(loggedOut);
  const ask = () => void take(call("inspect", { object, refusals: askedMax }));
  useEffect(ask, []);
  const { refusals = [] } = called.result ?? {};
  return (
    <section>
      <div class="line">
        <h2>Asked for</h2>
        <button onClick={ask}>Ask again</button>
      </div>
      <Message text={called.problem} isProblem />
      <RefusalTable
        caption={`What ${object} remembers`}
        refusals={refusals.map((one) => Object.assign(one, { object }))}
        settings={settings}
      />
    </section>
  );
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
            <td>
              <RuleLink id={labels["rule"] ?? ""} />
            </td>
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

/** So that the page isn't ten thousand pixels high on a phone. */
const shownFirst = 25;
const askedMax = 1_000;
