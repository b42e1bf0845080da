/**
 * CPU and bytes of committing to the lake: the first commit, one after 1 % of the contacts have changed, and a publish that
 * finds nothing changed. What a command without the lake takes is subtracted. The catalog is embedded, the data are in a folder.
 *
 *     node_modules/.bin/node bench/lake.ts [contacts] [nights]
 */
import { readdirSync, statSync, writeFileSync } from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"
import { median, newFolder, run, startContacts } from "./measure.ts"

const contacts = Number(process.argv[2] ?? 200_000)
const nights = Number(process.argv[3] ?? 3)

const sandbox = await startContacts(contacts, "--warm")
try {
  const output = newFolder()
  const environment = {
    ...sandbox.environment,
    SLUICE_OUTPUT: output,
    // DuckDB keeps the extensions that it downloads in the home directory.
    HOME: homedir()
  }
  const data = join(output, "lake")
  const config = join(newFolder(), "sluice.toml")
  writeFileSync(config, `[[publish]]\nname = "lake"\nlake = "${data}"\nprofile = "raw"\n`)
  const dataBytes = () =>
    readdirSync(data, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)
  const sync = () => run(["sync", "--only", "contacts"], { ...environment, SLUICE_FORMATS: "none" })
  const commit = () => run(["publish", "--config", config], { ...environment, SLUICE_FORMATS: "none" })
  await sync()
  const plain: Array<number> = []
  for (let time = 0; time < 3; time++)
    plain.push((await run(["publish"], { ...environment, SLUICE_FORMATS: "none" })).cpuSeconds)
  const without = median(plain)
  const first = await commit()
  const firstBytes = dataBytes()
  const cpu: Array<number> = []
  const bytes: Array<number> = []
  for (let night = 1; night <= nights; night++) {
    const body = JSON.stringify({ contacts: 0.01, opportunities: 0, conversations: 0, seed: night })
    const { ok } = await fetch(`${sandbox.url}/__sandbox/change`, { method: "POST", body })
    if (!ok) throw new Error("the sandbox refused the change")
    await sync()
    const before = dataBytes()
    cpu.push((await commit()).cpuSeconds)
    bytes.push(dataBytes() - before)
  }
  const nothing = await commit()
  const firstCpu = first.cpuSeconds - without
  const show = (name: string, seconds: number, size: number) =>
    console.log(
      `${name}: ${seconds.toFixed(2)} s CPU (${(seconds / firstCpu).toFixed(3)} of the first), ${(size / 1e6).toFixed(2)} MB (${(size / firstBytes).toFixed(3)})`
    )
  console.log(`${contacts} contacts; a publish without the lake takes ${without.toFixed(2)} s CPU`)
  show("first commit", firstCpu, firstBytes)
  show("1 % changed", median(cpu) - without, median(bytes))
  show("nothing changed", nothing.cpuSeconds - without, 0)
  console.log(`peak ${Math.round(first.peakMb)} MB`)
} finally {
  sandbox.stop()
}
