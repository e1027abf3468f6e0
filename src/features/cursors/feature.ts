import type { ChannelPart } from "../../channel/channel-part.ts";
import { audienceRows, audienceMethods } from "./audience/audience-methods.ts";
import { cursorRows, cursorApiMethods } from "./methods.ts";
import type {
  AddedChannelCalls,
  AddedGatewayCalls,
  AddedHomeCalls,
} from "../../contract/object-calls.ts";
import type {
  AddedCalls,
  PartedChannelObject,
  PartedGateway,
  PartedHome,
} from "../../object/part.ts";
import { ChannelIndex, newChannelIndex } from "./forgetting/channel-index.ts";
import { listProofs } from "./coverage.ts";
import { type KnownHere, SubscriberNotes, notingGateway } from "./subscriber-notes.ts";
import { KeptUsers } from "./forgetting/kept-users.ts";
import { UserTeller } from "./forgetting/user-teller.ts";
import type { Feature } from "../feature.ts";
import { ChannelCursors } from "./channel-cursors.ts";
import { noticesOf } from "./audience/unseen-judge.ts";
import { UnseenWatch } from "./audience/unseen-watch.ts";
import { cursorCallers } from "./calls.ts";
import { CursorDriver } from "./cursor-driver.ts";
import { cursorMethodsOf } from "./client-methods.ts";
import { ChannelAudience, membersOfSubscriptions } from "./audience/channel-audience.ts";

/** For a channel whose namespace has no cursors (rule CU9). */
const noCursors: ChannelPart = {
  carryOut: ({ method }) =>
    method in cursorRows || method in audienceRows ? notAvailable : undefined,
};

/** For a channel whose namespace has no audience (rule CU21). */
const noAudience: ChannelPart = {
  carryOut: ({ method }) => (method in audienceRows ? notAvailable : undefined),
};

const notAvailable = { outcome: "not-available" } as const;

/** The call with which a user's home makes a channel forget the user. */
const cursorChannelCalls: AddedCalls<
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
const cursorHomeCalls: AddedCalls<Pick<AddedHomeCalls, "keepUsers" | "forgetUser">, PartedHome> = {
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
const cursorGatewayCalls: AddedCalls<Pick<AddedGatewayCalls, "arrivedOnGateway">, PartedGateway> = {
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

/** The cursors feature: each channel keeps what each user has received and read. */
export const cursors = {
  operations: { ...cursorRows, ...audienceRows },
  methods: { ...cursorApiMethods, ...audienceMethods },
  gatewayCalls: cursorGatewayCalls,
  channelCalls: cursorChannelCalls,
  homeCalls: cursorHomeCalls,
  callers: cursorCallers,
  ofHome: newChannelIndex,
  ofObject: ({ config }) => {
    const clientMethods = cursorMethodsOf(config);
    return clientMethods && { ofSessions: { clientMethods } };
  },
  ofChannel: (channel, setup, { client }) => {
    const { cursors: options } = channel.options;
    if (options === undefined) return [noCursors];
    const kept = new KeptUsers(setup.sql);
    const notices = noticesOf(channel, options, setup, kept, client.pingIntervalMs);
    return [
      new ChannelCursors(channel, options, kept, notices),
      options.audience === "none" ? noAudience : new ChannelAudience(channel, kept, notices),
    ];
  },
  ofChannelObject: (object) => {
    const { parts } = object.channel;
    const marks = parts.find((part) => part instanceof ChannelCursors);
    if (marks === undefined) return [];
    const driver = new CursorDriver(object, marks);
    const { notices } = parts.find((part) => part instanceof ChannelAudience) ?? {};
    return [
      driver,
      new UserTeller(object, marks.kept),
      membersOfSubscriptions,
      ...(notices === undefined ? [] : [new UnseenWatch(object, { ...notices, census: driver })]),
    ];
  },
  ofGateway: (object) =>
    cursorMethodsOf(object.config)
      ? [new SubscriberNotes(notingGateway(object)), membersOfSubscriptions]
      : [],
} as const satisfies Feature;
