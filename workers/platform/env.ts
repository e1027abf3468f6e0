import type { ChannelObject } from "../objects/channel-object.ts";

/** What wrangler.toml and the secrets bind to the Worker. */
export interface Env {
  readonly CHANNELS: DurableObjectNamespace<ChannelObject>;
  /** The files in `public`. */
  readonly ASSETS?: Fetcher;
  /** Secret: what a backend must know to use the HTTP API. */
  readonly API_KEY?: string;
  /** Secret: what signs connection and subscription tokens. */
  readonly TOKEN_HMAC_SECRET_KEY?: string;
  /** The configuration, as TOML under `[vars.config]` or as JSON text. */
  readonly config?: string | { readonly [section: string]: ConfigVariable };
  /** Origins that are allowed besides the configured ones, separated by commas; for development only. */
  readonly DEVELOPMENT_ORIGINS?: string;
}

type ConfigVariable =
  | string
  | number
  | boolean
  | readonly ConfigVariable[]
  | { readonly [name: string]: ConfigVariable };
