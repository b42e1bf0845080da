/** Prints at the end of the tests what to look at first when they are slow: the longest files, and quick tests that are dear. */
import { relative } from "node:path"
import type { Reporter, TestModule } from "vitest/node"

const shown = 20

export const slowest: Reporter = {
  onTestRunEnd: (modules) => {
    if (modules.length < 2) return
    const secondsOf = (module: TestModule) => {
      const { collectDuration, duration, prepareDuration, setupDuration } = module.diagnostic()
      return (collectDuration + duration + prepareDuration + setupDuration) / 1000
    }
    const files = modules.map((module) => ({
      path: relative(process.cwd(), module.moduleId),
      seconds: secondsOf(module)
    }))
    const all = files.reduce((sum, { seconds }) => sum + seconds, 0)
    console.log(`Slowest files, of ${files.length} with ${all.toFixed(0)} s in all:`)
    for (const { path, seconds } of files.toSorted((one, other) => other.seconds - one.seconds).slice(0, shown))
      console.log(`${seconds.toFixed(1).padStart(6)} s  ${path}`)
    for (const module of modules)
      for (const test of module.children.allTests()) {
        const { cpuSeconds } = test.meta()
        if (cpuSeconds !== undefined)
          console.log(
            `A quick test took ${cpuSeconds.toFixed(1)} s of CPU: ${test.fullName} (${module.relativeModuleId})`
          )
      }
  }
}
