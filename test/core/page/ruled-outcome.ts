import type { Capability } from "../../../src/access/capabilities.ts";
import type { Options, RandomNamespace } from "./random-namespace.ts";
import type { Try } from "./tried-clients.ts";
import type { Outcome } from "./tried-server.ts";

/**
 * What docs/protocol.md 5.4, 5.5 and 5.8 say of a try, by the options as an operator writes them; undefined for a look at
 * another namespace.
 */
export function ruledOutcome(one: Try, namespace: RandomNamespace): Outcome | undefined {
  const { action, user, channel, capabilities } = one;
  const { options, map, type } = namespace;
  switch (action) {
    case "token":
      return "yes";
    case "subscribe": {
      if (channel === "private") return "no";
      if (isOfUsers(one, namespace)) return of(channel === "own" && user !== "");
      if (options["subscribe_proxy_enabled"] === true) return "asks";
      const isOpenToUser = user !== "" || options["allow_subscribe_for_anonymous"] === true;
      const isOpen = options["allow_subscribe_for_client"] === true && isOpenToUser;
      return of(isOpen || capabilities.includes("sub"));
    }
    case "publish":
      return type === "stream" ? changes(one, namespace, options, "publish") : "no";
    case "set":
    case "append":
    case "remove": {
      const hasKey = user !== "" || map["client_key"] !== "user_id";
      const option = action === "remove" ? "remove" : "publish";
      return type === "map" && hasKey ? changes(one, namespace, map, option) : "no";
    }
    case "presence":
      return of(options["presence"] === true && may(one, namespace, "presence", "prs"));
    case "hears": {
      const subscriber = { ...one, subscribed: true };
      const isForced = options["force_push_join_leave"] === true;
      const hears = isForced || may(subscriber, namespace, "presence", "prs");
      return of(options["join_leave"] === true && hears);
    }
    case "history":
      return of(readsHistory(one, namespace));
    case "recovers": {
      if (type !== "stream") return of(type === "map" && map["mode"] !== "ephemeral");
      const isOpen = options["force_recovery"] === true || options["allow_recovery"] === true;
      const reads = readsHistory({ ...one, subscribed: true }, namespace);
      return of((isOpen && "history_size" in options) || reads);
    }
    case "mark":
      return of(user !== "" && (one.subscribed || readsHistory(one, namespace)));
    case "kept":
      return of(user !== "");
    case "marks":
    case "receipts":
      return seesMarks(one, namespace);
    case "look":
      return undefined;
  }
}

function of(isAllowed: boolean): Outcome {
  return isAllowed ? "yes" : "no";
}

function isOfUsers({ channel }: Try, { options }: RandomNamespace): boolean {
  const isNamed = channel === "own" || channel === "other";
  return isNamed && options["allow_user_limited_channels"] === true;
}

function isClosed(one: Try, namespace: RandomNamespace): boolean {
  const isLimited = one.channel === "private" || isOfUsers(one, namespace);
  const forSubscribers = namespace.options["limited_channels_for_subscribers_only"] === true;
  return isLimited && forSubscribers && !one.subscribed;
}

/** @param options with `allow_…_for_…` */
function may(
  one: Try,
  namespace: RandomNamespace,
  what: string,
  capability: Capability,
  options: Options = namespace.options,
): boolean {
  const isFor = (kind: string): boolean => options[`allow_${what}_for_${kind}`] === true;
  if (isClosed(one, namespace)) return false;
  if (one.capabilities.includes(capability)) return true;
  const isOpen = isFor("client") || (one.subscribed && isFor("subscriber"));
  return isOpen && (one.user !== "" || isFor("anonymous"));
}

function changes(
  one: Try,
  namespace: RandomNamespace,
  options: Options,
  what: "publish" | "remove",
): Outcome {
  if (options[`${what}_proxy_enabled`] !== true)
    return of(may(one, namespace, what, "pub", options));
  return isClosed(one, namespace) ? "no" : "asks";
}

function readsHistory(one: Try, namespace: RandomNamespace): boolean {
  return "history_size" in namespace.options && may(one, namespace, "history", "hst");
}

function seesMarks(one: Try, namespace: RandomNamespace): Outcome {
  const receipts = namespace.cursors["receipts"];
  if (receipts === "publisher") return of(may(one, namespace, "publish", "pub"));
  return of(receipts === "subscriber" && one.user !== "" && one.subscribed);
}
