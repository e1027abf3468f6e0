import type { CommandName, Operation, OperationName } from "../access/operations.ts";
import { operations } from "../features/index.ts";

/** The row of an operation; an empty one for what only a client asks of a channel, as it reads a map. */
export function operationOf(name: string): Operation {
  return isOperation(name) ? operations[name] : { at: "channel" };
}

/** The names of the operations whose row is so; all without a condition. In the order of the table. */
export function operationNames(
  is: (row: Operation) => boolean = () => true,
): readonly OperationName[] {
  return Object.keys(operations)
    .filter(isOperation)
    .filter((name) => is(operations[name]));
}

/** Whether a command may have this name. */
export function isCommandName(name: string): name is CommandName {
  return isOperation(name) && operations[name].at !== "events";
}

function isOperation(name: string): name is OperationName {
  return Object.hasOwn(operations, name);
}
