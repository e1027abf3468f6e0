// In a project of your own, these are "dormouse-realtime/channels" and "dormouse-realtime/worker".
import { useChannels } from "../../package/channels.ts";
import { channels } from "./channels.ts";

useChannels(channels);

export * from "../../workers/edge.ts";
export { default } from "../../workers/edge.ts";
