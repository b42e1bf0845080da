/** Files that rows tell of, for example recordings: there, and what the rows say. */
import { Effect, Stream } from "effect"
import { readdir } from "node:fs/promises"
import { join, normalize, sep } from "node:path"
import type { Failure } from "../failure.ts"
import { onDisk } from "../io/files.ts"
import { filesName, outputPaths } from "../settings/paths.ts"
import { Warehouse } from "../warehouse/warehouse.ts"
import { type Checked, type Finding, counted, note, wrong } from "./finding.ts"
import type { Known } from "./existing-tables.ts"
import { checksumIfThere } from "./checksum.ts"

/** The file of a row that is deleted may be gone; nothing of ours removes it. */
export const checkFiles = Effect.fn("verify.files")(function* (
  { tables }: Known,
  output: string
): Effect.fn.Return<Checked, Failure, Warehouse> {
  const findings: Array<Finding> = []
  const named = new Set<string>()
  let looked = 0
  for (const { resource, table, parent, current } of tables) {
    if (resource.childOf?.file === undefined || table !== parent) continue
    const rows = (yield* Warehouse).stream(
      `SELECT path, bytes::VARCHAR, sha256, (_deleted_at IS NOT NULL)::VARCHAR FROM ${current}`
    )
    yield* Stream.runForEach(rows, ([path, bytes, sha256, deleted]) =>
      Effect.gen(function* () {
        looked++
        if (path) named.add(normalize(path))
        const what = yield* whatIsWrong(output, path ?? undefined, Number(bytes), sha256 ?? undefined)
        if (what === undefined || (what === "missing" && deleted === "true")) return
        findings.push(wrong(path ?? table.name, what))
      })
    )
  }
  for (const path of yield* filesBelow(output)) if (!named.has(path)) findings.push(note(path, "no row names it"))
  return { part: "files", check: "files", looked: counted(looked, "file"), findings }
})

const whatIsWrong = Effect.fnUntraced(function* (
  output: string,
  path: string | undefined,
  bytes: number,
  sha256: string | undefined
): Effect.fn.Return<string | undefined, Failure> {
  if (path === undefined || sha256 === undefined) return "a row does not say where its file is, or what is in it"
  if (!normalize(path).startsWith(`${filesName}${sep}`)) return "a row names a file outside the output folder"
  const found = yield* onDisk(join(output, path), "read", () => checksumIfThere(join(output, path)))
  if (found === undefined) return "missing"
  if (found.bytes !== bytes) return `${counted(found.bytes, "byte")}, and its row says ${bytes}`
  return found.sha256 === sha256 ? undefined : "its content is not what its row says (sha256)"
})

/** Relative to the output folder. */
const filesBelow = (output: string): Effect.Effect<ReadonlyArray<string>, Failure> =>
  onDisk(outputPaths(output).files, "read", async () => {
    const entries = await readdir(outputPaths(output).files, { recursive: true, withFileTypes: true }).catch((cause) =>
      cause.code === "ENOENT" ? [] : Promise.reject(cause)
    )
    return entries
      .filter((entry) => !entry.isDirectory())
      .map((entry) => normalize(join(entry.parentPath, entry.name)).slice(normalize(output).length + 1))
      .sort()
  })
