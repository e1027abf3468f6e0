import { useEffect, useRef, useState } from "preact/hooks";
import type { JsonValue, MapState } from "../answers.ts";
import { count, fieldOf, JsonField, jsonFault, Message, Table, useAnswer } from "../parts.tsx";
import { call } from "../server.ts";

/** The keys of a map with their values, which may be set and removed, and are read again when a change is heard. */
export function KeysPart({
  channel,
  newest,
  loggedOut,
}: {
  readonly channel: string;
  /** The change that was heard last; undefined if none was. */
  readonly newest: object | undefined;
  readonly loggedOut: () => void;
}) {
  const [{ result, problem }, take] = useAnswer<MapState>(loggedOut);
  const [changed, takeChange] = useAnswer<object>(loggedOut);
  const [fault, setFault] = useState("");
  const refresh = () => take(call("map_read_state", { channel, limit: keysShown }));
  useEffect(() => void refresh(), [channel]);
  useRereading(refresh, newest);
  const change = async (method: string, params: object | string) => {
    await takeChange(call(method, params));
    await refresh();
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
        <JsonField id="value" name="value" label="Value" rows={2} />
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
        <code>{ends(data)}</code>
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

/** Reads again after each change, once for those that come while it reads. */
function useRereading(read: () => Promise<object | undefined>, newest: object | undefined): void {
  const reading = useRef<{ isUnderWay: boolean; isStale: boolean }>({
    isUnderWay: false,
    isStale: false,
  });
  useEffect(() => {
    const { current } = reading;
    current.isStale = newest !== undefined;
    if (!current.isStale || current.isUnderWay) return;
    current.isUnderWay = true;
    const readOn = async (): Promise<void> => {
      while (current.isStale) {
        current.isStale = false;
        await read();
      }
      current.isUnderWay = false;
    };
    void readOn();
  }, [newest]);
}

/** A value as JSON; of a long one the beginning and the end, where it grows. */
function ends(data: JsonValue): string {
  const text = JSON.stringify(data);
  return text.length > 2 * endLength
    ? `${text.slice(0, endLength)} … ${text.slice(-endLength)}`
    : text;
}

const endLength = 200;
const keysShown = 100;
