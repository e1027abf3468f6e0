import type { Operation } from "../../access/operations.ts";
import { parseNodeName } from "../../contract/object-names.ts";
import { trailLimits } from "./limits.ts";
import { limits } from "../../limits.ts";
import { type Entry, type ParsedEntry, type Question, refusedRequest } from "../../api/command.ts";
import {
  checkAllChannels,
  checkChannel,
  offsetField,
  type MethodRequest,
  refusedUser,
  shape,
  type Shaped,
  textField,
  uint32Field,
} from "../../api/shape.ts";

/**
 * The methods that ask why a publication didn't reach a client, and how a channel or an object is
 * (docs/protocol.md 6.2). A key has to admit the channel; for an object that isn't a channel's it has to admit all.
 */

function whyEntry(fields: Shaped<typeof whyShape>, request: MethodRequest): ParsedEntry {
  const { channel, offset, user, client } = fields;
  const checked = checkChannel(channel, request);
  if (checked.outcome === "refused") return checked;
  if (offset === 0) return refusedRequest("offset is required: the publication's, from 1 on");
  if (user === "" && client === "") return refusedRequest("user or client is required");
  const refused = refusedUser(user);
  if (refused !== undefined) return refused;
  if (client.length > trailLimits.trailClientCharactersMax)
    return refusedRequest(
      `client has more than ${trailLimits.trailClientCharactersMax} characters`,
    );
  return asked({ method: "why", channel, offset, user, client });
}

function inspectEntry(fields: Shaped<typeof inspectShape>, request: MethodRequest): ParsedEntry {
  const { object, refusals } = fields;
  if (refusals > limits.trailRefusalsMax)
    return refusedRequest(`refusals must be at most ${limits.trailRefusalsMax}`);
  const node = parseNodeName(object);
  // The object of a channel is inspected as the channel.
  const channel = node?.kind === "channel" ? node.name : fields.channel;
  if (object === "" || node?.kind === "channel") {
    const checked = checkChannel(channel, request);
    if (checked.outcome === "refused") return checked;
    const isOther = fields.channel !== "" && fields.channel !== channel;
    return isOther ? twoSubjects() : asked({ method: "inspect", channel, object: "", refusals });
  }
  const refused = checkAllChannels(request);
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
const whyShape = shape(() => ({
  channel: textField(),
  offset: offsetField(),
  user: textField(),
  client: textField(),
}));

/** An `inspect` request. */
const inspectShape = shape(() => ({
  channel: textField(),
  object: textField(),
  refusals: uint32Field(),
}));

/** The channel's object, the user's home and the gateways. */
const asksMax = trailLimits.askedGatewaysMax + 2;

/** The rows of these methods. */
export const whyOperations = {
  why: { at: "question", asksMax },
  inspect: { at: "question", asksMax },
} as const satisfies Readonly<Record<string, Operation>>;

type WhyOperations = typeof whyOperations;

declare module "../../access/operations.ts" {
  interface Operations extends WhyOperations {}
}

/** How the requests of these methods are read. */
export const whyMethods = {
  why: { shape: whyShape, entry: whyEntry },
  inspect: { shape: inspectShape, entry: inspectEntry },
} as const;
