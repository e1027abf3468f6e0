import { useEffect, useState } from "preact/hooks";
import type {
  History,
  Inspected,
  NamespaceSettings,
  Position,
  Publication,
  Settings,
} from "../answers.ts";
import { href } from "../hash-route.ts";
import { type Tail, useTail } from "../tail.ts";
import {
  bytes,
  count,
  Facts,
  fieldOf,
  JsonField,
  jsonFault,
  Message,
  type PageProps,
  shortened,
  Table,
  time,
  useAnswer,
} from "../parts.tsx";
import { call } from "../server.ts";
import { KeysPart } from "./keys-part.tsx";
import { PresentPart } from "./present-part.tsx";

/** One channel: its state, who is there, its keys or its history, what is published now, and a form to publish. */
export function ChannelPage({
  params,
  loggedOut,
  settings,
}: PageProps & { readonly settings: Settings }) {
  const channel = params.get("name") ?? "";
  const { presence = false, type = "stream" } = namespaceOf(channel, settings) ?? {};
  const isMap = type === "map";
  const [state, takeState] = useAnswer<Inspected>(loggedOut);
  const [history, takeHistory] = useAnswer<History>(loggedOut);
  const [isHearing, setIsHearing] = useState(params.get("hear") === "1");
  const tail = useTail(channel, isHearing);
  const refresh = () => {
    void takeState(call("inspect", { channel }));
    void takeHistory(call("history", { channel, limit: historyPage, reverse: true }));
  };
  useEffect(refresh, [channel]);
  return (
    <>
      <p class="quiet">
        <a href={href("channels")}>Channels</a>
      </p>
      <div class="line">
        <h1>{channel}</h1>
        <button onClick={refresh}>Refresh</button>
      </div>
      <Message text={state.problem} isProblem />
      {state.result !== undefined && <State state={state.result} />}
      <div class="columns">
        {type === "stream" && (
          <PublishForm channel={channel} loggedOut={loggedOut} published={refresh} />
        )}
        {isMap && <KeysPart channel={channel} newest={tail.heard[0]} loggedOut={loggedOut} />}
        <TailPart tail={tail} isOn={isHearing} turn={setIsHearing} />
      </div>
      {presence && <PresentPart channel={channel} loggedOut={loggedOut} />}
      <section>
        <h2>History</h2>
        {history.result === undefined ? (
          <Message text={history.problem === "" ? "Asking…" : `No history: ${history.problem}.`} />
        ) : (
          <Publications
            caption="The newest publications of the history"
            channel={channel}
            publications={history.result.publications}
          />
        )}
      </section>
    </>
  );
}

function State({ state }: { readonly state: Inspected }) {
  const { channel, subscribers } = state;
  const gateways = channel?.gateways ?? [];
  const all = gateways.reduce((sum, one) => sum + (one.subscribers?.count ?? 0), 0);
  const own = subscribers?.count ?? 0;
  return (
    <section aria-label="State">
      <Facts
        facts={[
          ["Subscribers", count(own + all)],
          ["of them directly", count(own)],
          ["of them on gateways", count(all)],
          ["Offset", channel?.offset === undefined ? "–" : count(channel.offset)],
          ["Epoch", channel?.epoch ?? "–"],
          [
            "History",
            channel === undefined
              ? "–"
              : `${channel.history.publications} of ${channel.history.size}`,
          ],
          ["Newest", time(channel?.newest_ms)],
          ["Stored", bytes(state.stored_bytes)],
          ["In memory since", time(state.awake_since_ms)],
          ["Woke because of", wakers[state.woken_by] ?? state.woken_by],
          ["Next alarm", nextAlarm(state.alarm_at_ms)],
        ]}
      />
      <Table
        caption="Gateways that follow the channel"
        heads={["Gateway", "Subscribers", "Lag", "Failures", "Backlog"]}
      >
        {gateways.map((gateway) => (
          <tr key={gateway.object}>
            <th scope="row">{gateway.object}</th>
            <td class="number">{count(gateway.subscribers?.count ?? 0)}</td>
            <td class="number">{gateway.lag}</td>
            <td class="number">{gateway.failures}</td>
            <td class="number">{gateway.state ?? bytes(gateway.backlog_bytes ?? 0)}</td>
          </tr>
        ))}
        {gateways.length === 0 && (
          <tr>
            <td colSpan={5}>No gateway follows the channel.</td>
          </tr>
        )}
      </Table>
    </section>
  );
}

