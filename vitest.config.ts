import { join } from "node:path"
import { defineConfig } from "vitest/config"
import { BaseSequencer, type TestSpecification } from "vitest/node"
import { flaky } from "./test/support/flaky.ts"
import { isOfOtherTier, skipped } from "./test/support/skipped.ts"
import { slowest } from "./test/support/slowest.ts"
import { slow } from "./test/support/tiers.ts"

/** Tests of single parts. */
const unit = ["api", "catalog", "extract", "plan", "sandbox"].map((folder) => `test/${folder}/**/*.test.ts`)
/** Tests that start processes. */
const processes = "test/process/**/*.test.ts"

const cpuLimit = "./test/support/cpu.ts"

/** The files that take longest. */
const longest = [
  "process/package",
  "process/dbt",
  "process/fleet-lake",
  "process/fleet",
  "process/fleet-bucket",
  "process/lake",
  "process/wide",
  "process/masking",
  "process/demo",
  "process/explore",
  "process/kill",
  "erasure/every-word",
  "sync/glitches",
  "signals/nights",
  "sync/service-habits",
  "sync/incremental"
].map((name) => `/test/${name}.test.ts`)

/** Begins with the longest files: one that begins last is waited for alone. A fresh clone has no durations of its own. */
class LongestFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    const rankOf = ({ moduleId }: TestSpecification) => {
      const rank = longest.findIndex((end) => moduleId.endsWith(end))
      return rank === -1 ? longest.length : rank
    }
    return (await super.sort(files)).toSorted((one, other) => rankOf(one) - rankOf(other))
  }
}

// The process tests have a worker for each file, which need not compile again what another one has compiled.
process.env["NODE_COMPILE_CACHE"] ??= join(import.meta.dirname, "node_modules/.cache/compiled")

/**
 * Files change nothing that other files see, so they share a worker, its imports and its compiled code. Many tests wait for a
 * rate limit, a process or a time limit: three workers keep two cores busy.
 */
export default defineConfig({
  test: {
    maxWorkers: 3,
    isolate: false,
    // The workers fill the cores, so collecting garbage beside them costs more than it saves, and so does a small heap.
    execArgv: [
      "--single-threaded-gc",
      "--min-semi-space-size=32",
      "--max-semi-space-size=64",
      "--initial-old-space-size=600"
    ],
    // Node reads the sources itself. Vite would transform each of them first, for mocks of modules, which no test has.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    reporters: ["default", slowest, flaky, skipped],
    tags: [{ name: slow, description: "Takes more than a second, or needs a program of others." }],
    strictTags: true,
    globalSetup: "./test/support/shared-programs.ts",
    onConsoleLog: (line) => !isOfOtherTier(line),
    sequence: { sequencer: LongestFirst },
    // What waits for processes, servers and time may fail beside the work of others: it has a second attempt, which is printed.
    retry: 1,
    testTimeout: 480_000,
    hookTimeout: 480_000,
    projects: [
      { extends: true, test: { name: "unit", include: unit, setupFiles: cpuLimit } },
      {
        extends: true,
        test: { name: "scenario", include: ["test/**/*.test.ts"], exclude: [...unit, processes], setupFiles: cpuLimit }
      },
      // Tests of kills and memory measure their processes, so they share neither a worker nor the cores with a third one.
      {
        extends: true,
        test: { name: "process", include: [processes], testTimeout: 900_000, isolate: true, maxWorkers: 2 }
      }
    ]
  }
})
