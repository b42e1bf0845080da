/** Prints at the end of the tests which passed at their second attempt: each of them has a cause, and is to be mended. */
import { relative } from "node:path"
import type { Reporter } from "vitest/node"

export const flaky: Reporter = {
  onTestRunEnd: (modules) => {
    const again = modules.flatMap(({ children, moduleId }) =>
      [...children.allTests("passed")]
        .filter((test) => test.diagnostic()?.flaky === true)
        .map((test) => {
          const [first] = test.result().errors ?? []
          return `${relative(process.cwd(), moduleId)}: ${test.fullName}\n    at first: ${first?.message.slice(0, 600)}`
        })
    )
    if (again.length === 0) return
    console.log(`Passed at the second attempt: ${again.length}. A test that passes by chance hides a fault:`)
    for (const name of again) console.log(`  ${name}`)
  }
}
