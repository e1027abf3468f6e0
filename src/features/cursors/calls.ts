import type { AddedGatewayCalls } from "../../contract/object-calls.ts";
import type { MakeCall } from "../../object/object-call.ts";
import type { AddedCalls, PartedGateway } from "../../object/part.ts";
import type { Coverage } from "./coverage.ts";
import { SubscriberNotes } from "./subscriber-notes.ts";

declare module "../../contract/object-calls.ts" {
  interface AddedGatewayCalls {
    /** Says what users with connections here are known to have got of a channel (rule CU15). */
    arrivedOnGateway(question: ArrivedQuestion): Promise<ArrivedOnGateway>;
  }
}

interface ArrivedQuestion {
  readonly channel: string;
  /** Absent: all. */
  readonly users?: readonly string[];
  /** Who can still prove to have got everything up to this offset is told. Absent: nobody is. */
  readonly upTo?: number;
}

/** The answer of a gateway. Users of whom it knows nothing are left out. */
interface ArrivedOnGateway {
  readonly proofs: readonly { readonly user: string; readonly proof: Coverage }[];
  /** Those who can still prove more. Absent: nobody can. */
  readonly unsure?: readonly string[];
}

type CursorCalls = Pick<AddedGatewayCalls, "arrivedOnGateway">;

/** Makes the call. */
export const cursorCallers: { readonly arrivedOnGateway: MakeCall<"arrivedOnGateway"> } = {
  arrivedOnGateway: (objects, to, request) =>
    objects.gateway(to, (object) => object.arrivedOnGateway(...request)),
};

/** The call with which a channel's object asks a gateway. */
export const cursorGatewayCalls: AddedCalls<CursorCalls, PartedGateway> = {
  arrivedOnGateway: {
    answer(object, [{ channel, users, upTo }], done) {
      object.happened("presence");
      const asked = users === undefined ? "all" : new Set(users);
      const notes = object.part(SubscriberNotes);
      const found = notes?.proofs(channel, object.sockets.sessions(), asked) ?? [];
      const proofs = [...found].map(([user, proof]) => ({ user, proof }));
      const unsure = notes?.unsure(channel, object.sockets.sessions(), asked, upTo) ?? [];
      object.endEvent(object.platform.nowMs());
      done({ proofs, unsure: [...unsure] });
    },
  },
};
