import type { MapOptions } from "../../src/features/maps/config.ts";

/**
 * The options of a map whose configuration names none of them; its mode and the lifetime of its keys have no default.
 */
export const mapDefaults: Omit<MapOptions, "mode" | "keyTtlMs"> = {
  appendWindowMs: 250,
  removeClientOnUnsubscribe: false,
  clientKey: "",
  allowPublishForClient: false,
  allowPublishForSubscriber: false,
  allowPublishForAnonymous: false,
  allowRemoveForClient: false,
  allowRemoveForSubscriber: false,
  allowRemoveForAnonymous: false,
  defaultPageSize: 100,
  minPageSize: 100,
  maxPageSize: 1_000,
  liveTransitionMaxPublicationLimit: 1_000,
  subscribeCatchUpTimeoutMs: 5_000,
};
