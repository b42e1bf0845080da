/** Compares files with the rows that refer to them: of what links lead to, and of recordings. */
import { Effect, Stream } from "effect"
import { basename, normalize } from "node:path"
import { columnWithRole } from "../../catalog/tables.ts"
import { differenceOf, exportedName, isStoredPath, storedPaths } from "../../output/stored-files.ts"
import { Warehouse } from "../../stores/warehouse/warehouse.ts"
import { type VerifyFinding, counted, note, wrong } from "../../values/finding.ts"
import type { Known } from "./existing-tables.ts"

/** Files that are compared byte by byte, unless all are; of the others, the size is. */
const sampleMax = 200

/** The file of a deleted row may be missing, although sluice itself never removes it. */
export const checkFiles = Effect.fn("verify.files")(function* ({ tables }: Known, output: string, isWhole: boolean) {
  const findings: Array<VerifyFinding> = []
  const referenced = new Set<string>()
  let compared = 0
  for (const { current, parent, table } of tables) {
    const column = columnWithRole(table, "storedFile")
    if (column === undefined || table !== parent) continue
    // Rows in the order of a hash are a sample that is the same in every run.
    const rows = (yield* Warehouse).stream(
      `SELECT path, any_value(bytes)::VARCHAR, any_value(sha256), bool_and(_deleted_at IS NOT NULL)::VARCHAR
       FROM ${current} WHERE path IS NOT NULL GROUP BY path ORDER BY hash(path)`
    )
    yield* Stream.runForEach(rows, ([path = null, bytes, sha256 = null, deleted]) =>
      Effect.gen(function* () {
        if (path === null || referenced.has(normalize(path))) return
        referenced.add(normalize(path))
        const isCompared = isWhole || compared < sampleMax
        if (isCompared) compared++
        const what =
          sha256 === null
            ? "a row has no checksum"
            : isStoredPath(path)
              ? yield* differenceOf(output, { path, bytes: Number(bytes), sha256 }, isCompared)
              : "a row refers to what is no file of sluice"
        // Their rows name them so. Exports give them another name, see `exportedName`.
        if (basename(path) !== exportedName(path))
          findings.push(
            note(path, "an earlier version gave it an ending by which a browser runs it; exports give it another")
          )
        if (what === undefined || (what === "missing" && deleted === "true")) return
        findings.push(wrong(path, what))
      })
    )
  }
  for (const path of yield* storedPaths(output))
    if (!referenced.has(path)) findings.push(note(path, "no row refers to it"))
  const looked =
    compared === referenced.size
      ? counted(compared, "file")
      : `${counted(referenced.size, "file")}, ${compared} of them byte by byte`
  return { looked, findings }
})
