import type { ChannelPart } from "../../channel/channel-part.ts";
import type { Feature } from "../feature.ts";
import { ChannelProcedures } from "./channel-procedures.ts";
import { callMethodsOf } from "./client-method.ts";
import { procedureMethods, procedureOperations } from "./methods.ts";
import { ProcedureDriver, sleepingCode } from "./procedure-driver.ts";

/** On a channel without code. */
const noCode: ChannelPart = {
  carryOut: ({ method }) => (method === "call" ? { outcome: "not-available" } : undefined),
};

/** On a channel without code whose storage has something of one. */
const formerCode: ChannelPart = { ...noCode };

/** Code of one's own Worker, which runs in the order of a channel. */
export const procedures = {
  operations: procedureOperations,
  methods: procedureMethods,
  ofObject: ({ config }) => {
    const clientMethods = callMethodsOf(config);
    return clientMethods && { ofSessions: { clientMethods } };
  },
  ofChannel: (channel, setup) => {
    const { code } = channel.options;
    if (code !== undefined) return [new ChannelProcedures(channel, code, setup)];
    const { tables } = setup;
    return [tables.has("procedure_key") || tables.has("procedure_timer") ? formerCode : noCode];
  },
  ofChannelObject: (object) => {
    const { parts } = object.channel;
    if (parts.includes(formerCode)) return [sleepingCode];
    const own = parts.find((part) => part instanceof ChannelProcedures);
    return own === undefined ? [] : [new ProcedureDriver(own, object)];
  },
} as const satisfies Feature;
