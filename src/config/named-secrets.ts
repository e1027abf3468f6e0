import type { NamedSecret } from "../access/secrets.ts";
import type { Config } from "./config.ts";

/** The secrets whose names stand in the configuration, each once. The Worker isn't configured without them (rule A8). */
export function namedSecrets({ httpApi }: Pick<Config, "httpApi">): readonly NamedSecret[] {
  return httpApi.keys.map(({ secret }) => ({ name: secret, kind: "api" }));
}
