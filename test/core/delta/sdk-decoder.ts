import { Centrifuge } from "centrifuge";
import { Centrifuge as BinaryCentrifuge } from "centrifuge/build/protobuf";

/** What the SDK makes of a publication, and what it keeps to make the next one of. */
interface Decoded {
  readonly newData: unknown;
  readonly newPrevValue: Uint8Array;
}

/** A publication as the SDK's own transport hands it on: parsed JSON, or a Protobuf message's bytes. */
interface Received {
  readonly data: string | Uint8Array;
  readonly delta: boolean;
}

/**
 * The decoder of deltas that ships in the official SDK. It isn't exported, so this takes the codec of an unconnected client and
 * calls the method its subscriptions call for each publication. It throws where the SDK would disconnect.
 */
export class SdkDecoder {
  readonly #codec: { applyDeltaIfNeeded(received: Received, previous?: Uint8Array): Decoded };
  #previous: Uint8Array | undefined;

  constructor(form: "text" | "bytes") {
    const Client = form === "text" ? Centrifuge : BinaryCentrifuge;
    this.#codec = Reflect.get(new Client("ws://127.0.0.1:1"), "_codec");
  }

  /** Takes a publication; gives its data as a subscription's listener gets it. */
  receive(received: Received): unknown {
    const decoded = this.#codec.applyDeltaIfNeeded(received, this.#previous);
    this.#previous = decoded.newPrevValue;
    return decoded.newData;
  }

  /** The payload's bytes as the SDK keeps them for the next delta. */
  kept(): Uint8Array | undefined {
    return this.#previous;
  }
}

/** Applies one delta with the SDK's code. */
export function applyWithSdk(base: Uint8Array, delta: Uint8Array): Uint8Array {
  const decoder = new SdkDecoder("bytes");
  decoder.receive({ data: base, delta: false });
  decoder.receive({ data: delta, delta: true });
  return decoder.kept() ?? new Uint8Array();
}
