/**
 * The SQL statements of a sync of a small account, the first and one that finds nothing new: their number, their text, the
 * CPU of the threads, and the dearest kinds. It runs the sources, because the built program contains its copy of the driver.
 *
 *     node_modules/.bin/node bench/statements.ts [contacts] [formats]
 */
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { newFolder, startSandbox } from "./measure.ts"

const contacts = process.argv[2] ?? "60"
const formats = process.argv[3] ?? "none"
const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))

interface Counted {
  readonly statements: number
  readonly characters: number
  readonly byThread: Readonly<Record<string, number>>
  readonly dearest: ReadonlyArray<readonly [string, { readonly statements: number; readonly cpuMs: number }]>
}

const sandbox = await startSandbox("--limits", "off", "--contacts", contacts)
const environment = { ...sandbox.environment, SLUICE_OUTPUT: newFolder(), SLUICE_FORMATS: formats }
try {
  for (const name of ["first sync", "nothing new"]) {
    const { stderr } = spawnSync(
      process.execPath,
      ["--import", at("count-statements.ts"), "--max-semi-space-size=8", at("../src/main.ts"), "sync"],
      { encoding: "utf8", env: { PATH: process.env["PATH"], ...environment }, maxBuffer: 1e9 }
    )
    const counted = JSON.parse(stderr.trim().split("\n").at(-1)!) as Counted
    console.log(`${name}: ${counted.statements} statements, ${(counted.characters / 1e6).toFixed(2)} MB of text`)
    console.log(`  ms of CPU by thread: ${JSON.stringify(counted.byThread)}`)
    for (const [kind, { statements, cpuMs }] of counted.dearest)
      console.log(`  ${String(statements).padStart(5)} ${cpuMs.toFixed(0).padStart(6)} ms  ${kind}`)
  }
} finally {
  sandbox.stop()
}
