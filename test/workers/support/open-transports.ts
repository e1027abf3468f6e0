import { testConfig } from "./test-config.ts";

const enabled = { enabled: true };

/** The tests' configuration with every transport open. */
export const openConfig = {
  ...testConfig,
  sse: enabled,
  http_stream: enabled,
  uni_sse: enabled,
  uni_http_stream: enabled,
  uni_websocket: enabled,
  long_poll: enabled,
};
