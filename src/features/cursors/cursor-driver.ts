import type { ObjectPart, PartedChannelObject } from "../../object/part.ts";
import { answerOf } from "../../object/object-call.ts";
import type { ChannelCursors } from "./channel-cursors.ts";
import { type CoverageCensus, addProof, listProofs, type UserProof } from "./coverage.ts";
import { cursorLimits } from "./limits.ts";
import { type KnownHere, notingChannel, SubscriberNotes } from "./subscriber-notes.ts";

/** Asks, for a channel's cursors, what the connections on its object and on its gateways are known to have received. */
export class CursorDriver extends SubscriberNotes implements ObjectPart, CoverageCensus {
  readonly #object: PartedChannelObject;
  readonly #kept: ChannelCursors;

  constructor(object: PartedChannelObject, kept: ChannelCursors) {
    super(notingChannel(object));
    this.#object = object;
    this.#kept = kept;
    kept.census = this;
  }

  storesNothing(): boolean {
    return this.#kept.isEmpty;
  }

  ask(
    users: ReadonlySet<string> | "all",
    done: Parameters<CoverageCensus["ask"]>[1],
    upTo?: number,
  ): void {
    const { channel, platform, called, endEvent } = this.#object;
    const { gateways } = channel.relay;
    const found: KnownHere = { proofs: new Map(), unsure: new Set() };
    let missing = gateways.length + 1;
    let isComplete = true;
    const heard = (proofs: readonly UserProof[], unsure: Iterable<string>): void => {
      for (const { user, proof } of proofs) addProof(found.proofs, user, proof);
      for (const user of unsure) found.unsure.add(user);
      missing--;
      if (missing === 0) done({ ...found, isComplete });
    };
    this.gather({ channel: channel.name, users, upTo }, this.#object, ({ proofs, unsure }) =>
      heard(listProofs(proofs), unsure),
    );
    if (gateways.length === 0) return;
    called(gateways.length);
    const named = users === "all" ? {} : { users: [...users] };
    const asked = upTo === undefined ? {} : { upTo };
    const request = [{ channel: channel.name, ...named, ...asked }] as const;
    for (const gateway of gateways) {
      platform.call("arrivedOnGateway", gateway, request, cursorLimits.censusMs, (reply) => {
        const answer = answerOf(reply);
        isComplete &&= answer !== undefined;
        heard(answer?.proofs ?? [], answer?.unsure ?? []);
        if (missing === 0) endEvent(platform.nowMs());
      });
    }
  }
}
