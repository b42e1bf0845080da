/** Compares files with the rows that refer to them, for example recordings. */
import { Effect, Stream } from "effect"
import { readdir } from "node:fs/promises"
import { join, normalize, sep } from "node:path"
import type { Failure } from "../../values/failure.ts"
import { checksumIfPresent, onDisk } from "../../output/files.ts"
import { filesName, outputPaths } from "../../output/paths.ts"
import { Warehouse } from "../../stores/warehouse/warehouse.ts"
import { type Checked, type VerifyFinding, counted, note, wrong } from "../../values/finding.ts"
import type { Known } from "./existing-tables.ts"

/** The file of a deleted row may be missing, although sluice itself never removes it. */
export const checkFiles = Effect.fn("verify.files")(function* (
  { tables }: Known,
  output: string
): Effect.fn.Return<Checked, Failure, Warehouse> {
  const findings: Array<VerifyFinding> = []
  const referenced = new Set<string>()
  let count = 0
  for (const { resource, table, parent, current } of tables) {
    if (resource.childOf?.file === undefined || table !== parent) continue
    const rows = (yield* Warehouse).stream(
      `SELECT path, bytes::VARCHAR, sha256, (_deleted_at IS NOT NULL)::VARCHAR FROM ${current}`
    )
    yield* Stream.runForEach(rows, ([path, bytes, sha256, deleted]) =>
      Effect.gen(function* () {
        count++
        if (path) referenced.add(normalize(path))
        const what = yield* problemOf(output, path ?? undefined, Number(bytes), sha256 ?? undefined)
        if (what === undefined || (what === "missing" && deleted === "true")) return
        findings.push(wrong(path ?? table.name, what))
      })
    )
  }
  for (const path of yield* filesBelow(output))
    if (!referenced.has(path)) findings.push(note(path, "no row refers to it"))
  return { part: "files", check: "files", looked: counted(count, "file"), findings }
})

const problemOf = Effect.fnUntraced(function* (
  output: string,
  path: string | undefined,
  bytes: number,
  sha256: string | undefined
) {
  if (path === undefined || sha256 === undefined) return "a row has no path or no checksum"
  if (!normalize(path).startsWith(`${filesName}${sep}`)) return "a row refers to a file outside the output folder"
  const found = yield* onDisk(join(output, path), "read", () => checksumIfPresent(join(output, path)))
  if (found === undefined) return "missing"
  if (found.bytes !== bytes) return `it has ${counted(found.bytes, "byte")}; its row says ${bytes}`
  return found.sha256 === sha256 ? undefined : "its SHA-256 differs from its row"
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
