/**
 * What one waits for with an account of all families: the first sync, a quiet night, a night of 1 % (2 % of conversations), what
 * publishing costs after it, in all formats and as one file, verify of a release in all formats, and rebuild. CPU with all
 * processes, start-up included, and the ratios that matter. Beside it a small account, for what does not depend on the size.
 *
 *     node_modules/.bin/node bench/night.ts [contacts] [nights]
 */
import { cpSync } from "node:fs"
import { join } from "node:path"
import { type Measured, median, newFolder, run, startSandbox } from "./measure.ts"

const contacts = Number(process.argv[2] ?? 4000)
const nights = Number(process.argv[3] ?? 3)
const allFormats = "duckdb,parquet,csv"

const measure = async (size: number) => {
  const sandbox = await startSandbox("--limits", "off", "--warm", "--contacts", String(size))
  const folder = newFolder()
  const [all, one] = [join(folder, "all"), join(folder, "one")]
  const command = (output: string, formats: string, ...args: ReadonlyArray<string>) =>
    run(args, { ...sandbox.environment, SLUICE_OUTPUT: output, SLUICE_FORMATS: formats })
  const times = async (work: () => Promise<Measured>) => {
    const found = []
    for (let n = 0; n < nights; n++) found.push(await work())
    return found
  }
  try {
    const first = [await command(all, "none", "sync")]
    const quiet = await times(() => command(all, "none", "sync"))
    const firstPublish = [await command(all, allFormats, "publish")]
    const verify = await times(() => command(all, allFormats, "verify"))
    cpSync(all, one, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true })
    await command(one, "duckdb", "publish")
    const found = { night: [], publish: [], whole: [], file: [], nothing: [] } as Record<string, Array<Measured>>
    for (let seed = 1; seed <= nights; seed++) {
      const body = JSON.stringify({ contacts: 0.01, opportunities: 0.01, conversations: 0.02, seed })
      const { ok } = await fetch(`${sandbox.url}/__sandbox/change`, { method: "POST", body })
      if (!ok) throw new Error("the sandbox refused the change")
      found["night"]!.push(await command(all, "none", "sync"))
      await command(one, "none", "sync")
      found["publish"]!.push(await command(all, allFormats, "publish"))
      found["nothing"]!.push(await command(all, allFormats, "publish"))
      found["file"]!.push(await command(one, "duckdb", "publish"))
      // A copy, because the next night is to find a release that earlier nights have brought up to date.
      const copy = join(folder, `whole-${seed}`)
      cpSync(all, copy, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true })
      found["whole"]!.push(await command(copy, allFormats, "publish", "--full"))
    }
    const rebuild = [await command(all, "none", "rebuild")]
    return { first, quiet, night: found["night"]!, firstPublish, ...found, verify, rebuild }
  } finally {
    sandbox.stop()
  }
}

const names: Readonly<Record<string, string>> = {
  first: "first sync",
  quiet: "night without changes",
  night: "night of 1 %",
  firstPublish: "first publish, all formats",
  whole: "publish --full, all formats",
  publish: "publish after the night, all formats",
  file: "publish after the night, crm.duckdb alone",
  nothing: "publish, nothing changed",
  verify: "verify",
  rebuild: "rebuild"
}

const sizes = [60, contacts]
const bySize: Array<Readonly<Record<string, ReadonlyArray<Measured>>>> = []
for (const size of sizes) bySize.push(await measure(size))
const cpu = (place: number, name: string) => median(bySize[place]![name]!.map((one) => one.cpuSeconds))
const mb = (place: number, name: string) => Math.round(Math.max(...bySize[place]![name]!.map((one) => one.peakMb)))

console.log(`CPU s and peak MB${" ".repeat(27)}${sizes.map((size) => `${size} contacts`.padStart(20)).join("")}`)
for (const [name, text] of Object.entries(names))
  console.log(
    `${text.padEnd(44)}${sizes.map((_, place) => `${cpu(place, name).toFixed(2)}  ${mb(place, name)}`.padStart(20)).join("")}`
  )
const ratio = (text: string, over: (place: number) => number) =>
  console.log(`${text.padEnd(44)}${sizes.map((_, place) => over(place).toFixed(2).padStart(20)).join("")}`)
console.log("")
ratio("verify / first sync", (place) => cpu(place, "verify") / cpu(place, "first"))
ratio("rebuild / first sync", (place) => cpu(place, "rebuild") / cpu(place, "first"))
ratio("publish after the night / --full", (place) => cpu(place, "publish") / cpu(place, "whole"))
ratio("crm.duckdb after the night / --full of all", (place) => cpu(place, "file") / cpu(place, "whole"))
ratio("night without changes / that of 60 contacts", (place) => cpu(place, "quiet") / cpu(0, "quiet"))
