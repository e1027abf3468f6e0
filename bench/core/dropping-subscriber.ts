import type { Subscriber } from "../../src/hub/subscriber.ts";
import type { Message } from "../../src/protocol/codec.ts";
import { jsonCodec } from "../../src/protocol/json/codec.ts";

/** A subscriber that drops every frame, so that a bench measures the work before the socket. */
export class DroppingSubscriber implements Subscriber {
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
    throw new Error("A bench sent a delta");
  }

  send(frame: Message): void {
    this.sentBytes += frame.length;
  }

  backlogBytes(): number {
    return 0;
  }

  disconnect(): void {
    throw new Error("A bench found the subscriber behind");
  }

  insufficientState(): void {
    // No bench clears a map.
  }

  replacedBy(): void {
    // No bench has an exclusive connection.
  }
}
