/** The warehouse is never ahead of what the disk keeps of the vault. */
import { Effect } from "effect"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { Stage } from "../run.ts"

export const vaultIsNotBehind = async ({ machine, warehouse }: Stage): Promise<ReadonlyArray<string>> => {
  const [loaded] = await Effect.runPromise(warehouse.rows("SELECT segment, byte_offset FROM meta.vault_offset"))
  if (loaded === undefined) return []
  const [segment, offset] = [Number(loaded["segment"]), Number(loaded["byte_offset"])]
  const plain = join(machine.folder, "vault", `${String(segment).padStart(6, "0")}.ndjson`)
  if (existsSync(`${plain}.zst`)) return []
  const bytes = existsSync(plain) ? readFileSync(plain).length : 0
  return bytes >= offset
    ? []
    : [`the warehouse has loaded ${offset} bytes of segment ${segment}, and ${bytes} are on the disk`]
}
