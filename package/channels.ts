/** The code of channels. It runs in tests on Node.js as well, because it imports nothing of the Workers' runtime. */
export {
  channel,
  type ChangedPublication,
  type ChannelDefinition,
  type ChannelDefinitions,
  type IncomingPublication,
  type Procedure,
  type ProcedureContext,
  type ProcedurePublishOptions,
} from "../src/features/procedures/definition.ts";
export { useChannels } from "../workers/platform/channel-code.ts";
