/** Fails a test that takes too much CPU for a quick one. Set up for each file, in the worker that runs its tests one by one. */
import { afterEach, beforeEach } from "vitest"
import { cpuSeconds, quickCpuSecondsMax, sharedCpuSeconds, slow, warmUpCpuSeconds } from "./tiers.ts"

let begun = 0
const spent = () => cpuSeconds() - sharedCpuSeconds()

beforeEach(() => {
  begun = spent()
})
afterEach(({ task }) => {
  const seconds = spent() - begun
  if (task.tags?.includes(slow) || seconds <= quickCpuSecondsMax || begun < warmUpCpuSeconds) return
  throw new Error(
    `This test took ${seconds.toFixed(1)} s of CPU, and a quick one may take ${quickCpuSecondsMax} s. Make it cheaper, or give it the tag "${slow}".`
  )
})
