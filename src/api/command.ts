/**
 * The commands of the HTTP API, parsed but not carried out. One request has one command, or many of them in a batch or
 * in the legacy form; one command has an entry for each channel that it names. The parsers of `src/api` make them, and
 * `calls.ts` plans the calls for them.
 */
import { type ErrorCode, errorCodes } from "../protocol/codes.ts";
import type { ApiKey } from "../access/api-keys.ts";
import type { CommandName, OperationAt } from "../access/operations.ts";
import type { ChannelConfig } from "../config/config.ts";
import type { ChannelOperation } from "../contract/channel-call.ts";
import type { NoteUnknownFields } from "./unknown-fields.ts";
import type { UserOrder } from "../contract/user-order.ts";
import { limits } from "../limits.ts";
import { utf8Fits } from "../protocol/bytes.ts";

/** The backend that calls, as far as its requests depend on it. */
export interface ApiCaller {
  /** The key that it sent. */
  readonly key: ApiKey;
  readonly channels: ChannelConfig;
  /** When it asks, ms since 1970. */
  readonly nowMs: number;
  /** Takes the fields of a request that its method doesn't have; absent where nobody reads these notes. */
  readonly noteUnknown?: NoteUnknownFields;
}

/** One parsed command of the API. A broadcast has an entry for each channel, in the request's order. */
export type ApiCommand =
  | { readonly form: "single"; readonly method: GivenName; readonly entry: Entry }
  | { readonly form: "broadcast"; readonly entries: readonly Entry[] };

/** The name of a command in a request. "unknown" stands for a name that no command has, and for no name (rule W9). */
type GivenName = CommandName | "rpc" | "unknown";

/** The commands that have one entry. */
export type SingleName = OperationAt<"channel" | "user" | "question">;

/** One command for one channel or one user, or the reason why no object is called for it. */
export type Entry = Call | Order | Asked | Refused;

/** One command for one channel. */
export interface Call {
  readonly outcome: "call";
  readonly channel: string;
  readonly command: ChannelOperation;
}

/** One order for connections of one user, or for one token. */
interface Order {
  readonly outcome: "order";
  /** The key of the user or the token (src/contract/identity-key.ts); "" for an anonymous connection. */
  readonly user: string;
  readonly order: UserOrder;
}

/** A backend asks about connections and users, or says something of them; the edge asks homes and the directory. */
export type Question =
  /** Which connections a user has (rule U20). */
  | { readonly method: "connections"; readonly user: string }
  /** Which gateways there are, from a cursor on (rule U23). */
  | { readonly method: "info"; readonly page: Page }
  /** Which channels have subscribers, from a cursor on (rule U24). */
  | { readonly method: "channels"; readonly pattern: string; readonly page: Page }
  /** When users were active and online (rule U25); users are named once. */
  | { readonly method: "get_user_status"; readonly users: readonly string[] }
  /** That these users are active, and what their state is. */
  | {
      readonly method: "update_user_status";
      readonly users: readonly string[];
      readonly state: string;
    }
  /** That nothing is to be known of these users any more. */
  | { readonly method: "delete_user_status"; readonly users: readonly string[] }
  | WhyQuestion
  | InspectQuestion
  | UnreadQuestion
  | ForgetQuestion;

/** Why a publication didn't reach a client (rule Y3). */
export interface WhyQuestion {
  readonly method: "why";
  readonly channel: string;
  /** Of the publication. */
  readonly offset: number;
  /** "" for none: then `client` is given. */
  readonly user: string;
  /** "" for all connections of the user. */
  readonly client: string;
}

/** How a channel, or an object, is (rule Y4). */
export interface InspectQuestion {
  readonly method: "inspect";
  /** "" for none: then `object` is given. */
  readonly channel: string;
  /** The object's node (docs/protocol.md 4.3). */
  readonly object: string;
  /** How many of the last refusals are listed. */
  readonly refusals: number;
}

