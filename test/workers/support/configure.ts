import { env } from "cloudflare:workers";

/**
 * Configures the Worker of one test file otherwise than the others'. To be called before any of its objects is made: the
 * configuration is read once.
 */
export function configure(config: object): void {
  Object.assign(env, { config });
}
