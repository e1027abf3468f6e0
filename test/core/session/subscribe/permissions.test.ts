import { describe, expect, it } from "vitest";
import {
  type Caller,
  mayPublish,
  mayReadHistory,
  maySeePresence,
  maySubscribe,
} from "../../../../src/session/grant.ts";
import type { Capability } from "../../../../src/access/capabilities.ts";
import type { ChannelOptions } from "../../../../src/config/config.ts";
import { channelOptions } from "../../../support/configured.ts";

const user = { user: "42", subscribed: false };
const subscriber = { user: "42", subscribed: true };
const nobody = { user: "", subscribed: false };
const anonymousSubscriber = { user: "", subscribed: true };
const everybody: readonly Caller[] = [user, subscriber, nobody, anonymousSubscriber];

/** docs/protocol.md 5.5, written out: which openings let in whom. */
const table: readonly (readonly [string, readonly Caller[]])[] = [
  ["", []],
  ["client", [user, subscriber]],
  ["subscriber", [subscriber]],
  ["anonymous", []],
  ["client subscriber", [user, subscriber]],
  ["client anonymous", [user, subscriber, nobody, anonymousSubscriber]],
  ["subscriber anonymous", [subscriber, anonymousSubscriber]],
  ["client subscriber anonymous", [user, subscriber, nobody, anonymousSubscriber]],
];

const actions = ["publish", "presence", "history"] as const;
type Action = (typeof actions)[number];

const asks: Record<Action, (options: ChannelOptions, caller: Caller) => boolean> = {
  publish: mayPublish,
  presence: maySeePresence,
  history: mayReadHistory,
};

/** The option names that open an action: `allow_<action>_for_<whom>`. */
function openings(action: Action, whom: string): object {
  const names = whom === "" ? [] : whom.split(" ");
  return Object.fromEntries(names.map((name) => [`allow_${action}_for_${name}`, true]));
}

describe.each(actions)("%s", (action) => {
  it.each(table)("[A1] opened to %j lets in exactly those it names", (whom, allowed) => {
    const options = channelOptions(openings(action, whom));
    expect(everybody.filter((caller) => asks[action](options, caller))).toStrictEqual(allowed);
  });

  it.each(table)("[A1] opened to %j isn't opened further by anything else", (whom, allowed) => {
    const others = actions.filter((other) => other !== action);
    const options = channelOptions({
      presence: true,
      history_size: 1,
      history_ttl: "1s",
      allow_recovery: true,
      allow_positioning: true,
      allow_user_limited_channels: true,
      allow_subscribe_for_client: true,
      allow_subscribe_for_anonymous: true,
      ...Object.assign(
        {},
        ...others.map((other) => openings(other, "client subscriber anonymous")),
      ),
      ...openings(action, whom),
    });
    expect(everybody.filter((caller) => asks[action](options, caller))).toStrictEqual(allowed);
  });
});

describe.each(actions)("%s by capability", (action) => {
  const capability = { publish: "pub", presence: "prs", history: "hst" } as const;
  const closed = channelOptions({});

  it("[A16] is allowed to whoever has the capability, anonymous or not, subscribed or not", () => {
    for (const caller of everybody) {
      const capable = { ...caller, capabilities: [capability[action]] };
      expect(asks[action](closed, capable)).toBe(true);
    }
  });

  it("[A16] isn't allowed by another capability, nor forbidden to whom the namespace allows it", () => {
    const others = (["sub", "pub", "prs", "hst"] as const).filter(
      (one) => one !== capability[action],
    );
    const open = channelOptions(openings(action, "client"));
    for (const caller of everybody) {
      const capable = { ...caller, capabilities: others };
      expect(asks[action](closed, capable)).toBe(false);
      expect(asks[action](open, capable)).toBe(asks[action](open, caller));
    }
  });
});

describe("a subscription without a token", () => {
  /** docs/protocol.md 5.5, steps 2, 4 and 7: the options, the kind of channel, and which users it is open to. */
  const ordinary = { private: false };
  const limited = { private: false, users: ["42", "7"] };
  const limitedToNobody = { private: false, users: [""] };
  const limitedToNone = { private: false, users: [] };
  const secret = { private: true };
  const secretAndLimited = { private: true, users: ["42", ""] };
  const open = { allow_subscribe_for_client: true };
  const openToAll = { allow_subscribe_for_client: true, allow_subscribe_for_anonymous: true };
  const onlyAnonymous = { allow_subscribe_for_anonymous: true };
  const users = ["42", "7", "8", "", "42,7"];

  it.each([
    ["an ordinary channel", ordinary, {}, []],
    ["an ordinary channel", ordinary, open, ["42", "7", "8", "42,7"]],
    ["an ordinary channel", ordinary, openToAll, users],
    ["an ordinary channel", ordinary, onlyAnonymous, []],
    ["a channel for 42 and 7", limited, {}, ["42", "7"]],
    ["a channel for 42 and 7", limited, open, ["42", "7"]],
    ["a channel for 42 and 7", limited, openToAll, ["42", "7"]],
    ["a channel for 42 and 7", limited, onlyAnonymous, ["42", "7"]],
    ["a channel for the empty user", limitedToNobody, {}, []],
    ["a channel for the empty user", limitedToNobody, openToAll, []],
    ["a channel for none", limitedToNone, openToAll, []],
    ["a private channel", secret, {}, []],
    ["a private channel", secret, open, []],
    ["a private channel", secret, openToAll, []],
    ["a private channel for users", secretAndLimited, {}, []],
    ["a private channel for users", secretAndLimited, openToAll, []],
  ])("[A5] %s: %j with %j is open to %j", (_, kind, options, allowed) => {
    const channel = { outcome: "resolved", options: channelOptions(options), ...kind } as const;
    expect(users.filter((each) => maySubscribe(channel, { user: each }))).toStrictEqual(allowed);
  });

  it.each([
    ["an ordinary channel", ordinary, users],
    ["a channel for 42 and 7", limited, ["42", "7"]],
    ["a private channel", secret, []],
  ])("[A16] [A5] %s is open by the capability to %j", (_, kind, allowed) => {
    const channel = { outcome: "resolved", options: channelOptions({}), ...kind } as const;
    const may = (each: string, capabilities: readonly Capability[]) =>
      maySubscribe(channel, { user: each, capabilities });
    expect(users.filter((each) => may(each, ["sub"]))).toStrictEqual(allowed);
    const others = users.filter((each) => may(each, ["pub", "prs", "hst"]));
    expect(others).toStrictEqual(kind === limited ? allowed : []);
  });

  it("[A1] isn't opened by leave to publish, to see presence or to read the history", () => {
    const all = "client subscriber anonymous";
    const options = channelOptions(
      Object.assign({}, ...actions.map((each) => openings(each, all))),
    );
    const channel = { outcome: "resolved", options, private: false } as const;
    expect(users.filter((each) => maySubscribe(channel, { user: each }))).toStrictEqual([]);
  });
});
