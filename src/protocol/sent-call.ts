import type { RpcRequest } from "./command.ts";
import { trustedJsonText } from "./json/text.ts";
import { parsePayloadObject, type Payload, payloadText } from "./payload.ts";

/**
 * Parses the call of a method of the server's own that a `send` holds, `{"method":"dormouse.read","data":{…}}`.
 *
 * @returns undefined if it holds something else, such as a message for a backend
 */
export function parseSentCall(sent: Payload | undefined): RpcRequest | undefined {
  // Messages of clients are a backend's: only those are parsed that may be such a call.
  const text = sent && payloadText(sent);
  if (text === undefined || text.length > sentCharactersMax || !text.includes('"dormouse.'))
    return undefined;
  const params = parsePayloadObject(sent);
  const method = params?.["method"];
  const given = params?.["data"];
  if (typeof method !== "string" || given === undefined) return undefined;
  return { method, data: trustedJsonText(JSON.stringify(given)) };
}

/** The longest call that a `send` may hold: the name of a channel, its epoch and an offset. */
const sentCharactersMax = 2_048;