/** When an alarm rings. What never ends has an alarm in ten years, which is no news. */
function nextAlarm(atMs: number | undefined): string {
  if (atMs === undefined) return "none";
  return atMs - Date.now() > yearMs ? "none soon" : time(atMs);
}

/** The options of a channel's namespace; undefined if the configuration hasn't got it. */
function namespaceOf(channel: string, settings: Settings): NamespaceSettings | undefined {
  const { namespaces, namespace_boundary: boundary, private_prefix: prefix } = settings;
  const isPrivate = prefix !== "" && channel.startsWith(prefix);
  const bare = isPrivate ? channel.slice(prefix.length) : channel;
  const end = boundary === "" ? -1 : bare.indexOf(boundary);
  const name = end < 0 ? "" : bare.slice(0, end);
  return namespaces.find((one) => one.name === name);
}

/** What makes an object act, in words. */
const wakers: Readonly<Record<string, string>> = {
  upgrade: "a client that connected",
  frame: "a client's message",
  close: "a client that left",
  alarm: "its alarm",
  api: "a backend",
  gateway: "a gateway",
  batch: "a publication",
  presence: "a question who is there",
  users: "an order for a user",
  directory: "the list of channels",
  question: "this page",
};

function PublishForm({
  channel,
  loggedOut,
  published,
}: {
  readonly channel: string;
  readonly loggedOut: () => void;
  readonly published: () => void;
}) {
  const [called, take] = useAnswer<Position>(loggedOut);
  const [problem, setProblem] = useState("");
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const text = fieldOf(event, "data");
    const fault = jsonFault("payload", text);
    setProblem(fault);
    if (fault !== "") return;
    // The payload is published as it was typed (rule N12): parsing it would change its numbers.
    const position = await take(
      call("publish", `{"channel":${JSON.stringify(channel)},"data":${text}}`),
    );
    if (position !== undefined) published();
  };
  const { offset } = called.result ?? {};
  const done = offset === undefined ? "Published." : `Published at offset ${offset}.`;
  return (
    <section>
      <h2>Publish</h2>
      <form onSubmit={(event) => void submit(event)}>
        <JsonField id="data" name="data" label="Payload" rows={4} />
        <button class="main-button" disabled={called.isWaiting}>
          Publish
        </button>
      </form>
      <Message text={problem === "" ? called.problem : problem} isProblem />
      <Message text={called.result === undefined || problem !== "" ? "" : done} />
    </section>
  );
}

function TailPart({
  tail: { state, heard },
  isOn,
  turn,
}: {
  readonly tail: Tail;
  readonly isOn: boolean;
  readonly turn: (isOn: boolean) => void;
}) {
  const states = { off: "", connecting: "Connecting…", hearing: "Hearing the channel." };
  return (
    <section>
      <h2>Live</h2>
      <p class="buttons">
        <button aria-pressed={isOn} onClick={() => turn(!isOn)}>
          {isOn ? "Stop" : "Hear the channel"}
        </button>
        <Message text={states[state]} />
      </p>
      <ol class="tail" aria-label="Heard publications, newest first" tabIndex={0}>
        {heard.map((one, index) => (
          <li key={`${one.atMs}/${one.offset ?? ""}/${heard.length - index}`}>
            <span class="quiet">
              {time(one.atMs)} {one.offset === undefined ? "" : `#${one.offset}`}{" "}
              {one.info?.user ?? ""}
            </span>
            <code>{one.isRemoval ? "A key was removed." : shortened(one.data)}</code>
          </li>
        ))}
      </ol>
    </section>
  );
}

function Publications({
  caption,
  channel,
  publications,
}: {
  readonly caption: string;
  readonly channel: string;
  readonly publications: readonly Publication[];
}) {
  return (
    <Table caption={caption} heads={["Offset", "Payload", "Tags", "Publisher", "Who got it"]}>
      {publications.map(({ offset = 0, data, tags, info }) => (
        <tr key={offset}>
          <th scope="row" class="number">
            {offset}
          </th>
          <td>
            <code>{shortened(data)}</code>
          </td>
          <td>{tags === undefined ? "" : JSON.stringify(tags)}</td>
          <td>{info?.user ?? ""}</td>
          <td>
            <a href={href("why", { channel, offset: String(offset) })}>Why?</a>
          </td>
        </tr>
      ))}
      {publications.length === 0 && (
        <tr>
          <td colSpan={5}>The history is empty.</td>
        </tr>
      )}
    </Table>
  );
}

const historyPage = 25;
const yearMs = 31_536_000_000;
