import { useEffect } from "preact/hooks";
import type { History, Why } from "../answers.ts";
import { count, leadsTo, Message, type PageProps, Table, time, useAnswer } from "../parts.tsx";
import { type Answer, call } from "../server.ts";

/** Why a publication did or didn't reach a user or a client (docs/why.md). */
export function WhyPage({ params, loggedOut }: PageProps) {
  const [called, take] = useAnswer<Why>(loggedOut);
  const channel = params.get("channel") ?? "";
  const offset = params.get("offset") ?? "";
  const who = params.get("who") ?? "";
  const by = params.get("by") === "client" ? "client" : "user";
  useEffect(() => {
    if (channel === "" || who === "") return;
    void take(ask(channel, offset, { [by]: who }));
  }, [channel, offset, who, by]);
  return (
    <>
      <h1>Why?</h1>
      <p>Why a publication did, or didn't, reach somebody.</p>
      <form class="fields" onSubmit={leadsTo("why", "channel", "offset", "who", "by")}>
        <label for="channel">Channel</label>
        <input id="channel" name="channel" value={channel} required />
        <label for="offset">Offset of the publication</label>
        <input
          id="offset"
          name="offset"
          type="number"
          min="1"
          value={offset}
          placeholder="the newest"
        />
        <label for="by">Asked for</label>
        <select id="by" name="by" value={by}>
          <option value="user">a user</option>
          <option value="client">a client</option>
        </select>
        <label for="who">ID</label>
        <input id="who" name="who" value={who} required />
        <button class="main-button">Ask</button>
      </form>
      <Message text={called.problem} isProblem />
      {called.result !== undefined && <Told why={called.result} />}
    </>
  );
}

/** Asks of the publication at an offset, or of the newest one in the history. */
async function ask(
  channel: string,
  offset: string,
  subject: Readonly<Record<string, string>>,
): Promise<Answer<Why>> {
  if (offset !== "") return call("why", { channel, offset: Number(offset), ...subject });
  const newest = await call<History>("history", { channel, limit: 0 });
  if (newest.outcome !== "result") return newest;
  return newest.result.offset === 0
    ? { outcome: "failed", message: "nothing was published to the channel" }
    : call("why", { channel, offset: newest.result.offset, ...subject });
}

/** The states of a publication, as sentences go on with them. */
const states: Readonly<Record<string, string>> = {
  remembered: "the channel's object remembers its way",
  in_history: "it is in the history, and the channel's object has slept since",
  forgotten: "the history doesn't have it any more",
  not_published: "nothing has this offset yet",
};

function Told({ why }: { readonly why: Why }) {
  const { publication, connections, objects } = why;
  const nowhere = objects.filter(({ note }) => note !== undefined);
  const publisher = publication.by?.key ?? publication.by?.user ?? publication.by?.client ?? "–";
  return (
    <section>
      <h2>Answer</h2>
      <p class="answer" role="status">
        {why.summary}
        {why.incomplete === true && " Some objects haven't answered."}
      </p>
      <p class="quiet">
        Offset {why.offset}, published {time(publication.published_at_ms)} by {publisher};{" "}
        {states[publication.state] ?? publication.state}.
      </p>
      <Table caption="Connections" heads={["Outcome", "What happened", "Client", "Object"]}>
        {connections.map((one) => (
          <tr key={one.client}>
            <th scope="row">{one.outcome.replaceAll("_", " ")}</th>
            <td>{one.summary}</td>
            <td>
              <code>{one.client}</code>
            </td>
            <td>{one.object}</td>
          </tr>
        ))}
        {nowhere.map(({ object, note }) => (
          <tr key={object}>
            <th scope="row">no connection</th>
            <td>{note}</td>
            <td>–</td>
            <td>{object}</td>
          </tr>
        ))}
        {connections.length + nowhere.length === 0 && (
          <tr>
            <td colSpan={4}>No connection is known.</td>
          </tr>
        )}
      </Table>
      <Table
        caption="Objects on the way"
        heads={["Object", "Taken", "Sent to", "Left out by filters", "Too slow"]}
      >
        {objects.map(({ object, state, taken_at_ms: takenAtMs, frame }) => (
          <tr key={object}>
            <th scope="row">{object}</th>
            <td>{state ?? time(takenAtMs)}</td>
            <td class="number">
              {frame === undefined ? "–" : count(frame.subscribers + frame.filtered)}
            </td>
            <td class="number">{frame === undefined ? "–" : count(frame.left_out)}</td>
            <td class="number">{frame === undefined ? "–" : count(frame.slow)}</td>
          </tr>
        ))}
      </Table>
    </section>
  );
}
