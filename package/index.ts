/** The real-time layer of a Worker of one's own. */
export {
  dormouse,
  type BoundEnv,
  type Realtime,
  type RealtimeOptions,
  type Visitor,
} from "../workers/embedded/dormouse.ts";
export { defineConfig, type DormouseConfig } from "./config.ts";
export { RealtimeError } from "../workers/embedded/realtime-error.ts";
export { BackendEntrypoint } from "../workers/platform/backend-entrypoint.ts";
export { RealtimeEntrypoint } from "../workers/embedded/realtime-entrypoint.ts";
export {
  channel,
  type ChannelDefinition,
  type ProcedureContext,
} from "../src/features/procedures/definition.ts";
export { ChannelObject } from "../workers/objects/channel-object.ts";
export { GatewayObject } from "../workers/objects/gateway-object.ts";
export { UsersObject } from "../workers/objects/users-object.ts";
export { MetricsObject } from "../workers/features/index.ts";
export type { ApiRequests, ApiResults } from "../workers/embedded/api-types.ts";
export type * from "../workers/embedded/hook-functions.ts";
export type {
  BatchCommand,
  BatchReplies,
  BatchReply,
  PublishOptions,
  RealtimeService,
} from "../workers/embedded/realtime-methods.ts";
export type { JsonData } from "../src/protocol/wire-value.ts";
export type { RealtimeBindings } from "../workers/embedded/bindings.ts";
