import type { Context } from "hono";
import * as v from "valibot";
import type { Entry } from "../../../src/api/command.ts";
import { resolveChannel } from "../../../src/channel/channel-name.ts";
import { acceptsData } from "../../../src/channel/publication-request.ts";
import { kindOf } from "../../../src/features/pusher/channel-names.ts";
import { eventTag, payloadOfText } from "../../../src/features/pusher/event-data.ts";
import { pusherLimits } from "../../../src/features/pusher/limits.ts";
import { uuidOfSocket } from "../../../src/features/pusher/socket-id.ts";
import { limits } from "../../../src/limits.ts";
import { utf8Fits } from "../../../src/protocol/bytes.ts";
import { parseJsonText } from "../../../src/protocol/json/text.ts";
import { jsonValue } from "../../../src/protocol/wire-value.ts";
import type { AppEnv } from "../../http/app-env.ts";
import { answersTo, channelIn, countsFor, shownCounts } from "./calls.ts";
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
  const refused = await publish(
    context,
    names.map((name) => ({ ...read, channel: name })),
  );
  if (refused !== undefined) return refused;
  if (info === "") return Response.json({});
  const counts = await countsFor(context, names);
  if (counts instanceof Response) return counts;
  const shown = names.map((name, index) => [name, shownCounts(info, name, counts[index])]);
  return Response.json({ channels: Object.fromEntries(shown) });
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
  const refused = await publish(context, batch);
  if (refused !== undefined) return refused;
  const asking = batch.filter(({ info = "" }) => info !== "");
  if (asking.length === 0) return Response.json({});
  const counts = await countsFor(
    context,
    asking.map(({ channel = "" }) => channel),
  );
  if (counts instanceof Response) return counts;
  const shown = new Map(asking.map((one, index) => [one, counts[index]] as const));
  const infos = batch.map((one) => {
    const { channel = "", info = "" } = one;
    return shownCounts(info, channel, shown.get(one));
  });
  return Response.json({ batch: infos });
}

/** Publishes events, if all of them can be. @returns the response if one of them is refused, or fails */
async function publish(
  context: Context<AppEnv>,
  given: readonly GivenEvent[],
): Promise<Response | undefined> {
  const entries: Entry[] = [];
  for (const event of given) {
    const entry = entryOf(context, event);
    if (typeof entry === "string") return refuse(context, statusOf(entry), entry);
    entries.push(entry);
  }
  const answers = await answersTo(context, entries);
  return answers instanceof Response ? answers : undefined;
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
  // Some libraries send an empty one for none.
  const excludes = typeof socketId === "string" && socketId !== "";
  const except = excludes ? uuidOfSocket(socketId) : undefined;
  if (excludes && except === undefined) return "socket_id is no connection's";
  const channel = channelIn(context, given);
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
