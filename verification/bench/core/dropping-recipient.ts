import type { Subscriber } from "../../../src/hub/subscriber.ts";
import type { Message } from "../../../src/protocol/codec.ts";
import { jsonCodec } from "../../../src/protocol/json/codec.ts";

/** A subscriber that takes every frame and does nothing with it: what is measured is what comes before the socket. */
export class DroppingRecipient implements Subscriber {
  readonly info = { user: "42", client: "c" };
  readonly present = true;
  readonly announced = false;
  readonly hearsJoinLeave = false;
  readonly codec = jsonCodec;
  readonly filter = undefined;
  readonly delta = false;
  deltaBase = undefined;
  sentBytes = 0;

  noteSent(): void {
    throw new Error("It gets no patches");
  }

  send(frame: Message): void {
    this.sentBytes += frame.length;
  }

  backlogBytes(): number {
    return 0;
  }

  flushed(): void {
    // No reply waits for a publication.
  }

  disconnect(): void {
    throw new Error("It is never behind");
  }

  replacedBy(): void {
    // Nobody wants to be the only one.
  }
}
