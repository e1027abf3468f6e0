/** Options of channels on which a subscriber may do everything and recovers missed publications. */
export const openOptions = {
  allow_subscribe_for_client: true,
  allow_publish_for_subscriber: true,
  allow_history_for_subscriber: true,
  allow_presence_for_subscriber: true,
  presence: true,
  join_leave: true,
  history_size: 100,
  history_ttl: "5m",
  force_recovery: true,
};
