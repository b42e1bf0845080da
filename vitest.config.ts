import { defineConfig } from "vitest/config"

/** Tests of single parts. */
const unit = ["api", "catalog", "extract", "plan", "sandbox"].map((folder) => `test/${folder}/**/*.test.ts`)
/** Tests that start processes. */
const processes = "test/process/**/*.test.ts"

/** Unit and scenario tests change nothing that other files see, so files share a worker, its imports and its compiled code. */
export default defineConfig({
  test: {
    maxWorkers: 2,
    testTimeout: 240_000,
    hookTimeout: 240_000,
    projects: [
      { extends: true, test: { name: "unit", include: unit, isolate: false } },
      {
        extends: true,
        test: { name: "scenario", isolate: false, include: ["test/**/*.test.ts"], exclude: [...unit, processes] }
      },
      { extends: true, test: { name: "process", include: [processes], testTimeout: 400_000 } }
    ]
  }
})
