/**
 * Contacts per second from end to end, limits off: HTTP, vault, three tables, merge, publish.
 *
 *     node_modules/.bin/node bench/throughput.ts [contacts] [runs]
 */
import { type Measured, median, newFolder, run, startSandbox } from "./measure.ts"

const contacts = Number(process.argv[2] ?? 100_000)
const runs = Number(process.argv[3] ?? 3)
const others = "--opportunities 10 --conversations 10 --messages 10 --orders 10 --submissions 10 --tasks 10 --users 3"

const sandbox = await startSandbox(
  ..."--limits off --no-compression --warm --tags 2 --custom-values 3".split(" "),
  ...others.split(" "),
  "--contacts",
  String(contacts)
)
try {
  const measured: Array<{ readonly full: Measured; readonly load: Measured }> = []
  for (let n = 0; n < runs; n++) {
    const output = newFolder()
    const environment = { ...sandbox.environment, SLUICE_OUTPUT: output }
    const full = await run(["sync", "--only", "contacts", "--json"], environment)
    const load = await run(["rebuild", "--json"], environment)
    measured.push({ full, load })
  }
  const of = (pick: (one: (typeof measured)[number]) => number) => median(measured.map(pick))
  console.log(`${contacts} contacts, median of ${runs}`)
  console.log(
    `sync     ${Math.round(contacts / of(({ full }) => full.seconds))} contacts/s (${of(({ full }) => full.seconds).toFixed(1)} s, ${of(({ full }) => full.cpuSeconds).toFixed(1)} s CPU, ${Math.round(of(({ full }) => full.peakMb))} MB)`
  )
  console.log(
    `rebuild  ${Math.round(contacts / of(({ load }) => load.seconds))} contacts/s (${of(({ load }) => load.seconds).toFixed(1)} s, ${of(({ load }) => load.cpuSeconds).toFixed(1)} s CPU, ${Math.round(of(({ load }) => load.peakMb))} MB)`
  )
} finally {
  sandbox.stop()
}
