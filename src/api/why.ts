import { parseNodeName } from "../contract/object-names.ts";
import { limits } from "../limits.ts";
import {
  type ApiCaller,
  type Entry,
  type ParsedEntry,
  type Question,
  refusedRequest,
} from "./command.ts";
import {
  checkAllChannels,
  checkChannel,
  offsetField,
  parseShape,
  refusedUser,
  shape,
  textField,
  uint32Field,
} from "./shape.ts";

/**
 * The parsers of the methods that ask why a publication didn't reach a client, and how a channel or an object is
 * (docs/protocol.md 6.2). A key has to admit the channel; for an object that isn't a channel's it has to admit all.
 */

/** Parses a `why` request. */
export function parseWhy(params: string, caller: ApiCaller): ParsedEntry {
  const parsed = parseShape(whyShape, params);
  if (parsed.outcome === "malformed") return parsed;
  const { channel, offset, user, client } = parsed.value;
  const checked = checkChannel(channel, "why", caller);
  if (checked.outcome === "refused") return checked;
  if (offset === 0) return refusedRequest("offset is required: the publication's, from 1 on");
  if (user === "" && client === "") return refusedRequest("user or client is required");
  const refused = refusedUser(user);
  if (refused !== undefined) return refused;
  if (client.length > limits.trailClientCharactersMax)
    return refusedRequest(`client has more than ${limits.trailClientCharactersMax} characters`);
  return asked({ method: "why", channel, offset, user, client });
}

/** Parses an `inspect` request. */
export function parseInspect(params: string, caller: ApiCaller): ParsedEntry {
  const parsed = parseShape(inspectShape, params);
  if (parsed.outcome === "malformed") return parsed;
  const { object, refusals } = parsed.value;
  if (refusals > limits.trailRefusalsMax)
    return refusedRequest(`refusals must be at most ${limits.trailRefusalsMax}`);
  const node = parseNodeName(object);
  // The object of a channel is inspected as the channel.
  const channel = node?.kind === "channel" ? node.name : parsed.value.channel;
  if (object === "" || node?.kind === "channel") {
    const checked = checkChannel(channel, "inspect", caller);
    if (checked.outcome === "refused") return checked;
    const isOther = parsed.value.channel !== "" && parsed.value.channel !== channel;
    return isOther ? twoSubjects() : asked({ method: "inspect", channel, object: "", refusals });
  }
  const refused = checkAllChannels("inspect", caller.key);
  if (refused !== undefined) return refused;
  if (channel !== "") return twoSubjects();
  return asked({ method: "inspect", channel: "", object, refusals });
}

function twoSubjects(): Entry {
  return refusedRequest("channel and object name different objects");
}

function asked(question: Question): Entry {
  return { outcome: "question", question };
}

/** A `why` request. */
export const whyShape = shape(() => ({
  channel: textField(),
  offset: offsetField(),
  user: textField(),
  client: textField(),
}));

/** An `inspect` request. */
export const inspectShape = shape(() => ({
  channel: textField(),
  object: textField(),
  refusals: uint32Field(),
}));
