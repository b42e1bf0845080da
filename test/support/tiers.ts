/**
 * The tiers of the tests. A quick test takes less than a second of CPU, and `npm test` runs all of them in two minutes; what
 * takes longer, or needs a program of others, has the tag `slow`. Both stand side by side in the same files.
 */
export const slow = "slow"

/** The filter of the quick tests. */
export const withoutSlow = `!${slow}`

/**
 * What a test without the tag may take, in seconds of CPU on a quiet core of the machine on which `unitSeconds` was measured:
 * with more, the second command of a newcomer becomes slow again, a test at a time. CPU and not time, since machines are
 * shared. What tests share is not counted: fixtures, and the first seconds of a worker, in which it imports and compiles the
 * program. A measure of a busy machine is too rough to fail a run by: what takes more than the first is printed at the end, and
 * only what takes more than the second fails.
 */
export const quickCpuSecondsPrinted = 1.5
export const quickCpuSecondsMax = 5
export const warmUpCpuSeconds = 8

/** Files without a quick test: what they claim is about a PostgreSQL server. */
export const onlySlow: ReadonlyArray<string> = ["test/fleet/jobs.test.ts", "test/fleet/take-over.test.ts"]

/** What this process has used, in all its threads. */
export const cpuSeconds = (): number => {
  const { system, user } = process.cpuUsage()
  return (system + user) / 1e6
}

/** What the fixed piece of work below takes on a quiet core: the median of 15 runs. */
const unitSeconds = 0.16

/** How many times slower than a quiet core this one is now. It is measured after a test that seems to take too much. */
export const slowness = (): number => {
  const begun = cpuSeconds()
  const records = Array.from({ length: 1_000 }, (_, index) => ({ id: `record-${index}`, amounts: [index, index / 7] }))
  for (let round = 0; round < 400; round += 1) JSON.parse(JSON.stringify(records))
  return Math.max(1, (cpuSeconds() - begun) / unitSeconds)
}

let shared = 0
export const sharedCpuSeconds = (): number => shared

/** Does work that several tests share, which is not counted as that of the first of them. */
export const asShared = async <A>(work: () => Promise<A>): Promise<A> => {
  const begun = cpuSeconds()
  try {
    return await work()
  } finally {
    shared += cpuSeconds() - begun
  }
}
