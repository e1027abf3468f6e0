import type { ChannelCommand } from "../../src/contract/channel-call.ts";

/** The kind of job that a call to a channel's object makes: one with a publish may have to wait (rule F6). */
export function kindOf(commands: readonly { readonly method: string }[]): "publish" | "other" {
  return commands.some(publishes) ? "publish" : "other";
}

/** Whether a method publishes. A gateway's method for a publication that a backend has completed is another one. */
function publishes({ method }: { readonly method: string }): boolean {
  return publishing.has(method);
}

const publishing: ReadonlySet<string> = new Set([
  "publish",
  "publish_request",
  "map_publish",
  "map_remove",
  "map_change",
]);

/** The trace of a call: all of its commands are of one request. Undefined if it belongs to none. */
export function traceOf(commands: readonly ChannelCommand[]): string | undefined {
  for (const command of commands) {
    if ("request" in command && "traceparent" in command.request)
      return command.request.traceparent;
  }
  return undefined;
}
