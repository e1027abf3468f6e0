import type { Operation } from "../../access/operations.ts";
import {
  overLimit,
  type ParsedEntry,
  refusedFeature,
  refusedIdempotencyKey,
  refusedRequest,
} from "../../api/command.ts";
import {
  checkChannel,
  type MethodRequest,
  shape,
  type Shaped,
  textField,
} from "../../api/shape.ts";
import { utf8Fits } from "../../protocol/bytes.ts";
import { memberText } from "../../protocol/json/text.ts";
import { procedureLimits } from "./limits.ts";

/** Reads a request to call a procedure. A key has to admit the channel. */
function callEntry(fields: Shaped<typeof callShape>, asked: MethodRequest): ParsedEntry {
  const { channel, procedure, idempotency_key: idempotencyKey } = fields;
  const checked = checkChannel(channel, asked);
  if (checked.outcome === "refused") return checked;
  if (procedure === "") return refusedRequest("procedure is required");
  const refused = refusedIdempotencyKey(idempotencyKey);
  if (refused !== undefined) return refused;
  const args = memberText(asked.params, "args");
  if (args !== undefined && !utf8Fits(args, procedureLimits.argsBytesMax))
    return overLimit("args", procedureLimits.argsBytesMax);
  if (checked.options.code === undefined)
    return refusedFeature("the namespace of the channel has no code");
  const request = { procedure, ...(args !== undefined && { data: args }), idempotencyKey };
  const command = { method: "call", request, key: asked.caller.key.name } as const;
  return { outcome: "call", channel, command };
}

/** A `call` request; `args` is read from the text. */
const callShape = shape(() => ({
  channel: textField(),
  procedure: textField(),
  idempotency_key: textField(),
}));

/** The row of the method. */
export const procedureOperations = {
  call: { at: "channel", changes: true },
} as const satisfies Readonly<Record<string, Operation>>;

type ProcedureOperations = typeof procedureOperations;

declare module "../../access/operations.ts" {
  interface Operations extends ProcedureOperations {}
}

/** How its requests are read. */
export const procedureMethods = {
  call: { shape: callShape, texts: ["args"], entry: callEntry },
} as const;
