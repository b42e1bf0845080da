/** Fails a test that takes too much CPU for a quick one. Set up for each file, in the worker that runs its tests one by one. */
import { afterEach, beforeEach } from "vitest"
import { cpuSeconds, quickCpuSecondsMax, sharedCpuSeconds, slow, slowness, warmUpCpuSeconds } from "./tiers.ts"

let begun = 0
const spent = () => cpuSeconds() - sharedCpuSeconds()

beforeEach(() => {
  begun = spent()
})
afterEach(({ task }) => {
  const seconds = spent() - begun
  if (task.tags?.includes(slow) || seconds <= quickCpuSecondsMax || begun < warmUpCpuSeconds) return
  const comparable = seconds / slowness()
  if (comparable <= quickCpuSecondsMax) return
  throw new Error(
    `Too much CPU for a quick test: ${comparable.toFixed(1)} s, where ${quickCpuSecondsMax} s are allowed. Make it cheaper, or give it the tag "${slow}".`
  )
})
