/**
 * Why Sockudo answers otherwise, and may: the first column of the table in docs/pusher.md, which has both answers, and the
 * exchanges in which that is seen.
 */
export const explained: readonly (readonly [subject: string, exchanges: RegExp])[] = [
  ["Versions of the protocol, and unknown keys", /^connects with|^connects without/],
  ["The answer to a ping", /^pings$/],
  [
    "Text that is no frame",
    /^sends (no JSON|an empty text|an array|a number|an object without an event|an event that is a number)$/,
  ],
  ["A sign-in", /^signs in|^has two connections of a user/],
  ["The events of another user", /^subscribes to a user's events/],
  ["A second subscription", /^subscribes twice|^a member subscribes twice/],
  [
    "A refused subscription",
    /^subscribes (without|with|to a name)|^enters a private channel with|^tries again|^is a member with(out| data that| no JSON| an empty text| no ID| a boolean| null as the ID)/,
  ],
  [
    "Members of presence channels",
    /^is a member with (a number as the ID|an empty ID|an ID of|no info|more members|other info)/,
  ],
  ["Cache channels", /^cache channels of other kinds|^a client's event isn't kept/],
  ["Events of clients", /^sends (an )?events?\b/],
  ["An event for one channel twice", /^delivers an event to two channels/],
  ["A `socket_id` that none has", /^excludes a socket/],
  ["Events that are refused", /^posts /],
  ["Counts in the list of channels", /^asks about channels and their members/],
  ["Ways that there aren't", /^asks in ways/],
  ["Signatures of requests", /^signs with/],
];

/** The subject of the differences in an exchange; undefined if none is expected. */
export function explanationOf(exchange: string): string | undefined {
  return explained.find(([, exchanges]) => exchanges.test(exchange))?.[0];
}
