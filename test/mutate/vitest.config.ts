/**
 * How `npm run mutate` runs the quick tests of a room: in the module runner of vitest, without which Stryker does not see
 * which test reaches which line.
 */
import { defineConfig } from "vitest/config"
import { slow } from "../support/tiers.ts"

export default defineConfig({
  test: {
    include: JSON.parse(process.env["SLUICE_MUTATE_TESTS"] ?? "[]") as Array<string>,
    tags: [{ name: slow, skip: true }],
    experimental: { viteModuleRunner: true }
  }
})
