import { useEffect, useState } from "preact/hooks";
import type { JsonValue, MapState } from "../answers.ts";
import type { Question } from "../channel-questions.ts";
import { fieldOf, JsonField, jsonFault, Message, Table, useAnswer, UserLink } from "../parts.tsx";
import { call } from "../server.ts";
import { counted } from "../text.ts";

/** The keys of a map with their values, which are read again in each round. Those of a plain map may be set and removed. */
export function KeysPart({
  channel,
  question,
  type,
  changed: refresh,
  round,
  loggedOut,
}: {
  readonly channel: string;
  readonly question: Question;
  /** Of the channel: the keys of a plain map may be changed, and others have a meaning. */
  readonly type: string;
  /** Called after a change, so that everything is read again. */
  readonly changed: () => void;
  readonly round: number;
  readonly loggedOut: () => void;
}) {
  const [{ result, problem }, take] = useAnswer<MapState>(loggedOut);
  const [changed, takeChange] = useAnswer<object>(loggedOut);
  const [fault, setFault] = useState("");
  useEffect(() => void take(call(question.method, question.params)), [channel, round]);
  const change = async (method: string, params: object | string) => {
    await takeChange(call(method, params));
    refresh();
  };
  const set = async (event: SubmitEvent) => {
    event.preventDefault();
    const [key, value] = [fieldOf(event, "key"), fieldOf(event, "value")];
    const found = jsonFault("value", value);
    setFault(found);
    // The value is published as it was typed (rule N12).
    const names = `"channel":${JSON.stringify(channel)},"key":${JSON.stringify(key)}`;
    if (found === "") await change("map_publish", `{${names},"data":${value}}`);
  };
  const entries = result?.entries ?? [];
  const isChangeable = type === "map";
  const { title, noun, heads } = kinds[type] ?? kindOfOthers;
  const isShort = result?.cursor !== undefined;
  return (
    <section>
      <h2>{title}</h2>
      <Message text={problem === "" ? changed.problem || fault : problem} isProblem />
      <Table
        caption={
          isShort ? `The first ${counted(entries.length, noun)}` : counted(entries.length, noun)
        }
        heads={isChangeable ? [...heads, "Action"] : heads}
      >
        {entries.map((entry) => (
          <KeyRow
            key={entry.key}
            entry={entry}
            type={type}
            {...(isChangeable && {
              remove: () => void change("map_remove", { channel, key: entry.key }),
            })}
          />
        ))}
        {result !== undefined && entries.length === 0 && (
          <tr>
            <td colSpan={4}>The map is empty.</td>
          </tr>
        )}
      </Table>
      {isChangeable ? (
        <SetForm isWaiting={changed.isWaiting} submit={(event) => void set(event)} />
      ) : (
        <p class="quiet">The server alone changes these keys.</p>
      )}
    </section>
  );
}

function SetForm({
  isWaiting,
  submit,
}: {
  readonly isWaiting: boolean;
  readonly submit: (event: SubmitEvent) => void;
}) {
  return (
    <form onSubmit={submit}>
      <label for="key">Key</label>
      <input id="key" name="key" required />
      <JsonField id="value" name="value" label="Value" rows={2} />
      <button class="main-button" disabled={isWaiting}>
        Set
      </button>
    </form>
  );
}

function KeyRow({
  entry: { key, data, offset = 0, info },
  type,
  remove,
}: {
  readonly entry: MapState["entries"][number];
  readonly type: string;
  /** Absent where an operator can't. */
  readonly remove?: () => void;
}) {
  const user = type === "map_clients" ? (info?.user ?? "") : key;
  return (
    <tr>
      <th scope="row">{type === "map_users" ? <UserLink user={user} /> : <code>{key}</code>}</th>
      {type === "map_clients" && (
        <td>
          <UserLink user={user} />
        </td>
      )}
      {type !== "map_clients" && type !== "map_users" && (
        <>
          <td>
            <code>{ends(data)}</code>
          </td>
          <td class="number">{offset}</td>
        </>
      )}
      {remove !== undefined && (
        <td>
          <button aria-label={`Remove ${key}`} onClick={remove}>
            Remove
          </button>
        </td>
      )}
    </tr>
  );
}

/** What the keys of a type are, and the heads of their table. */
const kinds: Readonly<
  Record<
    string,
    { readonly title: string; readonly noun: string; readonly heads: readonly string[] }
  >
> = {
  map_clients: { title: "Who is subscribed", noun: "connection", heads: ["Connection", "User"] },
  map_users: { title: "Who is subscribed", noun: "user", heads: ["User"] },
  map_receipts: {
    title: "Who has read how far",
    noun: "key",
    heads: ["User or offset", "Read", "Offset"],
  },
};
const kindOfOthers = { title: "Keys", noun: "key", heads: ["Key", "Value", "Offset"] };

/** A value as JSON; of a long one the beginning and the end, where it grows. */
function ends(data: JsonValue | undefined): string {
  const text = data === undefined ? "" : JSON.stringify(data);
  return text.length > 2 * endLength
    ? `${text.slice(0, endLength)} … ${text.slice(-endLength)}`
    : text;
}

const endLength = 200;
