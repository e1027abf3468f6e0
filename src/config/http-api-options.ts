import type { Options } from "./option.ts";

/** `http_api.*`, but for `keys` (docs/protocol.md 6.1). */
export const httpApiOptions = {
  /**
   * `"transport"` turns API errors into HTTP statuses even without the request's header
   * `X-Centrifugo-Error-Mode: transport`.
   */
  error_mode: { is: "choice", of: ["", "transport"] },
  /**
   * Under `npm start` only: requests need no API key.
   *
   * @differs under `npm start` only
   */
  insecure: { is: "boolean", development: "needs no API key" },
} as const satisfies Options;

/** The name and the secret of each of `http_api.keys`. */
export const apiKeyOptions = {
  /**
   * The name of the key in errors and in the log: at most 64 of `A-Z`, `a-z`, `0-9`, `-`, `_` and `.`.
   *
   * @default required
   */
  name: {
    is: "text",
    shape: /^[-a-zA-Z0-9_.]{0,64}$/,
    meaning: "at most 64 of A-Z, a-z, 0-9, -, _ and .",
  },
  /**
   * The name of the Worker's secret that holds the key: `API_KEY_` and more of `A-Z`, `0-9` and `_`. The key itself never
   * stands in the configuration. An entry without it admits nothing over HTTP: its rights are those of
   * [other Workers](embedding.md#from-another-worker) with its name.
   */
  secret: { is: "text", secret: "API_KEY" },
} as const satisfies Options;

/** The rights of each of `http_api.keys`. The reader of these rows supplies the names of the methods. */
export const apiKeyRightOptions = {
  /**
   * The methods of the API that the key admits, or `["*"]` for all, also those of later releases. The commands of a `batch`
   * count one by one; `publish` doesn't admit `broadcast`. `disconnect`, `refresh`, `block_user`, `unblock_user`,
   * `revoke_token`, `invalidate_user_tokens` without a channel, `connections`, `info`, `channels`, `inspect` of a gateway and
   * the methods for users' status also require the channel `*`, because they concern all channels, and so does `events` for a
   * gateway or a home.
   *
   * @default required
   */
  methods: { is: "texts" },
  /**
   * The channels that the key admits: names, or patterns as in `client.allowed_origins`.
   *
   * @default required
   */
  channels: { is: "texts" },
} as const satisfies Options;
