/**
 * The night of a large fleet, in virtual time: how long it takes with more and more workers. A hash gives each location to a
 * worker, which runs some of its locations side by side; one without waiting locations helps the others. A location reads at the
 * limit of the service, 10 requests a second, then waits until it alone commits to the lake.
 *
 *     node_modules/.bin/node bench/fleet-night.ts [locations] [seconds of a commit] [parallel]
 */
import { randomFrom } from "../test/support/random.ts"

const [locations = 2000, commitSeconds = 0.5, parallel = 4] = process.argv.slice(2).map(Number)
const requestsPerSecond = 10
/** From a location whose lists are all up to date to one with thousands of changed records. */
const [requestsMin, requestsMax] = [60, 3000]
/** As in src/features/fleet/worker.ts. */
const [lateSeconds, helpSeconds] = [10, 0.5]

interface Place {
  readonly worker: number
  readonly at: number
}

/** Seconds until the last commit. */
const night = (workers: number, helps: boolean): { readonly seconds: number; readonly fullest: number } => {
  const random = randomFrom(1)
  const queues = Array.from({ length: workers }, (): Array<number> => [])
  for (let location = 0; location < locations; location++)
    queues[Math.floor(random() * workers)]!.push(
      (requestsMin * (requestsMax / requestsMin) ** random()) / requestsPerSecond
    )
  const fullest = Math.max(...queues.map((queue) => queue.length)) / (locations / workers)
  // When the last of its own locations stopped waiting.
  const busyAt = queues.map(() => 0)
  const reading: Array<Place> = []
  const begin = ({ at, worker }: Place) => {
    const own = queues[worker]!.shift()
    if (own !== undefined) {
      busyAt[worker] = at
      reading.push({ worker, at: at + own })
      return
    }
    const waiting = queues.filter((queue) => queue.length > 0)
    if (!helps || waiting.length === 0) return
    const other = waiting[Math.floor(random() * waiting.length)]!
    const from = Math.max(at, busyAt[worker]! + lateSeconds) + helpSeconds
    reading.push({ worker, at: from + other.shift()! })
  }
  for (let slot = 0; slot < parallel; slot++) for (let worker = 0; worker < workers; worker++) begin({ worker, at: 0 })
  let lockFree = 0
  while (reading.length > 0) {
    const next = reading.reduce((first, other) => (other.at < first.at ? other : first))
    reading.splice(reading.indexOf(next), 1)
    lockFree = Math.max(lockFree, next.at) + commitSeconds
    begin({ worker: next.worker, at: lockFree })
  }
  return { seconds: lockFree, fullest }
}

for (const helps of [false, true]) {
  console.log(helps ? "\nworkers help each other" : "each worker alone")
  const one = night(1, helps).seconds
  for (const workers of [1, 4, 16, 32, 64]) {
    const { fullest, seconds } = night(workers, helps)
    const share = `the fullest has ${((fullest - 1) * 100).toFixed(0)} % more than its share`
    const lock = `lock of the lake held ${(((locations * commitSeconds) / seconds) * 100).toFixed(0)} % of the time`
    console.log(
      `${workers} workers: ${(seconds / 60).toFixed(1)} min, speed-up ${(one / seconds).toFixed(1)}; ${share}; ${lock}`
    )
  }
}
