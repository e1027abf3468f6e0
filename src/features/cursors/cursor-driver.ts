import type { ObjectPart, PartedChannelObject } from "../../object/part.ts";
import { answerOf } from "../../object/object-call.ts";
import type { ChannelCursors } from "./channel-cursors.ts";
import type { CoverageCensus } from "./coverage-census.ts";
import { addProof } from "./coverage.ts";
import { cursorLimits } from "./limits.ts";
import { notingChannel, SubscriberNotes } from "./subscriber-notes.ts";

/** Asks for a channel's cursors what the connections on its object, and on its gateways, are known to have got. */
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

  storageDeleted(): void {
    this.#kept.kept.deleted();
  }

  ask(
    users: ReadonlySet<string> | "all",
    done: Parameters<CoverageCensus["ask"]>[1],
    upTo?: number,
  ): void {
    const { channel, platform, sockets, called, endEvent } = this.#object;
    const proofs = new Map(this.proofs(channel.name, sockets.sessions(), users));
    const unsure = new Set(this.unsure(channel.name, sockets.sessions(), users, upTo));
    const { gateways } = channel.relay;
    let missing = gateways.length;
    let isComplete = true;
    if (missing === 0) {
      done({ proofs, unsure, isComplete });
      return;
    }
    called(missing);
    const named = users === "all" ? {} : { users: [...users] };
    const asked = upTo === undefined ? {} : { upTo };
    const request = [{ channel: channel.name, ...named, ...asked }] as const;
    for (const gateway of gateways) {
      platform.call("arrivedOnGateway", gateway, request, cursorLimits.censusMs, (reply) => {
        const answer = answerOf(reply);
        isComplete &&= answer !== undefined;
        for (const { user, proof } of answer?.proofs ?? []) addProof(proofs, user, proof);
        for (const user of answer?.unsure ?? []) unsure.add(user);
        missing--;
        if (missing > 0) return;
        done({ proofs, unsure, isComplete });
        endEvent(platform.nowMs());
      });
    }
  }
}
