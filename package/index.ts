/** The real-time layer of a Worker of one's own. */
export { dormouse, type Realtime, type RealtimeOptions } from "../workers/embedded/dormouse.ts";
export { defineConfig } from "../workers/embedded/define-config.ts";
export type { DormouseConfig } from "../workers/embedded/config-types.ts";
export { RealtimeError } from "../workers/embedded/realtime-error.ts";
export { RealtimeEntrypoint } from "../workers/embedded/realtime-entrypoint.ts";
export { ChannelObject } from "../workers/objects/channel-object.ts";
export { GatewayObject } from "../workers/objects/gateway-object.ts";
export { UsersObject } from "../workers/objects/users-object.ts";
export { MetricsObject } from "../workers/features/index.ts";
export type { ApiRequests, ApiResults } from "../workers/embedded/api-types.ts";
export type { Visitor } from "../workers/embedded/visitor.ts";
export type * from "../workers/embedded/hook-functions.ts";
export type { JsonData, PublishOptions } from "../workers/embedded/realtime-methods.ts";
export type { Env } from "../workers/platform/env.ts";
