/**
 * The night of a large fleet, in virtual time: how long it takes with more and more workers. Each runs some locations side by
 * side, and claims the next one when one has ended. A location reads at the limit of the service, 10 requests a second, then waits
 * until it alone commits to the lake.
 *
 *     node_modules/.bin/node bench/fleet-night.ts [locations] [seconds of a commit] [parallel]
 */
import { randomFrom } from "../test/support/random.ts"

const [locations = 2000, commitSeconds = 0.5, parallel = 4] = process.argv.slice(2).map(Number)
const requestsPerSecond = 10
/** From a location whose lists are all up to date to one with thousands of changed records. */
const [requestsMin, requestsMax] = [60, 3000]

/** Seconds until the last commit. */
const night = (workers: number): number => {
  const random = randomFrom(1)
  const waiting = Array.from(
    { length: locations },
    () => (requestsMin * (requestsMax / requestsMin) ** random()) / requestsPerSecond
  )
  /** When each location that is read now will have been. */
  const reading = waiting.splice(0, workers * parallel)
  let lockFree = 0
  while (reading.length > 0) {
    const next = Math.min(...reading)
    reading.splice(reading.indexOf(next), 1)
    lockFree = Math.max(lockFree, next) + commitSeconds
    if (waiting.length > 0) reading.push(lockFree + waiting.shift()!)
  }
  return lockFree
}

const one = night(1)
for (const workers of [1, 4, 16, 32, 64]) {
  const seconds = night(workers)
  const lock = `lock of the lake held ${(((locations * commitSeconds) / seconds) * 100).toFixed(0)} % of the time`
  console.log(`${workers} workers: ${(seconds / 60).toFixed(1)} min, speed-up ${(one / seconds).toFixed(1)}; ${lock}`)
}
