/** The bounds of applications whose clients speak the Pusher protocol (rule B1). */
export const pusherLimits = {
  /** Entries of `pusher.apps`. A configuration with more is refused (rule A8). */
  appsMax: 64,
  /** Characters of a channel's name, as at pusher.com; a longer one is refused. */
  channelCharactersMax: 164,
  /** Characters of an event's name, as at pusher.com. A longer one is refused with 400. */
  eventCharactersMax: 200,
  /** Characters of the ID of a user. A longer one is refused. */
  userCharactersMax: 128,
  /** Channels of one `POST /apps/ID/events`, as at pusher.com. More are refused with 400. */
  eventChannelsMax: 100,
  /** Events of one `POST /apps/ID/batch_events`, as at pusher.com. More are refused with 400. */
  batchEventsMax: 10,
  /** How far the time of a signed request may be from the server's, in seconds. Beyond that it is refused with 401. */
  signatureSeconds: 600,
} as const;
