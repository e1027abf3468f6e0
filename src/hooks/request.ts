import type { HookName } from "../contract/hook-call.ts";
import { base64, type Payload } from "../protocol/payload.ts";
import { type JsonText, trustedJsonText } from "../protocol/json/text.ts";

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

/** A question to a backend, without the connection that it is about. */
export type HookSubject =
  | {
      readonly hook: "connect";
      readonly data?: Payload;
      /** The client's name and version; "" for none. */
      readonly name: string;
      readonly version: string;
      /** The channels that a client wants to be subscribed to when it connects. */
      readonly channels: readonly string[];
    }
  | { readonly hook: "refresh" }
  | { readonly hook: "subscribe"; readonly channel: string; readonly data?: Payload }
  | { readonly hook: "sub_refresh"; readonly channel: string }
  | { readonly hook: "publish"; readonly channel: string; readonly data: Payload }
  | {
      readonly hook: "map_publish";
      readonly channel: string;
      readonly key: string;
      readonly data: Payload;
    }
  | { readonly hook: "map_remove"; readonly channel: string; readonly key: string }
  | { readonly hook: "rpc"; readonly method: string; readonly data?: Payload }
  | { readonly hook: "message"; readonly data?: Payload };

/**
 * The body of a question, with the fields of Centrifugo in their order (docs/protocol.md 7). Empty ones are left out.
 * Payloads are embedded as they came (rule W2); one that isn't JSON is sent in base64 in any case.
 *
 * @param binary whether all payloads are sent in base64
 */
export function hookRequest(
  { client, transport, protocol, user, meta }: HookClient,
  subject: HookSubject,
  binary: boolean,
): JsonText {
  const isConnect = subject.hook === "connect";
  const fields = [
    textField("client", client),
    textField("transport", transport),
    textField("protocol", protocol),
    textField("encoding", binary ? "binary" : "json"),
    isConnect ? "" : textField("user", user),
    ...subjectFields(subject, binary),
    meta === undefined || isConnect ? "" : `"meta":${meta}`,
  ];
  return trustedJsonText(`{${fields.filter((field) => field !== "").join(",")}}`);
}

function subjectFields(subject: HookSubject, binary: boolean): readonly string[] {
  switch (subject.hook) {
    case "connect":
      return [
        dataField(subject.data, binary),
        textField("name", subject.name),
        textField("version", subject.version),
        subject.channels.length === 0 ? "" : `"channels":${JSON.stringify(subject.channels)}`,
      ];
    case "refresh":
      return [];
    case "subscribe":
    case "publish":
      return [textField("channel", subject.channel), dataField(subject.data, binary)];
    case "sub_refresh":
      return [textField("channel", subject.channel)];
    case "map_publish":
      return [
        textField("channel", subject.channel),
        textField("key", subject.key),
        dataField(subject.data, binary),
      ];
    case "map_remove":
      return [textField("channel", subject.channel), textField("key", subject.key)];
    case "rpc":
      return [textField("method", subject.method), dataField(subject.data, binary)];
    case "message":
      return [dataField(subject.data, binary)];
  }
}

function textField(name: string, value: string): string {
  return value === "" ? "" : `"${name}":${JSON.stringify(value)}`;
}

function dataField(data: Payload | undefined, binary: boolean): string {
  if (data === undefined) return "";
  return binary || typeof data !== "string" ? `"b64data":"${base64(data)}"` : `"data":${data}`;
}

/** The hooks after whose question a connection that is restored has to end: the client waits for a reply (rule Q4). */
export function awaitsReply(hook: HookName): boolean {
  switch (hook) {
    case "connect":
    case "subscribe":
    case "publish":
    case "map_publish":
    case "map_remove":
    case "rpc":
      return true;
    case "refresh":
    case "sub_refresh":
    case "message":
    case "shared_poll_refresh":
      return false;
  }
}
