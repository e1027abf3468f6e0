import { useEffect, useState } from "preact/hooks";
import type { Inspected, NamespaceSettings, Position, Settings } from "../answers.ts";
import {
  historyText,
  isMap,
  isMirror,
  type KnownChannel,
  knownChannel,
  type Question,
} from "../channel-questions.ts";
import { href } from "../hash-route.ts";
import {
  type Asked,
  Facts,
  fieldOf,
  JsonField,
  jsonFault,
  Message,
  Table,
  useAnswer,
} from "../parts.tsx";
import type { PageProps } from "../parts.tsx";
import { useRounds } from "../rounds.ts";
import { call } from "../server.ts";
import { type Tail, useTail } from "../tail.ts";
import { bytes, count, time } from "../text.ts";
import { CodePart } from "./code-part.tsx";
import { Contents, HistoryPart } from "./history-part.tsx";
import { KeysPart } from "./keys-part.tsx";
import { PresentPart } from "./present-part.tsx";

/** One channel: its state, who is there, its keys or its history, what is published now, and a form to publish. */
export function ChannelPage({
  params,
  loggedOut,
  settings,
}: PageProps & { readonly settings: Settings }) {
  const channel = params.get("name") ?? "";
  const known = knownChannel(channel, settings);
  return (
    <>
      <p class="quiet">
        <a href={href("channels")}>Channels</a>
      </p>
      {known.outcome === "unknown" ? (
        <>
          <h1>{channel}</h1>
          <UnknownNamespace namespace={known.namespace} settings={settings} />
        </>
      ) : (
        <Channel
          channel={channel}
          known={known}
          loggedOut={loggedOut}
          isHeardAtOnce={params.get("hear") === "1"}
        />
      )}
    </>
  );
}

/** Says that a channel can't exist. Nothing is asked of it: the answer would be a refusal. */
export function UnknownNamespace({
  namespace,
  settings,
}: {
  readonly namespace: string;
  readonly settings: Settings;
}) {
  const names = settings.namespaces.flatMap(({ name }) => (name === "" ? [] : [name]));
  const others = names.length === 0 ? "It has none." : `It has: ${names.join(", ")}.`;
  const text = `The configuration has no namespace “${namespace}”. ${others}`;
  return <Message text={text} isProblem />;
}

function Channel({
  channel,
  known: { namespace, questions },
  loggedOut,
  isHeardAtOnce,
}: {
  readonly channel: string;
  readonly known: Extract<KnownChannel, { readonly outcome: "known" }>;
  readonly loggedOut: () => void;
  readonly isHeardAtOnce: boolean;
}) {
  const [isHearing, setIsHearing] = useState(isHeardAtOnce);
  const tail = useTail(channel, isHearing);
  // What the page hears from then on may differ from what it was told before.
  const [round, refresh] = useRounds(tail.heard[0], tail.state);
  const asked = { round, loggedOut };
  return (
    <>
      <div class="line">
        <h1>{channel}</h1>
        <button onClick={refresh}>Refresh</button>
      </div>
      <State {...asked} question={questions.state} namespace={namespace} changed={refresh} />
      <div class="columns">
        {namespace.type === "stream" && (
          <PublishForm channel={channel} loggedOut={loggedOut} published={refresh} />
        )}
        {questions.keys !== undefined && (
          <KeysPart
            {...asked}
            channel={channel}
            question={questions.keys}
            type={namespace.type}
            changed={refresh}
          />
        )}
        {namespace.type !== "shared_poll" && (
          <TailPart tail={tail} isOn={isHearing} turn={setIsHearing} />
        )}
      </div>
      {questions.presence !== undefined && <PresentPart {...asked} question={questions.presence} />}
      <HistoryPart
        {...asked}
        channel={channel}
        namespace={namespace}
        questions={questions}
        changed={refresh}
      />
    </>
  );
}

