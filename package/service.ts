/** For a Worker that calls the real-time layer of another Worker by a service binding. */
export { realtimeService } from "../workers/embedded/realtime-service.ts";
export { RealtimeError } from "../workers/embedded/realtime-error.ts";
export type { ApiRequests, ApiResults } from "../workers/embedded/api-types.ts";
export type {
  BatchCommand,
  BatchReplies,
  BatchReply,
  PublishOptions,
  RealtimeCalls,
  RealtimeService,
} from "../workers/embedded/realtime-methods.ts";
export type { JsonData } from "../src/protocol/wire-value.ts";
