import { useEffect, useState } from "preact/hooks";
import type { MapState } from "../answers.ts";
import { count, fieldOf, isJson, Message, shortened, Table, useAnswer } from "../parts.tsx";
import { call } from "../server.ts";

/** The keys of a map with their values, which may be set and removed. */
export function KeysPart({
  channel,
  loggedOut,
}: {
  readonly channel: string;
  readonly loggedOut: () => void;
}) {
  const [{ result, problem }, take] = useAnswer<MapState>(loggedOut);
  const [changed, takeChange] = useAnswer<object>(loggedOut);
  const [fault, setFault] = useState("");
  const refresh = () => take(call("map_read_state", { channel, limit: keysShown }));
  useEffect(() => void refresh(), [channel]);
  const change = async (method: string, params: object | string) => {
    await takeChange(call(method, params));
    await refresh();
  };
  const set = async (event: SubmitEvent) => {
    event.preventDefault();
    const [key, value] = [fieldOf(event, "key"), fieldOf(event, "value")];
    setFault(isJson(value) ? "" : "The value isn't valid JSON. A text needs quotes.");
    // The value is published as it was typed (rule N12).
    const names = `"channel":${JSON.stringify(channel)},"key":${JSON.stringify(key)}`;
    if (isJson(value)) await change("map_publish", `{${names},"data":${value}}`);
  };
  const entries = result?.entries ?? [];
  return (
    <section>
      <h2>Keys</h2>
      <Message text={problem === "" ? changed.problem || fault : problem} isProblem />
      <Table
        caption={`Keys: ${count(entries.length)}${result?.cursor === undefined ? "" : " and more"}`}
        heads={["Key", "Value", "Change", "Action"]}
      >
        {entries.map((entry) => (
          <KeyRow
            key={entry.key}
            entry={entry}
            remove={() => void change("map_remove", { channel, key: entry.key })}
          />
        ))}
        {result !== undefined && entries.length === 0 && (
          <tr>
            <td colSpan={4}>The map is empty.</td>
          </tr>
        )}
      </Table>
      <form onSubmit={(event) => void set(event)}>
        <label for="key">Key</label>
        <input id="key" name="key" required />
        <label for="value">Value, as JSON</label>
        <textarea id="value" name="value" rows={2} spellcheck={false} required>
          {'{"text":"hello"}'}
        </textarea>
        <button class="main-button" disabled={changed.isWaiting}>
          Set
        </button>
      </form>
    </section>
  );
}

function KeyRow({
  entry: { key, data, offset = 0 },
  remove,
}: {
  readonly entry: MapState["entries"][number];
  readonly remove: () => void;
}) {
  return (
    <tr>
      <th scope="row">
        <code>{key}</code>
      </th>
      <td>
        <code>{shortened(data)}</code>
      </td>
      <td class="number">{offset}</td>
      <td>
        <button aria-label={`Remove ${key}`} onClick={remove}>
          Remove
        </button>
      </td>
    </tr>
  );
}

const keysShown = 100;