function State({
  question,
  namespace,
  round,
  loggedOut,
  changed,
}: Asked & {
  readonly question: Question;
  readonly namespace: NamespaceSettings;
  /** Called after a call of the channel's code, so that everything is read again. */
  readonly changed: () => void;
}) {
  const [{ result, problem }, take] = useAnswer<Moment>(loggedOut);
  useEffect(() => {
    const coming = call<Inspected>(question.method, question.params);
    void take(
      coming.then((answer) =>
        answer.outcome === "result"
          ? { ...answer, result: { state: answer.result, atMs: Date.now() } }
          : answer,
      ),
    );
  }, [question.params["channel"], round]);
  const code = result?.state.channel?.code;
  return (
    <>
      <Message text={problem} isProblem />
      {result !== undefined && <StateFacts moment={result} namespace={namespace} />}
      {code !== undefined && (
        <CodePart
          channel={String(question.params["channel"])}
          code={code}
          called={changed}
          loggedOut={loggedOut}
        />
      )}
    </>
  );
}

/** The state of a channel at one moment. */
interface Moment {
  readonly state: Inspected;
  readonly atMs: number;
}

function StateFacts({
  moment: { state, atMs },
  namespace,
}: {
  readonly moment: Moment;
  readonly namespace: NamespaceSettings;
}) {
  const { channel, subscribers } = state;
  const gateways = channel?.gateways ?? [];
  const all = gateways.reduce((sum, one) => sum + (one.subscribers?.count ?? 0), 0);
  const own = subscribers?.count ?? 0;
  return (
    <section aria-label="State">
      <Facts
        facts={[
          ["At", time(atMs)],
          ["Subscribers", count(own + all)],
          ["of them directly", count(own)],
          ["of them on gateways", count(all)],
          ...(isMirror(namespace) ? [] : streamFacts(namespace, channel)),
          ["Stored", bytes(state.stored_bytes)],
          ["In memory since", time(state.awake_since_ms)],
          ["Woke because of", wakers[state.woken_by] ?? state.woken_by],
          ["Next alarm", nextAlarm(state.alarm_at_ms)],
        ]}
      />
      <GatewayTable gateways={gateways} />
    </section>
  );
}

/** Where the channel is. The keys of a mirror are taken from another channel when somebody looks, as this page does. */
function streamFacts(
  namespace: NamespaceSettings,
  channel: Inspected["channel"],
): readonly (readonly [string, string])[] {
  const what = isMap(namespace) ? "change" : "publication";
  return [
    ["Newest offset", channel?.offset === undefined ? "–" : String(channel.offset)],
    ["Epoch", channel?.epoch ?? "–"],
    [
      isMap(namespace) ? "Changes kept" : "History",
      channel === undefined ? "–" : historyText(namespace, channel.history),
    ],
    [`Newest ${what}`, time(channel?.newest_ms)],
  ];
}

function GatewayTable({ gateways }: Pick<NonNullable<Inspected["channel"]>, "gateways">) {
  return (
    <Table
      caption="Gateways that follow the channel"
      heads={["Gateway", "Subscribers", "Entries behind", "Failed calls in a row", "Unsent"]}
    >
      {gateways.map((gateway) => (
        <tr key={gateway.object}>
          <th scope="row">{gateway.object}</th>
          <td class="number">{count(gateway.subscribers?.count ?? 0)}</td>
          <td class="number">{count(gateway.lag)}</td>
          <td class="number">{count(gateway.failures)}</td>
          <td class="number">{gateway.state ?? bytes(gateway.backlog_bytes ?? 0)}</td>
        </tr>
      ))}
      {gateways.length === 0 && (
        <tr>
          <td colSpan={5}>No gateway follows the channel.</td>
        </tr>
      )}
    </Table>
  );
}

/** When an alarm rings. What never ends has an alarm in ten years, which is no news. */
function nextAlarm(atMs: number | undefined): string {
  if (atMs === undefined) return "none";
  return atMs - Date.now() > yearMs ? "none soon" : time(atMs);
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
  presence: "a question about who is present",
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
            {one.isRemoval ? <code>A key was removed.</code> : <Contents publication={one} />}
          </li>
        ))}
      </ol>
    </section>
  );
}

const yearMs = 31_536_000_000;
