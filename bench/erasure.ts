/**
 * CPU of the export and of the erasure of one person, beside that of one full publish. Start-up is included.
 *
 *     node_modules/.bin/node bench/erasure.ts [contacts]
 */
import { newFolder, run, startContacts } from "./measure.ts"

const contacts = Number(process.argv[2] ?? 100_000)

const sandbox = await startContacts(contacts, "--warm")
try {
  const environment = { ...sandbox.environment, SLUICE_OUTPUT: newFolder(), SLUICE_FORMATS: "duckdb,parquet,csv" }
  await run(["sync", "--only", "contacts"], environment)
  const publish = await run(["publish", "--full"], environment)
  const records = await (await fetch(`${sandbox.url}/__sandbox/records/contacts`)).text()
  const { id } = JSON.parse(records.slice(0, records.indexOf("\n"))) as { readonly id: string }
  const target = ["--contact", id]
  const exported = await run(["subject", "export", ...target, "--to", `${newFolder()}/person`], environment, [0, 3])
  const erased = await run(["subject", "erase", ...target, "--apply", "--reason", "bench"], environment)
  console.log(`${contacts} contacts, all formats`)
  for (const [name, { cpuSeconds, peakMb }] of Object.entries({ publish, exported, erased }))
    console.log(
      `${name}: ${cpuSeconds.toFixed(2)} s CPU, ${(cpuSeconds / publish.cpuSeconds).toFixed(2)} of a full publish, ${Math.round(peakMb)} MB`
    )
} finally {
  sandbox.stop()
}
