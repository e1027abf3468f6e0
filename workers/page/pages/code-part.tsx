import { useState } from "preact/hooks";
import type { CodeState, JsonValue } from "../answers.ts";
import { fieldOf, jsonFault, Message, Table, useAnswer } from "../parts.tsx";
import { call } from "../server.ts";
import { bytes, count, counted, time } from "../text.ts";

/** The code of a channel: the keys and the timers that it has set, its last calls, and a form that calls it. */
export function CodePart({
  channel,
  code,
  called,
  loggedOut,
}: {
  readonly channel: string;
  readonly code: CodeState;
  /** Called after a call, so that everything is read again. */
  readonly called: () => void;
  readonly loggedOut: () => void;
}) {
  return (
    <section>
      <h2>Code</h2>
      {code.bytes !== undefined && <Keys code={code} size={code.bytes} />}
      <Timers timers={code.timers} />
      <div class="columns">
        <CallForm
          channel={channel}
          names={Object.keys(code.procedures).filter((name) => !notCalled.has(name))}
          called={called}
          loggedOut={loggedOut}
        />
        <LastCalls calls={code.last_calls} />
      </div>
    </section>
  );
}

/** What runs by itself. */
const notCalled: ReadonlySet<string> = new Set(["onPublish", "migrate"]);

function Keys({
  code: { first_keys: first, keys, version },
  size,
}: {
  readonly code: CodeState;
  readonly size: number;
}) {
  const all = `${counted(keys, "key")}, ${bytes(size)}`;
  const form = version === undefined ? "" : `, version ${version}`;
  const shown = first.length < keys ? `; the first ${first.length}` : "";
  return (
    <Table caption={`${all}${form}${shown}`} heads={["Key", "Value"]}>
      {first.map(({ key, value }) => (
        <tr key={key}>
          <th scope="row">
            <code>{key}</code>
          </th>
          <td>{value === undefined ? "(long)" : <code>{JSON.stringify(value)}</code>}</td>
        </tr>
      ))}
      {first.length === 0 && (
        <tr>
          <td colSpan={2}>The code has set no key.</td>
        </tr>
      )}
    </Table>
  );
}

function Timers({ timers }: Pick<CodeState, "timers">) {
  return (
    <Table caption="Timers" heads={["Timer", "Calls", "At", "Failed tries"]}>
      {timers.map(({ name, procedure, at_ms: atMs, tries }) => (
        <tr key={name}>
          <th scope="row">{name}</th>
          <td>
            <code>{procedure}</code>
          </td>
          <td>{time(atMs)}</td>
          <td class="number">{count(tries)}</td>
        </tr>
      ))}
      {timers.length === 0 && (
        <tr>
          <td colSpan={4}>No timer is set.</td>
        </tr>
      )}
    </Table>
  );
}

function LastCalls({ calls }: { readonly calls: CodeState["last_calls"] }) {
  return (
    <Table
      caption="Last calls since the object is in memory, newest first"
      heads={["Procedure", "By", "Outcome", "At"]}
    >
      {calls.map(({ procedure, by, outcome, code, message, at_ms: atMs }, index) => (
        <tr key={index}>
          <th scope="row">{procedure}</th>
          <td>{by}</td>
          <td>{code === undefined ? outcome : `${outcome}: ${code} ${message ?? ""}`}</td>
          <td>{time(atMs)}</td>
        </tr>
      ))}
      {calls.length === 0 && (
        <tr>
          <td colSpan={4}>Nothing was called.</td>
        </tr>
      )}
    </Table>
  );
}

function CallForm({
  channel,
  names,
  called,
  loggedOut,
}: {
  readonly channel: string;
  readonly names: readonly string[];
  readonly called: () => void;
  readonly loggedOut: () => void;
}) {
  const [answer, take] = useAnswer<{ readonly data?: JsonValue }>(loggedOut);
  const [fault, setFault] = useState("");
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const [procedure, args] = [fieldOf(event, "procedure"), fieldOf(event, "args")];
    const found = args.trim() === "" ? "" : jsonFault("arguments", args);
    setFault(found);
    if (found !== "") return;
    // The arguments are sent as they were typed (rule N12).
    const given = args.trim() === "" ? "" : `,"args":${args}`;
    const place = `"channel":${JSON.stringify(channel)},"procedure":${JSON.stringify(procedure)}`;
    await take(call("call", `{${place}${given}}`));
    called();
  };
  const { result } = answer;
  // null is also what a procedure without a result is answered with.
  const { data = null } = result ?? {};
  const returned = data === null ? "nothing" : JSON.stringify(data);
  return (
    <form onSubmit={(event) => void submit(event)}>
      <label for="procedure">Procedure</label>
      <select id="procedure" name="procedure">
        {names.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
      <label for="args">Arguments, as JSON</label>
      <textarea id="args" name="args" rows={2} spellcheck={false} />
      <button class="main-button" disabled={answer.isWaiting || names.length === 0}>
        Call
      </button>
      <p class="quiet">It is called as by a backend, without a user.</p>
      <Message text={fault === "" ? answer.problem : fault} isProblem />
      <Message text={result === undefined || fault !== "" ? "" : `It has returned ${returned}.`} />
    </form>
  );
}
