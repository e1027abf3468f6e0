import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["**/*.test.ts"],
    benchmark: { include: ["core/**/*.bench.ts"] },
    environment: "node",
  },
});
