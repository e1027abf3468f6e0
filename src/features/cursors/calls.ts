import type {
  AddedChannelCalls,
  AddedGatewayCalls,
  AddedHomeCalls,
} from "../../contract/object-calls.ts";
import type { Ordered } from "../../contract/user-order.ts";
import type { MakeCall } from "../../object/object-call.ts";
import type {
  AddedCalls,
  PartedChannelObject,
  PartedGateway,
  PartedHome,
} from "../../object/part.ts";
import { ChannelIndex } from "./forgetting/channel-index.ts";
import { listProofs } from "./coverage.ts";
import type { ArrivedOnGateway, ArrivedQuestion } from "./coverage-census.ts";
import type { ForgottenHere, KeptAnswer, ToldUsers } from "./forgetting/kept-user.ts";
import { type KnownHere, SubscriberNotes } from "./subscriber-notes.ts";
import { KeptUsers } from "./forgetting/kept-users.ts";
import { UserTeller } from "./forgetting/user-teller.ts";

declare module "../../contract/object-calls.ts" {
  interface AddedGatewayCalls {
    /** Says what users with connections here are known to have got of a channel (rule CU15). */
    arrivedOnGateway(question: ArrivedQuestion): Promise<ArrivedOnGateway>;
  }
  interface AddedChannelCalls {
    /** Deletes everything that the channel keeps of a user (rule CU30). @returns when that is durable */
    forgetUserHere(request: ForgottenHere): Promise<object>;
  }
  interface AddedHomeCalls {
    /** Takes of whom a channel keeps something (rule CU31). */
    keepUsers(told: ToldUsers): Promise<KeptAnswer>;
    /** Has all channels forget a user. @returns when all have, or not in time */
    forgetUser(request: ForgottenHere): Promise<Ordered>;
  }
}

type CursorCalls = Pick<AddedGatewayCalls, "arrivedOnGateway">;

type CursorCallers = {
  readonly [
    Name in "arrivedOnGateway" | "forgetUserHere" | "keepUsers" | "forgetUser"
  ]: MakeCall<Name>;
};

/** Makes the calls. */
export const cursorCallers: CursorCallers = {
  arrivedOnGateway: (objects, to, request) =>
    objects.gateway(to, (object) => object.arrivedOnGateway(...request)),
  forgetUserHere: (objects, to, request) =>
    objects.channel(to, (object) => object.forgetUserHere(...request)),
  keepUsers: (objects, to, request) => objects.home(to, (object) => object.keepUsers(...request)),
  forgetUser: (objects, to, request) => objects.home(to, (object) => object.forgetUser(...request)),
};

/** The call with which a user's home has a channel forget the user. */
export const cursorChannelCalls: AddedCalls<
  Pick<AddedChannelCalls, "forgetUserHere">,
  PartedChannelObject
> = {
  forgetUserHere: {
    answer(object, [{ user }], done) {
      object.happened("users");
      const teller = object.part(UserTeller);
      // Also where nothing is kept any more: what was kept before can be forgotten.
      if (teller === undefined) new KeptUsers(object.platform.sql).forget(user);
      else teller.forget(user);
      object.endEvent(object.platform.nowMs());
      done({});
    },
  },
};

/** The calls to users' homes. A home without an index knows no channel. */
export const cursorHomeCalls: AddedCalls<
  Pick<AddedHomeCalls, "keepUsers" | "forgetUser">,
  PartedHome
> = {
  keepUsers: {
    answer(home, [{ channel, kept }], done) {
      done(home.part(ChannelIndex)?.keep(channel, kept) ?? { forget: [] });
    },
  },
  forgetUser: {
    answer(home, [{ user }], done) {
      const index = home.part(ChannelIndex);
      if (index === undefined) done({ outcome: "done" });
      else index.forget(user, done);
    },
  },
};

/** The call with which a channel's object asks a gateway. */
export const cursorGatewayCalls: AddedCalls<CursorCalls, PartedGateway> = {
  arrivedOnGateway: {
    answer(object, [{ channel, users, upTo }], done) {
      object.happened("presence");
      const asked = { channel, users: users === undefined ? "all" : new Set(users), upTo } as const;
      const notes = object.part(SubscriberNotes);
      const answer = ({ proofs, unsure }: KnownHere): void => {
        object.endEvent(object.platform.nowMs());
        done({ proofs: listProofs(proofs), unsure: [...unsure] });
      };
      if (notes === undefined) answer({ proofs: new Map(), unsure: new Set() });
      else notes.gather(asked, object, answer);
    },
  },
};
