/** The changes that clients make in maps: `publish` with a key (docs/protocol.md 1.3 and 3.4). */
import { errorOf } from "../../contract/channel-call.ts";
import type { KnownChannel } from "../../channel/channel-name.ts";
import { acceptsData } from "../../channel/publication-request.ts";
import type { HookTarget } from "../../config/config.ts";
import type { MapOptions } from "./config.ts";
import {
  isKey,
  type MapChange,
  type MapPublishRequest,
  type MapRemoveRequest,
  plainMapPublish,
} from "./map-call.ts";
import { errorCodes } from "../../protocol/codes.ts";
import { type PublishRequest, subscriptionTypes } from "../../protocol/command.ts";
import { emptyPayload, type Payload } from "../../protocol/payload.ts";
import type { ClientInfo } from "../../protocol/publication.ts";
import { badRequest, failWith, refuse, refuseWith } from "../../session/decision.ts";
import { callerOf } from "../../session/grant.ts";
import { clientsMapOf, mayRemoveKey, maySetKey } from "./may.ts";
import {
  ask,
  type CommandSession,
  type RunningCommand,
  type SubscriptionType,
} from "../../session/ports.ts";
import type { SubscriptionPart } from "../../session/channels.ts";
import { requestTraced } from "../../session/commands.ts";
import { beginMapFlow, continueMapFlow, lostFlow } from "./map-subscribe.ts";

declare module "../../session/ports.ts" {
  interface Questions {
    readonly map_publish: {
      readonly channel: string;
      readonly key: string;
      readonly data: Payload;
      /** The client's method, if it doesn't set the value; absent: it does. */
      readonly method?: string;
    };
    readonly map_remove: { readonly channel: string; readonly key: string };
  }
  interface Grants {
    readonly map_publish: MapPublishRequest;
    readonly map_remove: MapRemoveRequest;
  }
}

/**
 * Sets or removes a key of a map for a client. A client that is subscribed gets the change before this reply (rule O4).
 * A change that does nothing, because of the key's mode or version, is answered like any other.
 */
function changeMap(command: RunningCommand<PublishRequest>, known: KnownChannel): void {
  const { session, request, done } = command;
  const { channel, data = emptyPayload, removed } = request;
  const caller = callerOf(session, channel);
  const map = clientsMapOf(known.options);
  const may = removed ? mayRemoveKey(known, caller) : maySetKey(known, caller);
  if (request.type !== subscriptionTypes.map) done(failWith(errorCodes.badRequest));
  else if (may.allowed === false) done(refuse(may));
  else {
    const key = keyOf(session, request.key, map);
    if (key !== "" && !isKey(key)) done(badRequest);
    else if (removed) {
      if (may.allowed === "asked") removeByHook(command, { channel, key }, may.by);
      else change(command, plainRemove(key));
    } else if (!acceptsData(known.options, data)) done(badRequest);
    else if (may.allowed === "asked") publishByHook(command, { channel, key, data }, may.by);
    else {
      const own = { method: "map_publish", request: plainMapPublish(key, data) } as const;
      change(command, own);
    }
  }
}

/** The key that a client changes, which may change one. */
export function keyOf(
  { identity, user }: CommandSession,
  key: string,
  map: Pick<MapOptions, "clientKey"> | undefined,
): string {
  switch (map?.clientKey) {
    case undefined:
    case "":
      return key;
    case "client_id":
      return identity.client;
    case "user_id":
      return user;
  }
}

function plainRemove(key: string): MapChange {
  return { method: "map_remove", request: { key, idempotencyKey: "" } };
}

/** @param own its key may be empty: the client gave none, and no backend did either */
function change(command: RunningCommand<PublishRequest>, own: MapChange): void {
  const { id, done } = command;
  if (own.request.key === "") {
    done(badRequest);
    return;
  }
  const operation = (info: ClientInfo) => ({ ...own, info });
  requestTraced(command, command.request.channel, operation, (reply) => {
    if (reply.outcome === "published") done({ outcome: "reply", reply: { id, method: "publish" } });
    else {
      const error = errorOf(reply);
      const isFull = error.code === errorCodes.limitExceeded.code;
      done(isFull ? refuseWith(error, "B1", "the map is full") : failWith(error));
    }
  });
}

/** Has the key that is the client's ID removed at the end of a subscription (rule Z20). */
export const keyEnds: SubscriptionPart = {
  entryOfEnd: ({ begun, info }, { map }) =>
    begun && map?.removeClientOnUnsubscribe === true ? { type: "gone", info } : undefined,
};

/** Lets a backend decide on a publish, in place of the namespace's permissions (rule Q2). */
function publishByHook(
  command: RunningCommand<PublishRequest>,
  wanted: { readonly channel: string; readonly key: string; readonly data: Payload },
  target: HookTarget,
): void {
  const { session, nowMs, done } = command;
  const inquiry = { hook: "map_publish", question: wanted, target, nowMs } as const;
  ask(session, inquiry, (answer, answeredMs) => {
    if (answer.outcome === "granted") {
      const own = { method: "map_publish", request: answer.granted } as const;
      change({ ...command, nowMs: answeredMs }, own);
    } else done(answer);
  });
}

/** Lets a backend decide on a removal, in place of the namespace's permissions (rule Q2). */
function removeByHook(
  command: RunningCommand<PublishRequest>,
  wanted: { readonly channel: string; readonly key: string },
  target: HookTarget,
): void {
  const { session, nowMs, done } = command;
  const inquiry = { hook: "map_remove", question: wanted, target, nowMs } as const;
  ask(session, inquiry, (answer, answeredMs) => {
    if (answer.outcome === "granted") {
      const own = { method: "map_remove", request: answer.granted } as const;
      change({ ...command, nowMs: answeredMs }, own);
    } else done(answer);
  });
}

/** Subscriptions to maps, presence maps included (docs/protocol.md 3.4). */
export const mapSubscriptions: SubscriptionType = {
  goOn: continueMapFlow,
  refuse: lostFlow,
  begin: beginMapFlow,
  publish: changeMap,
  asksBeforePublish: ({ map }) => (map?.publishHook ?? map?.removeHook) !== undefined,
};
