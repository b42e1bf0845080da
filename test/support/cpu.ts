/**
 * Notes the CPU of a quick test that takes too much, and fails one that takes far too much. Set up for each file, in the worker
 * that runs its tests one by one.
 */
import { afterEach, beforeEach } from "vitest"
import {
  cpuSeconds,
  quickCpuSecondsMax,
  quickCpuSecondsPrinted,
  sharedCpuSeconds,
  slow,
  slowness,
  warmUpCpuSeconds
} from "./tiers.ts"

declare module "vitest" {
  interface TaskMeta {
    /** What a quick test took, where that is more than `quickCpuSecondsPrinted`. */
    cpuSeconds?: number
  }
}

let begun = 0
const spent = () => cpuSeconds() - sharedCpuSeconds()

beforeEach(() => {
  begun = spent()
})
afterEach(({ task }) => {
  const seconds = spent() - begun
  if (task.tags?.includes(slow) || seconds <= quickCpuSecondsPrinted || begun < warmUpCpuSeconds) return
  const comparable = seconds / slowness()
  if (comparable <= quickCpuSecondsPrinted) return
  task.meta.cpuSeconds = comparable
  if (comparable <= quickCpuSecondsMax) return
  throw new Error(
    `Too much CPU for a quick test: ${comparable.toFixed(1)} s, where ${quickCpuSecondsMax} s are allowed. Make it cheaper, or give it the tag "${slow}".`
  )
})
