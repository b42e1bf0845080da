import { defineConfig } from "vitest/config"

/** Tests of single parts: none changes anything that others see, so files share a worker and its imports. */
const unit = ["api", "catalog", "extract", "plan", "sandbox"].map((folder) => `test/${folder}/**/*.test.ts`)
/** Tests that start processes. */
const processes = "test/process/**/*.test.ts"

export default defineConfig({
  test: {
    maxWorkers: 2,
    testTimeout: 240_000,
    hookTimeout: 240_000,
    projects: [
      { extends: true, test: { name: "unit", include: unit, isolate: false } },
      { extends: true, test: { name: "scenario", include: ["test/**/*.test.ts"], exclude: [...unit, processes] } },
      { extends: true, test: { name: "process", include: [processes], testTimeout: 400_000 } }
    ]
  }
})
