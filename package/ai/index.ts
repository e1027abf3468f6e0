/** Chats of the AI SDK on a channel: the transport of `useChat` for the page, and what its route and its producer need. */
export { type ChatBackend, ChatError, httpApi, type HttpApiOptions, withEnv } from "./backend.ts";
export type { ChatSubscriptionOptions } from "./chat-channel.ts";
export type { FollowedChat } from "./chat-follower.ts";
export {
  type ChatRequest,
  parseChatRequest,
  takeChatRequest,
  type TakenRequest,
} from "./chat-request.ts";
export type { Chunk } from "./chunks.ts";
export { loadMessages } from "./messages.ts";
export { type BegunAnswer, stopAnswer } from "./stored-answer.ts";
export {
  type ChunkSource,
  streamToChannel,
  type StreamToChannelOptions,
  type Turn,
} from "./stream-to-channel.ts";
export { DormouseChatTransport, type DormouseChatTransportOptions } from "./transport.ts";
export type { AnswerState } from "./wire.ts";
