/** `verify` finds nothing wrong in what the runs have made, and finds what is damaged. */
import { Effect } from "effect"
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { zstdDecompressSync } from "node:zlib"
import { evolving } from "../../../src/catalog/schema-policy.ts"
import { verify } from "../../../src/features/verify/verify.ts"
import { outputPaths } from "../../../src/output/paths.ts"
import { replayInto } from "../../../src/run/replay.ts"
import { Warehouse } from "../../../src/stores/warehouse/warehouse.ts"
import type { Stage } from "../run.ts"

const wrongIn = async ({ catalogue, output, warehouse }: Stage): Promise<ReadonlyArray<string>> => {
  const replay = replayInto(catalogue, output, evolving)
  const checked = await Effect.runPromise(
    verify(catalogue, output, { all: true, replay }, () => Effect.void).pipe(
      Effect.provideService(Warehouse, warehouse),
      Effect.scoped
    )
  )
  return checked.flatMap(({ check, findings }) =>
    findings.filter(({ level }) => level === "wrong").map(({ what, where }) => `verify: ${check}: ${where}: ${what}`)
  )
}

export const verifyFindsNothing = async (stage: Stage): Promise<ReadonlyArray<string>> =>
  (await wrongIn(stage)).slice(0, 5)

/** Damages one thing, and expects verify to find it. */
export const verifyFindsDamage = async (stage: Stage): Promise<ReadonlyArray<string>> => {
  const { catalogue, random, warehouse } = stage
  const table = catalogue.resources[Math.floor(random() * catalogue.resources.length)]!.table
  const ask = (sql: string) => Effect.runPromise(warehouse.rows(sql))
  const [row] = await ask(`SELECT id FROM crm.${table} WHERE _deleted_at IS NULL ORDER BY id LIMIT 1`)
  const damages = [
    ...(row === undefined
      ? []
      : [
          [
            `a row of ${table} is removed`,
            () => change(`DELETE FROM crm.${table} WHERE id = '${String(row["id"])}'`)
          ] as const,
          [
            `a row of ${table} is there twice`,
            () => change(`INSERT INTO crm.${table} SELECT * FROM crm.${table} WHERE id = '${String(row["id"])}'`)
          ] as const,
          [
            `a row of ${table} is marked deleted`,
            () => change(`UPDATE crm.${table} SET _deleted_at = _synced_at WHERE id = '${String(row["id"])}'`)
          ] as const
        ]),
    ["a byte of the vault is changed", () => flipByte(join(stage.machine.folder, "vault"), random)] as const,
    ...(existsSync(outputPaths(stage.output.folder).published)
      ? [
          [
            "a byte of a published file is changed",
            () => flipByte(`${outputPaths(stage.output.folder).published}/`, random)
          ] as const
        ]
      : [])
  ]
  const [what, damage] = damages[Math.floor(random() * damages.length)]!
  await damage()
  const found = await wrongIn(stage)
  return found.length > 0 ? [] : [`verify finds nothing wrong although ${what}`]

  async function change(sql: string) {
    await Effect.runPromise(warehouse.transaction([sql]))
  }
}

/** Changes one byte, so that the content is another: some bits of a compressed file mean nothing. */
const flipByte = async (folder: string, random: () => number) => {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(
    (entry) =>
      entry.isFile() &&
      /\.(zst|ndjson|csv|parquet|duckdb)$/.test(entry.name) &&
      statSync(join(entry.parentPath, entry.name)).size > 0
  )
  const { name, parentPath } = files[Math.floor(random() * files.length)]!
  const content = readFileSync(join(parentPath, name))
  for (let isSame = true; isSame;) {
    const changed = Buffer.from(content)
    const at = Math.floor(random() * content.length)
    changed[at] = changed[at]! ^ 1
    isSame = name.endsWith(".zst") && unpacked(changed)?.equals(zstdDecompressSync(content)) === true
    if (!isSame) writeFileSync(join(parentPath, name), changed)
  }
}

const unpacked = (bytes: Buffer): Buffer | undefined => {
  try {
    return zstdDecompressSync(bytes)
  } catch {
    return undefined
  }
}
