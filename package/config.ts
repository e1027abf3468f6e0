/** The configuration, with its types. */
export { defineConfig } from "../workers/embedded/define-config.ts";
export type { DormouseConfig } from "../workers/embedded/config-types.ts";
