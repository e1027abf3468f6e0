import { useEffect } from "preact/hooks";
import type { Inspected, Settings, Why } from "../answers.ts";
import { hasOffsets, knownChannel, type Question } from "../channel-questions.ts";
import { leadsTo, Message, type PageProps, Table, useAnswer } from "../parts.tsx";
import { count, time } from "../text.ts";
import { type Answer, call } from "../server.ts";
import { UnknownNamespace } from "./channel-page.tsx";

/** Why a publication did or didn't reach a user or a client (docs/why.md). */
export function WhyPage({
  params,
  loggedOut,
  settings,
}: PageProps & { readonly settings: Settings }) {
  const [called, take] = useAnswer<Why>(loggedOut);
  const channel = params.get("channel") ?? "";
  const offset = params.get("offset") ?? "";
  const who = params.get("who") ?? "";
  const by = params.get("by") === "client" ? "client" : "user";
  const known = knownChannel(channel, settings);
  const isAsked = channel !== "" && who !== "";
  const isAdmitted = known.outcome === "known" && hasOffsets(known.namespace);
  useEffect(() => {
    if (!isAsked || known.outcome === "unknown" || !isAdmitted) return;
    void take(ask(channel, known.questions.state, offset, { [by]: who }));
  }, [channel, offset, who, by, isAdmitted]);
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
      {isAsked && known.outcome === "unknown" && (
        <UnknownNamespace namespace={known.namespace} settings={settings} />
      )}
      {isAsked && known.outcome === "known" && !isAdmitted && (
        <Message
          text="The channel has no history, so its publications have no offsets, and nothing remembers them."
          isProblem
        />
      )}
      <Message text={called.problem} isProblem />
      {called.result !== undefined && <Told why={called.result} />}
    </>
  );
}

/** Asks of the publication at an offset, or of the newest one. */
async function ask(
  channel: string,
  state: Question,
  offset: string,
  subject: Readonly<Record<string, string>>,
): Promise<Answer<Why>> {
  if (offset !== "") return call("why", { channel, offset: Number(offset), ...subject });
  const inspected = await call<Inspected>(state.method, state.params);
  if (inspected.outcome !== "result") return inspected;
  const { offset: newest = 0 } = inspected.result.channel ?? {};
  return newest === 0
    ? { outcome: "failed", message: "Nothing has been published to the channel yet." }
    : call("why", { channel, offset: newest, ...subject });
}

/** What is known of the publication itself, after its offset. */
function publicationText({ state, published_at_ms: atMs, by }: Why["publication"]): string {
  const publisher = by?.key ?? by?.user ?? by?.client;
  const named = publisher === undefined ? "" : ` by ${publisher}`;
  const published = atMs === undefined ? "" : ` was published at ${time(atMs)}${named}.`;
  switch (state) {
    case "remembered":
      return `${published} The channel's object remembers how it was sent.`;
    case "in_history":
      return `${published} It is in the history; the channel's object has slept since, and doesn't remember how it was sent.`;
    case "forgotten":
      return " isn't in the history any more.";
    default:
      return " doesn't exist yet.";
  }
}

function Told({ why }: { readonly why: Why }) {
  const { publication, connections, objects } = why;
  const nowhere = objects.filter(({ note }) => note !== undefined);
  return (
    <section>
      <h2>Answer</h2>
      <p class="answer" role="status">
        {why.summary}
        {why.incomplete === true && " Some objects haven't answered."}
      </p>
      <p class="quiet">
        The publication at offset {why.offset}
        {publicationText(publication)}
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
