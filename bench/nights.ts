/**
 * CPU of publishing after a night: of a release that is written anew, of one after 1 % of the contacts have changed, and of
 * a publish that finds nothing changed. Start-up is included.
 *
 *     node_modules/.bin/node bench/nights.ts [contacts] [nights]
 */
import { type Measured, median, newFolder, run, startContacts } from "./measure.ts"

const contacts = Number(process.argv[2] ?? 100_000)
const nights = Number(process.argv[3] ?? 3)

const sandbox = await startContacts(contacts, "--warm")
try {
  const environment = { ...sandbox.environment, SLUICE_OUTPUT: newFolder() }
  const sync = () => run(["sync", "--only", "contacts"], { ...environment, SLUICE_FORMATS: "none" })
  const publish = (...flags: ReadonlyArray<string>) =>
    run(["publish", ...flags], { ...environment, SLUICE_FORMATS: "duckdb,parquet,csv" })
  await sync()
  const measured: Array<{ readonly all: Measured; readonly some: Measured; readonly nothing: Measured }> = []
  for (let night = 1; night <= nights; night++) {
    const all = await publish("--full")
    const body = JSON.stringify({ contacts: 0.01, opportunities: 0, conversations: 0, seed: night })
    const { ok } = await fetch(`${sandbox.url}/__sandbox/change`, { method: "POST", body })
    if (!ok) throw new Error("the sandbox refused the change")
    await sync()
    measured.push({ all, some: await publish(), nothing: await publish() })
  }
  const cpu = (pick: (one: (typeof measured)[number]) => Measured) =>
    median(measured.map((one) => pick(one).cpuSeconds))
  const all = cpu((one) => one.all)
  console.log(`${contacts} contacts, all formats, median of ${nights}`)
  for (const [name, seconds, mb] of [
    ["all changed", all, median(measured.map((one) => one.all.peakMb))],
    ["1 % changed", cpu((one) => one.some), median(measured.map((one) => one.some.peakMb))],
    ["nothing changed", cpu((one) => one.nothing), median(measured.map((one) => one.nothing.peakMb))]
  ] as const)
    console.log(
      `${name}: ${seconds.toFixed(2)} s CPU, ${(seconds / all).toFixed(3)} of all changed, ${Math.round(mb)} MB`
    )
} finally {
  sandbox.stop()
}
