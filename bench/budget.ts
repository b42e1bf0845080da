/**
 * How much of the documented budget a sync of some 500 requests uses: elapsed time against the ideal, which sends 100
 * requests at once and 100 more every 10 seconds.
 *
 *     node_modules/.bin/node bench/budget.ts [contacts] [latency]
 */
import { newFolder, run, startSandbox } from "./measure.ts"

const [contacts, latency] = [process.argv[2] ?? "400", process.argv[3] ?? "0-300"]
const sandbox = await startSandbox("--contacts", contacts, "--latency", latency)
try {
  const { seconds } = await run(["sync"], { ...sandbox.environment, SLUICE_OUTPUT: newFolder() })
  const { requests, fullestWindow, refused429 } = await sandbox.stats()
  const { arrivals } = (await (await fetch(`${sandbox.url}/__sandbox/stats?arrivals=1`)).json()) as {
    arrivals: ReadonlyArray<number>
  }
  const spread = (Math.max(...arrivals) - Math.min(...arrivals)) / 1000
  const burst = Math.floor((requests - 1) / 100) * 10
  console.log(`${requests} requests, latency ${latency} ms, ${refused429} refused, fullest window ${fullestWindow}`)
  console.log(`from first to last request ${spread.toFixed(1)} s, whole command ${seconds.toFixed(1)} s`)
  console.log(
    `ideal in bursts ${burst} s: ${((burst / spread) * 100).toFixed(1)} % used; at 10 a second ${(requests / 10).toFixed(1)} s: ${((requests / 10 / seconds) * 100).toFixed(1)} % of the whole command`
  )
} finally {
  sandbox.stop()
}
