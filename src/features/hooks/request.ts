import { base64, type Payload } from "../../protocol/payload.ts";
import { type JsonText, trustedJsonText } from "../../protocol/json/text.ts";

/** The connection that a backend is asked about. */
export interface HookClient {
  /** The connection's ID. */
  readonly client: string;
  readonly transport: string;
  readonly protocol: string;
  readonly user: string;
  /** The connection's metadata; absent if there is none, or if the backend doesn't get it. */
  readonly meta?: JsonText;
}

/** The hooks: what a backend is asked about (docs/protocol.md 7). */
type HookName =
  | "connect"
  | "refresh"
  | "subscribe"
  | "sub_refresh"
  | "publish"
  | "map_publish"
  | "map_remove"
  | "rpc"
  | "message";

/** A question to a backend, without the connection that it is about. */
export interface HookSubject {
  readonly hook: HookName;
  readonly channel?: string;
  /** Of a map. */
  readonly key?: string;
  /** Of `rpc`, of a `map_publish` that appends, and of a `publish` that changes a publication. */
  readonly method?: string;
  /** Of the publication that is changed. */
  readonly offset?: number;
  readonly epoch?: string;
  readonly reason?: string;
  readonly data?: Payload;
  /** Of the client that connects; "" for none. */
  readonly name?: string;
  readonly version?: string;
  readonly channels?: readonly string[];
}

/**
 * The body of a question, with the fields of Centrifugo in their order (docs/protocol.md 7). Empty ones are left out.
 * Payloads are embedded as they came (rule W2); one that isn't JSON is sent in base64 in any case.
 *
 * @param binary whether all payloads are sent in base64
 */
export function hookRequest(
  { client, transport, protocol, user, meta }: HookClient,
  { hook, channel, key, method, data, name, version, channels = [], ...change }: HookSubject,
  binary: boolean,
): JsonText {
  const isConnect = hook === "connect";
  const fields = [
    textField("client", client),
    textField("transport", transport),
    textField("protocol", protocol),
    textField("encoding", binary ? "binary" : "json"),
    isConnect ? "" : textField("user", user),
    textField("channel", channel),
    textField("key", key),
    textField("method", method),
    change.offset === undefined ? "" : `"offset":${change.offset}`,
    textField("epoch", change.epoch),
    textField("reason", change.reason),
    dataField(data, binary),
    textField("name", name),
    textField("version", version),
    channels.length === 0 ? "" : `"channels":${JSON.stringify(channels)}`,
    meta === undefined || isConnect ? "" : `"meta":${meta}`,
  ];
  return trustedJsonText(`{${fields.filter((field) => field !== "").join(",")}}`);
}

function textField(name: string, value = ""): string {
  return value === "" ? "" : `"${name}":${JSON.stringify(value)}`;
}

function dataField(data: Payload | undefined, binary: boolean): string {
  if (data === undefined) return "";
  return binary || typeof data !== "string" ? `"b64data":"${base64(data)}"` : `"data":${data}`;
}
