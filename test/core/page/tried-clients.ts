import { type Capability, parseCapabilities } from "../../../src/access/capabilities.ts";
import { subscriptionTypes } from "../../../src/protocol/command.ts";
import { connectionToken, subscriptionToken } from "../session/verified-tokens.ts";
import type { RandomNamespace } from "./random-namespace.ts";
import { type Outcome, type TriedClient, TriedServer } from "./tried-server.ts";

/** What clients try. `kept`: marking where the channel keeps something of the user. */
export type Action =
  | "subscribe"
  | "publish"
  | "set"
  | "remove"
  | "append"
  | "presence"
  | "history"
  | "mark"
  | "kept"
  | "marks"
  | "token"
  | "hears"
  | "recovers"
  | "receipts"
  | "look";

/** A client, a channel, and what it tried there. The channel `own` is limited to its user, and `other` to another one. */
export interface Try {
  readonly action: Action;
  readonly user: string;
  readonly subscribed: boolean;
  readonly capabilities: readonly Capability[];
  readonly channel: "plain" | "private" | "own" | "other";
  readonly outcome: Outcome;
  /** Why it was refused, as the log has it. */
  readonly reason: string | undefined;
}

export const allCapabilities = ["sub", "pub", "prs", "hst"] as const;

/**
 * All that clients of all kinds can try on channels of a namespace, each with what came of it.
 *
 * @param capability the one that clients with a single capability have
 */
export function triesOf(namespace: RandomNamespace, capability: Capability): readonly Try[] {
  const server = new TriedServer(namespace.config);
  const tries: Try[] = [];
  for (const capabilities of [[], allCapabilities, [capability]])
    for (const subscribed of [false, true])
      for (const isAnonymous of [true, false]) {
        const user = isAnonymous ? "" : `u${tries.length}`;
        tries.push(
          ...new TryingClient(server, namespace, { user, subscribed, capabilities }).tries(),
        );
      }
  return tries;
}

type Kind = Pick<Try, "user" | "subscribed" | "capabilities">;

/** One client that tries everything. */
class TryingClient {
  readonly #server: TriedServer;
  readonly #namespace: RandomNamespace;
  readonly #kind: Kind;
  readonly #names: readonly (readonly [Try["channel"], string])[];
  readonly #client: TriedClient;
  readonly #tries: Try[] = [];

  constructor(server: TriedServer, namespace: RandomNamespace, kind: Kind) {
    this.#server = server;
    this.#namespace = namespace;
    this.#kind = kind;
    const { user, subscribed, capabilities } = kind;
    // One capability makes no difference on other channels that all of them don't make.
    const isForAll = capabilities.length !== 1;
    const { privatePrefix, userBoundary } = namespace;
    const limited = [
      ["own", `ns:1${userBoundary}${user}`],
      ["other", `ns:1${userBoundary}zoe`],
    ] as const;
    this.#names = [
      ["plain", "ns:1"],
      ...(isForAll && privatePrefix !== "" ? [["private", `${privatePrefix}ns:1`] as const] : []),
      ...(isForAll && userBoundary !== "" ? limited : []),
    ];
    const claim = [{ channels: ["*"], match: "wildcard", allow: [...capabilities] }];
    const parsed = parseCapabilities(claim);
    const text = parsed.outcome === "read" ? parsed.text : undefined;
    const subscriptions = this.#names.map(([, channel]) => ({ channel, override: {} }));
    this.#client = server.connect(
      connectionToken(user, {
        ...(capabilities.length > 0 && text !== undefined && { capabilities: text }),
        ...(subscribed && { subscriptions }),
      }),
    );
  }

  tries(): readonly Try[] {
    const { cursors, options } = this.#namespace;
    for (const [channel, name] of this.#names) {
      if (!this.#kind.subscribed) this.#subscribe(channel, name);
      if (channel === "other") continue;
      this.#change(channel, name);
      this.#try("presence", channel, { presence: { channel: name } });
      this.#try("history", channel, { history: { channel: name, limit: 1 } });
      if (cursors["enabled"] === true) this.#mark(channel, name);
    }
    if ("receipts_channel_prefix" in cursors) this.#lookAt("receipts", "seen:ns:1", { type: 1 });
    if ("map_users_presence_channel_prefix" in options)
      this.#lookAt("look", "users:ns:1", { type: subscriptionTypes.map_users });
    return this.#tries;
  }

  #change(channel: Try["channel"], name: string): void {
    const { type } = this.#namespace;
    const fields = { channel: name, key: "k" };
    if (!type.startsWith("map")) {
      this.#try("publish", channel, { publish: { channel: name, data: {} } });
      return;
    }
    const set = { ...fields, type: 1, data: "text" };
    this.#try("set", channel, { publish: set });
    this.#call("append", channel, { ...fields, text: "more" });
    this.#try("remove", channel, { publish: { ...fields, type: 1, removed: true } });
  }

  #mark(channel: Try["channel"], name: string): void {
    const { user } = this.#kind;
    const mark = { offset: 0, epoch: "" };
    this.#call("marks", channel, { channel: name, offset: 0 });
    this.#call("mark", channel, { channel: name, offset: 0 });
    if (user !== "")
      this.#server.carryOut(name, {
        method: "mark_read",
        request: { user, ...mark },
        info: { user, client: "" },
      });
    this.#call("kept", channel, { channel: name, offset: 0 });
  }

  #call(action: "append" | "mark" | "kept" | "marks", channel: Try["channel"], data: object): void {
    const method = { append: "append", mark: "read", kept: "read", marks: "marks" }[action];
    this.#try(action, channel, { rpc: { method: `dormouse.${method}`, data } });
  }

  /** By itself, and then with a token, when it wants all that it can get. */
  #subscribe(channel: Try["channel"], name: string): void {
    const type = subscriptionTypes[this.#namespace.type];
    const subscribe = { channel: name, type };
    this.#try("subscribe", channel, { subscribe });
    const unsubscribe = { channel: name };
    this.#server.try(this.#client, { unsubscribe });
    const token = subscriptionToken({ channel: name, user: this.#kind.user });
    const wish = { ...subscribe, token: "t", join_leave: true, recoverable: true };
    this.#try("token", channel, { subscribe: wish }, token);
    const { subscriptions } = this.#client.session.snapshot;
    const granted = subscriptions.find((one) => one.channel === name);
    this.#note("hears", channel, granted?.hearsJoinLeave === true ? "yes" : "no");
    this.#note("recovers", channel, granted?.recoverable === true ? "yes" : "no");
    this.#server.try(this.#client, { unsubscribe });
  }

  /** Subscribes to a mirror of the plain channel, to receipts with a token. */
  #lookAt(action: "receipts" | "look", channel: string, type: object): void {
    const token = subscriptionToken({ channel, user: this.#kind.user });
    const subscribe = { channel, ...type, ...(action === "receipts" && { token: "t" }) };
    this.#try(action, "plain", { subscribe }, action === "receipts" ? token : {});
    this.#server.try(this.#client, { unsubscribe: { channel } });
  }

  #try(action: Action, channel: Try["channel"], command: object, tokens = {}): void {
    const { reasons } = this.#server;
    const before = reasons.length;
    const outcome = this.#server.try(this.#client, command, tokens);
    this.#note(action, channel, outcome, reasons[before]);
  }

  #note(action: Action, channel: Try["channel"], outcome: Outcome, reason?: string): void {
    this.#tries.push({ ...this.#kind, action, channel, outcome, reason });
  }
}
