import { decodeMulti } from "@msgpack/msgpack";
import type { Codec, Message } from "../../../src/protocol/codec.ts";
import type { Payload } from "../../../src/protocol/payload.ts";
import { SdkDecoder } from "../delta/sdk-decoder.ts";
import { proto, readFrame } from "../protocol/protobuf/peers.ts";

/** A publication as it is on the wire. */
export interface WirePublication {
  readonly data: unknown;
  readonly delta: boolean;
}

/**
 * The client's side of a subscription: reads frames with decoders that aren't ours (JSON.parse, protobufjs, @msgpack/msgpack)
 * and deltas with the SDK's.
 */
export class ClientDecoder {
  readonly #codec: Codec;
  readonly #delta: SdkDecoder | undefined;

  /** @param had the last recovered payload, if the subscription gets deltas */
  constructor(codec: Codec, delta: boolean, had?: Payload) {
    this.#codec = codec;
    this.#delta = delta ? new SdkDecoder(codec.deltaForm) : undefined;
    if (had === undefined) return;
    const bytes = bytesOf(had);
    const data = codec.deltaForm === "text" ? jsonOf(had) : bytes;
    this.#delta?.receive({ data, delta: false });
  }

  /** The payloads of all publications in these frames, as {@link asReceived} writes them. */
  decode(frames: readonly Message[]): string[] {
    return frames
      .flatMap((frame) => wirePublications(this.#codec, frame))
      .map((one) => this.#payload(one));
  }

  #payload({ data, delta }: WirePublication): string {
    if (this.#delta === undefined && delta)
      throw new Error("a delta without a negotiated delta type");
    if (data instanceof Uint8Array) {
      const whole = this.#delta?.receive({ data, delta }) ?? data;
      if (!(whole instanceof Uint8Array)) throw new Error("not bytes");
      return Buffer.from(whole).toString("hex");
    }
    if (this.#delta === undefined) return JSON.stringify(data);
    if (typeof data !== "string") throw new Error("with deltas payloads are strings");
    return JSON.stringify(this.#delta.receive({ data, delta }));
  }
}

/** A payload as a client of this codec decodes it: its bytes in hexadecimal digits, or as JSON. */
export function asReceived(payload: Payload, { deltaForm }: Codec): string {
  if (deltaForm === "bytes") return Buffer.from(bytesOf(payload)).toString("hex");
  return JSON.stringify(JSON.parse(jsonOf(payload)));
}

/** The publications in a frame, in order. */
export function wirePublications(codec: Codec, frame: Message): WirePublication[] {
  return messagesOf(codec, frame).map((message) => {
    const push = codec.name === "one_way" ? message : member(message, "push");
    const publication = member(push, "pub");
    return { data: member(publication, "data"), delta: member(publication, "delta") === true };
  });
}

function messagesOf({ name }: Codec, frame: Message): unknown[] {
  if (typeof frame === "string") return frame.split("\n").map((line) => JSON.parse(line));
  if (name === "msgpack") return [...decodeMulti(frame)];
  return readFrame(proto.lookupType("Reply"), frame);
}

function member(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null) throw new Error(`nothing has a ${name}`);
  return Reflect.get(value, name);
}

function bytesOf(payload: Payload): Uint8Array {
  return typeof payload === "string" ? Buffer.from(payload) : payload;
}

/** Bytes that are no JSON come to JSON clients as base64. */
function jsonOf(payload: Payload): string {
  return typeof payload === "string" ? payload : `"${Buffer.from(payload).toString("base64")}"`;
}
