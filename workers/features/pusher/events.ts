import type { Context } from "hono";
import * as v from "valibot";
import type { Entry } from "../../../src/api/command.ts";
import { resolveChannel } from "../../../src/channel/channel-name.ts";
import { acceptsData } from "../../../src/channel/publication-request.ts";
import { channelOf, kindOf } from "../../../src/features/pusher/channel-names.ts";
import { eventTag, payloadOfText } from "../../../src/features/pusher/event-data.ts";
import { pusherLimits } from "../../../src/features/pusher/limits.ts";
import { uuidOfSocket } from "../../../src/features/pusher/socket-id.ts";
import { limits } from "../../../src/limits.ts";
import { utf8Fits } from "../../../src/protocol/bytes.ts";
import { parseJsonText } from "../../../src/protocol/json/text.ts";
import { jsonValue } from "../../../src/protocol/wire-value.ts";
import type { AppEnv } from "../../http/app-env.ts";
import { answersTo, countsOf } from "./calls.ts";
import { refuse, signedRequest } from "./signed-request.ts";

/** `POST /apps/ID/events`: one event for one channel or several (rule PU11). */
export async function events(context: Context<AppEnv>): Promise<Response> {
  const { body } = signedRequest(context);
  const read = parsed(eventShape(), body);
  if (read === undefined) return refuse(context, 400, eventMeaning);
  const { channel, channels = channel === undefined ? [] : [channel], info = "" } = read;
  const names = [...new Set(channels)];
  if (names.length === 0 || names.length > pusherLimits.eventChannelsMax)
    return refuse(context, 400, `one to ${pusherLimits.eventChannelsMax} channels are needed`);
  const entries = names.map((name) => entryOf(context, { ...read, channel: name }));
  const refused = entries.find((entry) => typeof entry === "string");
  if (refused !== undefined) return refuse(context, statusOf(refused), refused);
  const answers = await answersTo(
    context,
    entries.filter((entry) => typeof entry !== "string"),
  );
  if (answers instanceof Response) return answers;
  if (info === "") return Response.json({});
  const told = await infosOf(context, names, info);
  return told instanceof Response ? told : Response.json({ channels: Object.fromEntries(told) });
}

/** `POST /apps/ID/batch_events`: several events, each for one channel. */
export async function batchEvents(context: Context<AppEnv>): Promise<Response> {
  const { body } = signedRequest(context);
  const read = parsed(v.object({ batch: v.array(eventShape()) }), body);
  if (read === undefined || read.batch.length > pusherLimits.batchEventsMax)
    return refuse(
      context,
      400,
      `batch has at most ${pusherLimits.batchEventsMax} events, each: ${eventMeaning}`,
    );
  const { batch } = read;
  const entries = batch.map((one) => entryOf(context, one));
  const refused = entries.find((entry) => typeof entry === "string");
  if (refused !== undefined) return refuse(context, statusOf(refused), refused);
  const answers = await answersTo(
    context,
    entries.filter((entry) => typeof entry !== "string"),
  );
  if (answers instanceof Response) return answers;
  if (batch.every(({ info = "" }) => info === "")) return Response.json({});
  const infos: object[] = [];
  for (const { channel = "", info = "" } of batch) {
    const told = info === "" ? [] : await infosOf(context, [channel], info);
    if (told instanceof Response) return told;
    infos.push(told[0]?.[1] ?? {});
  }
  return Response.json({ batch: infos });
}

const eventShape = () =>
  v.object({
    name: v.string(),
    data: v.optional(v.unknown()),
    channel: v.optional(v.string()),
    channels: v.optional(v.array(v.string())),
    socket_id: v.nullish(v.string()),
    info: v.optional(v.string()),
  });

const eventMeaning = "name and data are needed, and channel or channels";

type GivenEvent = v.InferOutput<ReturnType<typeof eventShape>>;

function parsed<Shape extends v.GenericSchema>(
  shape: Shape,
  body: string,
): v.InferOutput<Shape> | undefined {
  const text = parseJsonText(body);
  if (text === undefined) return undefined;
  const read = v.safeParse(shape, jsonValue(text));
  return read.success ? read.output : undefined;
}

/** The publication of an event, or why there is none. */
function entryOf(context: Context<AppEnv>, event: GivenEvent): Entry | string {
  const { app } = signedRequest(context);
  const { config } = context.get("configured");
  const { name, data, channel: given = "", socket_id: socketId } = event;
  if (name === "" || name.length > pusherLimits.eventCharactersMax)
    return `name has 1 to ${pusherLimits.eventCharactersMax} characters`;
  if (name.startsWith("pusher:") || name.startsWith("pusher_internal:"))
    return "name can't begin with pusher: or pusher_internal:";
  if (kindOf(given) === undefined) return "no channel has such a name";
  // soketi takes objects, too.
  const text = typeof data === "string" ? data : JSON.stringify(data ?? null);
  if (data === undefined) return "data is missing";
  if (!utf8Fits(text, limits.publicationBytesMax)) return tooLarge;
  const except = typeof socketId === "string" ? uuidOfSocket(socketId) : undefined;
  if (typeof socketId === "string" && except === undefined) return "socket_id is no connection's";
  const channel = channelOf(given, app, config.channel);
  const resolved = resolveChannel(channel, config.channel);
  if (resolved.outcome !== "resolved") return "no channel has such a name";
  const payload = payloadOfText(text);
  if (!acceptsData(resolved.options, payload)) return "the namespace doesn't accept such data";
  const idempotencyKey = context.req.header("Idempotency-Key") ?? "";
  if (!utf8Fits(idempotencyKey, limits.idempotencyKeyBytesMax))
    return "Idempotency-Key is too long";
  const request = {
    data: payload,
    tags: { [eventTag]: name },
    skipHistory: false,
    idempotencyKey,
    version: 0n,
    versionEpoch: "",
    delta: false,
    ...(except !== undefined && { except }),
  };
  return { outcome: "call", channel, command: { method: "publish", request, key: app.id } };
}

const tooLarge = `data exceeds ${limits.publicationBytesMax} bytes`;

function statusOf(refused: string): number {
  return refused === tooLarge ? 413 : 400;
}

/** What `info` asks about channels, by their names. */
async function infosOf(
  context: Context<AppEnv>,
  names: readonly string[],
  info: string,
): Promise<readonly (readonly [string, object])[] | Response> {
  const { app } = signedRequest(context);
  const { config } = context.get("configured");
  const asked = new Set(info.split(","));
  const entries = names.map((name): Entry => ({
    outcome: "call",
    channel: channelOf(name, app, config.channel),
    command: { method: "presence" },
  }));
  const answers = await answersTo(context, entries);
  if (answers instanceof Response) return answers;
  return names.map((name, index) => {
    const answer = answers[index];
    const { connections, users } = answer === undefined ? nobody : countsOf(answer);
    const isPresence = kindOf(name)?.access === "presence";
    return [
      name,
      {
        ...(asked.has("user_count") && isPresence && { user_count: users.length }),
        ...(asked.has("subscription_count") && { subscription_count: connections }),
      },
    ] as const;
  });
}

const nobody = { connections: 0, users: [] };
