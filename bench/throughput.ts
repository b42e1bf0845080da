/**
 * Contacts per second without rate limits: from HTTP through vault, normalisation and merge into the warehouse; and including
 * start-up and publishing.
 *
 *     node_modules/.bin/node bench/throughput.ts [contacts] [runs]
 */
import { type Measured, dataOf, median, newFolder, run, startContacts } from "./measure.ts"

const contacts = Number(process.argv[2] ?? 100_000)
const runs = Number(process.argv[3] ?? 3)

const sandbox = await startContacts(contacts, "--warm")
try {
  const measured: Array<{ readonly full: Measured; readonly load: Measured }> = []
  for (let n = 0; n < runs; n++) {
    const output = newFolder()
    const environment = { ...sandbox.environment, SLUICE_OUTPUT: output }
    const full = await run(["sync", "--only", "contacts", "--json"], environment)
    const load = await run(["rebuild", "--json"], environment)
    measured.push({ full, load })
  }
  const line = (name: string, pick: (one: (typeof measured)[number]) => Measured) => {
    const of = (value: (run: Measured) => number) => median(measured.map((one) => value(pick(one))))
    const rate = (seconds: number) => Math.round(contacts / seconds)
    const inside = of(({ stdout }) => dataOf<"sync" | "rebuild">(stdout).loadedMs / 1000)
    console.log(
      `${name}  ${rate(inside)}/s to the warehouse, ${rate(of(({ seconds }) => seconds))}/s with start-up and publishing; ` +
        `${of(({ cpuSeconds }) => cpuSeconds).toFixed(1)} s CPU, ${Math.round(of(({ peakMb }) => peakMb))} MB`
    )
  }
  console.log(`${contacts} contacts, median of ${runs}`)
  line("sync   ", ({ full }) => full)
  line("rebuild", ({ load }) => load)
} finally {
  sandbox.stop()
}
