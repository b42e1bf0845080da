/**
 * Prints at the end of the tests which were skipped: green does not say what ran. With SLUICE_SKIPS=fail, the run then fails,
 * which is for machines that can run all of them.
 */
import { relative } from "node:path"
import type { Reporter } from "vitest/node"

let isFiltered = false

export const skipped: Reporter = {
  onInit: ({ config }) => {
    isFiltered = config.testNamePattern !== undefined
  },
  onTestRunEnd: (modules) => {
    if (isFiltered) return
    const tests = modules.flatMap((module) =>
      [...module.children.allTests("skipped")].map((test) => ({
        name: `${relative(process.cwd(), module.moduleId)}: ${test.fullName}`,
        note: (test.result() as { readonly note?: string }).note
      }))
    )
    if (tests.length === 0) return
    console.log(`Skipped tests: ${tests.length}. The lines that begin with "skipped:" say what they need.`)
    for (const { name, note } of tests) console.log(`  ${name}${note === undefined ? "" : ` (${note})`}`)
    if (process.env["SLUICE_SKIPS"] !== "fail") return
    console.log("This run must skip no test (SLUICE_SKIPS=fail).")
    process.exitCode = 1
  }
}
