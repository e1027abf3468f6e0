import type { Context } from "hono";
import { resolveChannel } from "../../../src/channel/channel-name.ts";
import { userKey } from "../../../src/contract/identity-key.ts";
import {
  channelOf,
  isClients,
  isUserId,
  kindOf,
  nameOf,
} from "../../../src/features/pusher/channel-names.ts";
import { textOfPayload } from "../../../src/features/pusher/event-data.ts";
import { pusherLimits } from "../../../src/features/pusher/limits.ts";
import { dialectName } from "../../../src/features/pusher/names.ts";
import { limits } from "../../../src/limits.ts";
import { disconnectCodes } from "../../../src/protocol/codes.ts";
import { elementTexts, memberText, trustedJsonText } from "../../../src/protocol/json/text.ts";
import { isJsonArray, isJsonObject, jsonValue } from "../../../src/protocol/wire-value.ts";
import type { AppEnv } from "../../http/app-env.ts";
import { answersTo, channelIn, countsFor, shownCounts } from "./calls.ts";
import { refuse, signedRequest } from "./signed-request.ts";

/** `GET /apps/ID/channels`: the channels that have subscribers (rule PU12). */
export async function listChannels(context: Context<AppEnv>): Promise<Response> {
  const { app } = signedRequest(context);
  const { channel: config } = context.get("configured").config;
  const prefix = context.req.query("filter_by_prefix") ?? "";
  const asksUsers = infoIn(context).split(",").includes("user_count");
  if (asksUsers && !prefix.startsWith("presence-"))
    return refuse(context, 400, "user_count needs a filter_by_prefix that begins with presence-");
  const whole = channelOf("", app, config);
  if (!/^[-\w=@,.;]*$/.test(prefix)) return Response.json({ channels: {} });
  const found = await allChannels(context, `${whole}${prefix}*`);
  if (found instanceof Response) return found;
  const names = found.map((name) => nameOf(name, whole)).filter(isClients);
  const counts = asksUsers ? await countsFor(context, names) : [];
  if (counts instanceof Response) return counts;
  const listed = names.map((name, index) => {
    const { users } = counts[index] ?? { users: [] };
    return [name, asksUsers ? { user_count: users.length } : {}] as const;
  });
  return Response.json({ channels: Object.fromEntries(listed) });
}

/** The names of all channels of a pattern that have subscribers, page by page. @returns the response if that failed */
async function allChannels(
  context: Context<AppEnv>,
  pattern: string,
): Promise<readonly string[] | Response> {
  const names: string[] = [];
  let after: string | undefined = "";
  while (after !== undefined) {
    const page = { after, limit: pusherLimits.listedPageChannels };
    const question = { method: "channels", pattern, page } as const;
    const answers = await answersTo(context, [{ outcome: "question", question }]);
    if (answers instanceof Response) return answers;
    const answer = jsonValue(answers[0] ?? trustedJsonText("{}"));
    const { channels = null, cursor } = isJsonObject(answer) ? answer : {};
    for (const name of isJsonObject(channels) ? Object.keys(channels) : []) names.push(name);
    after =
      typeof cursor === "string" && names.length < pusherLimits.listedChannelsMax
        ? cursor
        : undefined;
  }
  return names;
}

/** `GET /apps/ID/channels/NAME` */
export async function showChannel(context: Context<AppEnv>, name: string): Promise<Response> {
  const kind = kindOf(name);
  if (kind === undefined) return refuse(context, 400, "no channel has such a name");
  const info = infoIn(context);
  const asked = new Set(info.split(","));
  if (asked.has("user_count") && kind.access !== "presence")
    return refuse(context, 400, "user_count is for presence channels");
  const counts = await countsFor(context, [name]);
  if (counts instanceof Response) return counts;
  const [present] = counts;
  const cache = asked.has("cache") && kind.cache ? await cacheOf(context, name) : undefined;
  if (cache instanceof Response) return cache;
  return Response.json({
    occupied: present !== undefined && present.connections > 0,
    ...shownCounts(info, name, present),
    ...(cache !== undefined && { cache }),
  });
}

/** `GET /apps/ID/channels/NAME/users` */
export async function listUsers(context: Context<AppEnv>, name: string): Promise<Response> {
  if (kindOf(name)?.access !== "presence")
    return refuse(context, 400, "only presence channels have users");
  const counts = await countsFor(context, [name]);
  if (counts instanceof Response) return counts;
  return Response.json({ users: (counts[0]?.users ?? []).map((id) => ({ id })) });
}

/** `POST /apps/ID/users/USER/terminate_connections`: closes the connections of a user who has signed in. */
export async function terminateConnections(
  context: Context<AppEnv>,
  user: string,
): Promise<Response> {
  if (!isUserId(user)) return refuse(context, 400, "no user has such an ID");
  const order = { method: "disconnect", code: disconnectCodes.forceDisconnect } as const;
  const answers = await answersTo(context, [{ outcome: "order", user: userKey(user), order }]);
  return answers instanceof Response ? answers : Response.json({});
}

/** `GET /apps/ID/connections`: how many connections the server has of clients that speak the protocol. */
export async function countConnections(context: Context<AppEnv>): Promise<Response> {
  const page = { after: "", limit: limits.requestChannelsMax };
  const question = { method: "info", page } as const;
  const answers = await answersTo(context, [{ outcome: "question", question }]);
  if (answers instanceof Response) return answers;
  const nodes = jsonValue(memberText(answers[0] ?? "{}", "nodes") ?? "[]");
  let count = 0;
  for (const node of isJsonArray(nodes) ? nodes : []) {
    const { name, num_clients: clients } = isJsonObject(node) ? node : {};
    const isOwn = typeof name === "string" && name.startsWith(`${dialectName}~`);
    if (isOwn && typeof clients === "number") count += clients;
  }
  return Response.json({ connections: count });
}

function infoIn({ req }: Context<AppEnv>): string {
  return req.query("info") ?? "";
}

/** The last event of a channel, as it is kept, and for how many seconds yet; undefined if there is none. */
async function cacheOf(context: Context<AppEnv>, name: string) {
  const request = { limit: 1, reverse: true };
  const channel = channelIn(context, name);
  const command = { method: "history", request } as const;
  const answers = await answersTo(context, [{ outcome: "call", channel, command }]);
  if (answers instanceof Response) return answers;
  const [newest] = elementTexts(answers[0] ?? "{}", "publications") ?? [];
  const data = newest && memberText(newest, "data");
  if (data === undefined) return undefined;
  const state = await context.env.CHANNELS.getByName(channel).inspect({ refusals: 0 });
  const newestMs = state.channel?.newestMs;
  const known = resolveChannel(channel, context.get("configured").config.channel);
  const ttlMs = known.outcome === "resolved" ? known.options.historyTtlMs : 0;
  const shown = { data: textOfPayload(trustedJsonText(data)) };
  if (newestMs === undefined) return shown;
  return { ...shown, ttl: Math.max(0, Math.ceil((newestMs + ttlMs - Date.now()) / 1_000)) };
}
