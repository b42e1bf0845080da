import { defineConfig } from "vitest/config"
import { slowest } from "./test/support/slowest.ts"

/** Tests of single parts. */
const unit = ["api", "catalog", "extract", "plan", "sandbox"].map((folder) => `test/${folder}/**/*.test.ts`)
/** Tests that start processes. */
const processes = "test/process/**/*.test.ts"

/**
 * Files change nothing that other files see, so they share a worker, its imports and its compiled code. Many tests wait for a
 * rate limit, a process or a time limit: three workers keep two cores busy.
 */
export default defineConfig({
  test: {
    maxWorkers: 3,
    isolate: false,
    reporters: ["default", slowest],
    testTimeout: 240_000,
    hookTimeout: 240_000,
    projects: [
      { extends: true, test: { name: "unit", include: unit } },
      {
        extends: true,
        test: { name: "scenario", include: ["test/**/*.test.ts"], exclude: [...unit, processes] }
      },
      { extends: true, test: { name: "process", include: [processes], testTimeout: 400_000 } }
    ]
  }
})
