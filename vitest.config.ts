import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Most tests wait for processes of their own: two files at once, whatever the machine.
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 120_000
  }
})