/** How much a user hasn't read on channels (rule CU4). */
export interface UnreadQuestion {
  readonly method: "unread";
  readonly user: string;
  /** Each of them once. */
  readonly channels: readonly string[];
}

/** That channels are to delete what they keep of a user (rule CU30). */
export interface ForgetQuestion {
  readonly method: "forget_user";
  readonly user: string;
  /** Whether what the user has published is erased, too (rule ED18). */
  readonly publications: boolean;
}

/** A page of an answer. */
export interface Page {
  /** The last name of the page before; "" for the first page. */
  readonly after: string;
  readonly limit: number;
}

/** One question. */
interface Asked {
  readonly outcome: "question";
  readonly question: Question;
}

/** An application error found at the edge. `detail` is for the operator and quotes nothing from the request. */
export interface Refused {
  readonly outcome: "refused";
  readonly error: ErrorCode;
  readonly detail: string;
  /** For the log: the channel of the request, or of the entry of a broadcast. */
  readonly channel?: string;
}

/** A request that can't be parsed: HTTP status 400. `detail` names the field and quotes nothing. */
export interface Malformed {
  readonly outcome: "malformed";
  readonly detail: string;
}

/** A parsed request for one channel. */
export type ParsedEntry = Entry | Malformed;

/** A parsed request of any method. */
export type ParsedCommand =
  | { readonly outcome: "command"; readonly command: ApiCommand }
  | Malformed;

/** Refuses a request with error 107. */
export function refusedRequest(detail: string): Refused {
  return { outcome: "refused", error: errorCodes.badRequest, detail };
}

/** Refuses with error 108 what the channel's namespace doesn't have. */
export function refusedFeature(detail: string): Refused {
  return { outcome: "refused", error: errorCodes.notAvailable, detail };
}

/** Prefixes the detail with the place of the fault, such as `commands[3]`. */
export function malformedAt(place: string, { detail }: Malformed): Malformed {
  return { outcome: "malformed", detail: `${place}: ${detail}` };
}

/** Makes a command of a single entry. */
export function singleCommand(method: GivenName, entry: ParsedEntry): ParsedCommand {
  return entry.outcome === "malformed"
    ? entry
    : { outcome: "command", command: { form: "single", method, entry } };
}

/** The entries of a command, in order. */
export function entriesOf(command: ApiCommand): readonly Entry[] {
  return command.form === "single" ? [command.entry] : command.entries;
}

/** The method of a command, as it is named in a request. */
export function methodOf(command: ApiCommand): GivenName {
  return command.form === "single" ? command.method : "broadcast";
}

/** Refuses an idempotency key that is too long, with error 107; undefined if it can be one, or is empty. */
export function refusedIdempotencyKey(idempotencyKey: string): Refused | undefined {
  const { idempotencyKeyBytesMax } = limits;
  return utf8Fits(idempotencyKey, idempotencyKeyBytesMax)
    ? undefined
    : overLimit("idempotency_key", idempotencyKeyBytesMax);
}

/** Refuses a request with error 107, because a field is too long. */
export function overLimit(field: string, bytesMax: number): Refused {
  return refusedRequest(`${field} exceeds ${bytesMax} bytes`);
}

/** Refuses a key of a map or of a shared poll that nothing can have, with error 107; undefined if it can be one. */
export function refusedKey(key: string): Refused | undefined {
  return key === "" ? refusedRequest("key is required") : refusedKeyText(key);
}

/** Refuses a key as {@link refusedKey} does, except for an empty one, which stands for none. */
export function refusedKeyText(key: string): Refused | undefined {
  if (!utf8Fits(key, limits.mapKeyBytesMax))
    return refusedRequest(`key exceeds ${limits.mapKeyBytesMax} bytes`);
  // A lone surrogate is replaced when it is stored, which would make one key of two.
  return key.isWellFormed() ? undefined : refusedRequest("key is not well-formed Unicode");
}
