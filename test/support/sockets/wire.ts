import { Centrifuge, type Options, type TransportName } from "centrifuge";
import * as protobufBuild from "centrifuge/build/protobuf";
import { EventSource } from "eventsource";
import { MessagePackCentrifuge } from "../../../public/messagepack-centrifuge.js";
import { SdkClient, type SdkSubscription } from "./sdk-client.ts";
import type { TestServer } from "../servers/test-server.ts";
import type { TestData } from "../servers/test-backend.ts";

/** One of the ways in which the official JavaScript client reaches a server: a transport, a codec and an endpoint. */
export interface Wire {
  /** Short enough to be a part of a channel's name: tests that share a server don't share channels. */
  readonly name: string;
  /** The rule of src/SPEC.md that its codec keeps. */
  readonly rule: "W1" | "W5" | "W6";
  readonly transport: TransportName;
  readonly endpoint: "channel" | "gateway";
  /**
   * Connects a client.
   *
   * @param at another address of the server
   */
  open(
    server: Pick<TestServer, "address">,
    channel: string,
    options: Partial<Options>,
    at?: string,
  ): SdkClient;
  /** Data as this build's `publish` takes them. */
  encode(data: TestData): TestData | Uint8Array;
  /** Data as this build gives them, parsed where they are bytes. */
  decode(data: TestData | Uint8Array): TestData;
  /** The received data of a subscription, parsed. */
  received(subscription: SdkSubscription): readonly TestData[];
  /** The form in which this build gives a payload that isn't JSON. */
  opaque(bytes: Uint8Array): string | Uint8Array;
}

/** A codec, as one of the SDK's builds implements it. */
interface Build extends Pick<Wire, "rule" | "encode" | "decode" | "opaque"> {
  readonly name: "json" | "protobuf" | "msgpack";
  readonly Client: typeof Centrifuge;
}

/** A binary codec passes bytes through, whatever they hold. */
const binary: Pick<Wire, "encode" | "decode" | "opaque"> = {
  encode: (data) => new TextEncoder().encode(JSON.stringify(data)),
  decode: (data) => {
    if (!(data instanceof Uint8Array)) throw new Error("a binary codec gave something parsed");
    const parsed: TestData = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(data));
    return parsed;
  },
  opaque: (bytes) => bytes,
};

const json: Build = {
  name: "json",
  rule: "W1",
  Client: Centrifuge,
  encode: (data) => data,
  decode: (data) => {
    if (data instanceof Uint8Array) throw new Error("JSON gave bytes");
    return data;
  },
  opaque: (bytes) => Buffer.from(bytes).toString("base64"),
};
const protobuf: Build = {
  name: "protobuf",
  rule: "W5",
  Client: classOf(protobufBuild.Centrifuge),
  ...binary,
};
const messagePack: Build = {
  name: "msgpack",
  rule: "W6",
  Client: MessagePackCentrifuge,
  ...binary,
};

/** The transports of each build (docs/protocol.md 1.1, 4.1 and 4.2). */
const carried: readonly (readonly [Build, TransportName])[] = [
  [json, "websocket"],
  [protobuf, "websocket"],
  [messagePack, "websocket"],
  [json, "http_stream"],
  [protobuf, "http_stream"],
  [json, "sse"],
];

/** For `describe.each`: every transport with each of its codecs, at both endpoints. */
export const wires: readonly Wire[] = carried.flatMap(([build, transport]) =>
  (["channel", "gateway"] as const).map((endpoint) => wireOf(build, transport, endpoint)),
);

function wireOf(build: Build, transport: TransportName, endpoint: Wire["endpoint"]): Wire {
  const { name, rule, Client, encode, decode, opaque } = build;
  return {
    name: `${transport}-${name}-${endpoint}`,
    rule,
    transport,
    endpoint,
    open: (server, channel, options, at = server.address) => {
      const path = endpoint === "channel" ? `channel/${encodeURIComponent(channel)}` : "connection";
      const base = transport === "websocket" ? at.replace("http", "ws") : at;
      const deps = {
        fetch,
        readableStream: ReadableStream,
        eventsource: EventSource,
        emulationEndpoint: `${at}/emulation`,
      };
      const endpoints = [{ transport, endpoint: `${base}/${path}/${transport}` }];
      return new SdkClient(endpoints, { ...deps, ...options }, Client);
    },
    encode,
    decode,
    received: ({ publications }) => publications.all.map(({ data }) => decode(data)),
    opaque,
  };
}

/** The SDK declares the class once for each build, and private fields make the types incompatible. */
function classOf(other: typeof protobufBuild.Centrifuge): typeof Centrifuge {
  const Client: typeof Centrifuge = Object(other);
  return Client;
}
