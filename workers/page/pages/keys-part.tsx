import { useEffect, useState } from "preact/hooks";
import type { JsonValue, MapState } from "../answers.ts";
import type { Question } from "../channel-questions.ts";
import { fieldOf, JsonField, jsonFault, Message, Table, useAnswer } from "../parts.tsx";
import { call } from "../server.ts";
import { counted } from "../text.ts";

/** The keys of a map with their values, which are read again in each round. Those of a plain map may be set and removed. */
export function KeysPart({
  channel,
  question,
  isChangeable,
  changed: refresh,
  round,
  loggedOut,
}: {
  readonly channel: string;
  readonly question: Question;
  readonly isChangeable: boolean;
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
  const isShort = result?.cursor !== undefined;
  return (
    <section>
      <h2>Keys</h2>
      <Message text={problem === "" ? changed.problem || fault : problem} isProblem />
      <Table
        caption={
          isShort ? `The first ${counted(entries.length, "key")}` : counted(entries.length, "key")
        }
        heads={["Key", "Value", "Offset", ...(isChangeable ? ["Action"] : [])]}
      >
        {entries.map((entry) => (
          <KeyRow
            key={entry.key}
            entry={entry}
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
        <form onSubmit={(event) => void set(event)}>
          <label for="key">Key</label>
          <input id="key" name="key" required />
          <JsonField id="value" name="value" label="Value" rows={2} />
          <button class="main-button" disabled={changed.isWaiting}>
            Set
          </button>
        </form>
      ) : (
        <p class="quiet">The server alone changes these keys.</p>
      )}
    </section>
  );
}

function KeyRow({
  entry: { key, data, offset = 0, info },
  remove,
}: {
  readonly entry: MapState["entries"][number];
  /** Absent where an operator can't. */
  readonly remove?: () => void;
}) {
  return (
    <tr>
      <th scope="row">
        <code>{key}</code>
      </th>
      <td>{data === undefined ? (info?.user ?? "–") : <code>{ends(data)}</code>}</td>
      <td class="number">{offset}</td>
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

/** A value as JSON; of a long one the beginning and the end, where it grows. */
function ends(data: JsonValue): string {
  const text = JSON.stringify(data);
  return text.length > 2 * endLength
    ? `${text.slice(0, endLength)} … ${text.slice(-endLength)}`
    : text;
}

const endLength = 200;
