/**
 * Prints at the end of the tests which were skipped: green does not say what ran. With SLUICE_TESTS=all, the run then fails,
 * which is for machines that can run all of them. A run of the quick tests fails if a file has none.
 */
import { relative } from "node:path"
import type { Reporter, TestCase } from "vitest/node"
import { mayInstall } from "./programs.ts"
import { onlySlow, slow, withoutSlow } from "./tiers.ts"

let isFiltered = false
let tagsFilter: ReadonlyArray<string> = []

/** Whether the chosen tier has the test. */
const isChosen = ({ tags }: TestCase): boolean =>
  tagsFilter.every((filter) => tags.includes(slow) === (filter !== withoutSlow))

/** A line of the kind "skipped: …", about programs that no quick test needs. */
export const isOfOtherTier = (line: string): boolean => tagsFilter.includes(withoutSlow) && line.startsWith("skipped:")

export const skipped: Reporter = {
  onInit: ({ config }) => {
    isFiltered = config.testNamePattern !== undefined
    tagsFilter = config.tagsFilter ?? []
  },
  onTestRunEnd: (modules) => {
    if (isFiltered) return
    if (tagsFilter.includes(withoutSlow))
      for (const { children, moduleId } of modules) {
        const path = relative(process.cwd(), moduleId)
        const isSlow = [...children.allTests()].every(({ tags }) => tags.includes(slow))
        if (!isSlow || onlySlow.includes(path)) continue
        console.log(`${path} has no quick test: each file has one, so that npm test says something of each promise.`)
        process.exitCode = 1
      }
    const tests = modules.flatMap((module) =>
      [...module.children.allTests("skipped")].filter(isChosen).map((test) => ({
        name: `${relative(process.cwd(), module.moduleId)}: ${test.fullName}`,
        note: (test.result() as { readonly note?: string }).note
      }))
    )
    if (tests.length === 0) return
    console.log(`Skipped tests: ${tests.length}. The lines that begin with "skipped:" say what they need.`)
    for (const { name, note } of tests) console.log(`  ${name}${note === undefined ? "" : ` (${note})`}`)
    if (!mayInstall) return
    console.log("This run must skip no test (SLUICE_TESTS=all).")
    process.exitCode = 1
  }
}
