/** The bounds of files that people write, and that commands read. */
export const fileLimits = {
  /** A text that no other bound is for, such as a Worker's main module: bundles that the platform takes have 64 MiB at most. */
  textBytesMax: 64 << 20,
  /** A configuration or a package.json: the largest known ones have some 100 KB. */
  documentBytesMax: 1 << 20,
  /** How deep values of a configuration are nested: the deepest of wrangler's and of Centrifugo's are nested 8 deep. */
  documentDepthMax: 500,
  /**
   * Characters before the first value of a line of YAML. Its parser makes an expression of their number, for which a process
   * has no memory beyond some 100,000.
   */
  yamlIndentMax: 2_000,
} as const;
