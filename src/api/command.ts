import { type ErrorCode, errorCodes } from "../protocol/codes.ts";
import type { ChannelCommand } from "../contract/channel-call.ts";

/** The methods that ask one thing of one channel. */
export type SingleMethod = ChannelCommand["method"];

/** The methods that may stand in a batch and in the legacy form; `batch` itself stands only alone. */
export type ApiMethod = SingleMethod | "broadcast";

/** One request of the API once it is parsed. A broadcast has an entry for every channel, in the request's order. */
export type ApiCommand =
  | { readonly form: "single"; readonly method: ApiMethod; readonly entry: Entry }
  | { readonly form: "broadcast"; readonly entries: readonly Entry[] };

/** One command for one channel, or why nothing is asked of a channel. */
export type Entry = Call | Refused;

export interface Call {
  readonly outcome: "call";
  readonly channel: string;
  readonly command: ChannelCommand;
}

/** An application error found at the edge. `detail` is for people and quotes nothing from the request. */
export interface Refused {
  readonly outcome: "refused";
  readonly error: ErrorCode;
  readonly detail: string;
}

/** A request that can't be read at all: HTTP status 400. `detail` names the field and quotes nothing. */
export interface Malformed {
  readonly outcome: "malformed";
  readonly detail: string;
}

export type ParsedEntry = Entry | Malformed;

export type ParsedCommand =
  | { readonly outcome: "command"; readonly command: ApiCommand }
  | Malformed;

/** Error 107, with what is wrong. */
export function refusedRequest(detail: string): Refused {
  return { outcome: "refused", error: errorCodes.badRequest, detail };
}

/** Puts the place where it happened, such as `commands[3]`, before what is wrong. */
export function malformedAt(place: string, { detail }: Malformed): Malformed {
  return { outcome: "malformed", detail: `${place}: ${detail}` };
}

/** Makes a command of the one entry that its parameters came to. */
export function singleCommand(method: ApiMethod, entry: ParsedEntry): ParsedCommand {
  return entry.outcome === "malformed"
    ? entry
    : { outcome: "command", command: { form: "single", method, entry } };
}

/** The entries of a command, in order. */
export function entriesOf(command: ApiCommand): readonly Entry[] {
  return command.form === "single" ? [command.entry] : command.entries;
}

export function methodOf(command: ApiCommand): ApiMethod {
  return command.form === "single" ? command.method : "broadcast";
}
