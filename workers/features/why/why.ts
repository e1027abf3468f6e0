import type { CallOutcome } from "../../../src/api/answers.ts";
import type { InspectQuestion, WhyQuestion } from "../../../src/api/command.ts";
import {
  encodeInspectedChannel,
  encodeInspectedEdge,
  encodeInspectedObject,
  type InspectedGateway,
} from "../../../src/features/why/inspect-answer.ts";
import { type AskedObjects, encodeWhy } from "../../../src/features/why/why-answer.ts";
import type { Config } from "../../../src/config/config.ts";
import { shownPlacement } from "../../../src/config/placement.ts";
import { userKey } from "../../../src/contract/identity-key.ts";
import {
  channelNode,
  gatewayNode,
  homeName,
  nodeOfClient,
  parseNodeName,
} from "../../../src/contract/object-names.ts";
import { trailLimits } from "../../../src/features/why/limits.ts";
import type { TrailQuery } from "../../../src/features/why/trail.ts";
import { edgeNode } from "../../../src/features/metrics/metrics-report.ts";
import { version } from "../../../src/version.ts";
import { errorCodes } from "../../../src/protocol/codes.ts";
import type { JsonText } from "../../../src/protocol/json/text.ts";
import type { Env } from "../../platform/env.ts";
import { nodePlacement } from "../../platform/placed-env.ts";
import { answerInTime, forEachInTurns } from "../../platform/object-call.ts";
import { objectOf } from "../../http/emulation.ts";
import { collectedRefusals } from "../metrics/metrics.ts";

/**
 * Asks objects why a publication didn't reach a client, and how they are (rules Y3 and Y4). It asks `limits.askedAtATime`
 * of them at a time, each once.
 */

/** Answers `why`: the channel's object first, which names the gateways, and then these and the user's holders. */
export async function askWhy(
  env: Env,
  { client: { users }, channel: channels }: Config,
  question: WhyQuestion,
): Promise<CallOutcome> {
  const { channel, offset, user, client } = question;
  const query: TrailQuery = {
    channel,
    offset,
    ...(user === "" ? {} : { user }),
    ...(client === "" ? {} : { client }),
  };
  const endsAtMs = Date.now() + trailLimits.trailAllAnswersMs;
  const isHomeAsked = users.enabled && user !== "";
  const [own, holders] = await Promise.all([
    env.CHANNELS.getByName(channel).trail(query),
    isHomeAsked ? holdersOf(env.USERS, user) : noHolders,
  ]);
  const { hasHistory, gateways, tags } = own.channel ?? {};
  if (hasHistory !== true) return refused(errorCodes.notAvailable, withoutOffsets);
  const named = nodeOfClient(client);
  const nodes = new Set([
    ...(named === undefined || objectOf(named, env, channels) === undefined ? [] : [named]),
    ...(holders ?? []),
    ...(gateways ?? []).map(({ name }) => gatewayNode(name)),
  ]);
  nodes.delete(channelNode(channel));
  const asked = [...nodes].slice(0, trailLimits.askedGatewaysMax);
  const told = tags === undefined ? query : { ...query, tags };
  const others = await askAll(asked, endsAtMs, (node) => objectNamed(node, env)?.trail(told));
  const isShort = asked.length < nodes.size || holders === undefined;
  const registered = isHomeAsked ? new Set(holders) : undefined;
  const answer: AskedObjects = { own, others, registered, isShort };
  return answered(encodeWhy(question, answer));
}

/** Answers `inspect`. */
export async function askInspect(
  env: Env,
  config: Config,
  { channel, object, refusals }: InspectQuestion,
): Promise<CallOutcome> {
  const { channel: channels, prometheus } = config;
  const placement = config.placement.isPlaced
    ? shownPlacement(nodePlacement(channel === "" ? object : channelNode(channel), config))
    : undefined;
  if (channel === "") {
    if (object === edgeNode)
      return prometheus.counts
        ? inspectEdge(env, refusals)
        : refused(errorCodes.notAvailable, edgeForgets);
    const asked = objectOf(object, env, channels);
    if (asked === undefined) return refused(errorCodes.badRequest, noSuchObject);
    return answered(encodeInspectedObject(await asked.inspect({ refusals }), placement));
  }
  const endsAtMs = Date.now() + trailLimits.trailAllAnswersMs;
  const own = await env.CHANNELS.getByName(channel).inspect({ refusals });
  const followers = own.channel?.gateways ?? [];
  const names = followers.slice(0, trailLimits.askedGatewaysMax).map(({ name }) => name);
  const states = await askAll(names, endsAtMs, (name) =>
    env.GATEWAYS.getByName(name).inspect({ channel, refusals: 0 }),
  );
  const gateways = followers.map((progress): InspectedGateway => ({
    progress,
    state: states.get(progress.name),
    wasSkipped: !states.has(progress.name),
  }));
  return answered(encodeInspectedChannel(own, gateways, placement));
}

/** Asks for the refusals of the edge, which the objects that collect metrics remember in its place (rule Y6). */
async function inspectEdge({ METRICS }: Env, count: number): Promise<CallOutcome> {
  const last = await collectedRefusals(METRICS, { count, onlyEdge: true });
  return last === undefined ? { outcome: "failed" } : answered(encodeInspectedEdge(version, last));
}

/** The objects that are registered for a user; undefined if the home doesn't answer. */
async function holdersOf(
  homes: Env["USERS"],
  user: string,
): Promise<readonly string[] | undefined> {
  const key = userKey(user);
  const home = homes.getByName(homeName(key));
  return answerInTime("question to an object", trailLimits.trailAnswerMs, () => home.holders(key));
}

const noHolders: readonly string[] = [];

/** The object of a node that another object has named; undefined for a kind of node that only the next release has. */
function objectNamed(node: string, { CHANNELS, GATEWAYS }: Env) {
  const parsed = parseNodeName(node);
  if (parsed === undefined) return undefined;
  return parsed.kind === "channel"
    ? CHANNELS.getByName(parsed.name)
    : GATEWAYS.getByName(parsed.name);
}

/** Asks objects, some at a time; undefined for each that doesn't answer by then. */
async function askAll<Answer>(
  names: readonly string[],
  endsAtMs: number,
  ask: (name: string) => Promise<Answer> | undefined,
): Promise<ReadonlyMap<string, Answer | undefined>> {
  const answers = new Map<string, Answer | undefined>(names.map((name) => [name, undefined]));
  await forEachInTurns(names, trailLimits.askedAtATime, async (name) => {
    const waitMs = Math.min(trailLimits.trailAnswerMs, endsAtMs - Date.now());
    answers.set(name, await answerInTime("question to an object", waitMs, () => ask(name)));
  });
  return answers;
}

function answered(result: JsonText): CallOutcome {
  return { outcome: "answers", answers: [{ result }] };
}

function refused(
  error: (typeof errorCodes)["badRequest" | "notAvailable"],
  detail: string,
): CallOutcome {
  return { outcome: "answers", answers: [{ error, detail }] };
}

const withoutOffsets = "the channel has no history, so its publications have no offsets";
const edgeForgets =
  "what the edge refuses is remembered with console.enabled or prometheus.enabled only";
const noSuchObject =
  "object must be a node that docs/protocol.md describes, such as gateway:eu/0, or edge";
