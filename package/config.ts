/** The configuration, with its types. */
import type { DormouseConfig } from "../src/features/options.ts";

export type { DormouseConfig } from "../src/features/options.ts";

/**
 * Gives back the configuration; a key or a value that can't be right is an error of the compiler. What the compiler can't
 * see, such as options that exclude each other, is told by name at the first request.
 */
export function defineConfig(config: DormouseConfig): DormouseConfig {
  return config;
}
