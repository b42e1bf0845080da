/** The local machine: a disk that can be full, and a process that can be killed at any step. */
import { Context, Effect, Layer, Scope } from "effect"
import { appendFileSync, mkdirSync, statSync, truncateSync } from "node:fs"
import { type FileHandle, open } from "node:fs/promises"
import { join } from "node:path"
import { plainPath } from "../../src/stores/vault/segments.ts"
import { beginning } from "../../src/stores/vault/position.ts"
import { Vault } from "../../src/stores/vault/vault.ts"
import { loadedPosition } from "../../src/stores/warehouse/meta/vault-offset.ts"
import { prepare } from "../../src/stores/warehouse/schema.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { newFolder } from "../support/sluice.ts"
import type { Activity } from "./clock.ts"
import { smallCatalogue, tableOf } from "./catalogue.ts"

/** The free space of the disk in bytes. */
const disk = { left: Number.POSITIVE_INFINITY }

/** Ends the simulation of the disk: other tests of this process need the real one. */
export let restoreDisk = (): void => {}

/** Files are not synced, which would take most of the time; the writer of the vault knows which bytes would be on disk. */
const simulateDisk = async (folder: string): Promise<void> => {
  const file = await open(join(folder, "any"), "w")
  const prototype = Object.getPrototypeOf(file) as FileHandle
  await file.close()
  const { appendFile, sync, datasync } = prototype
  restoreDisk = () => void Object.assign(prototype, { appendFile, sync, datasync })
  prototype.appendFile = async function (this: FileHandle, data) {
    const bytes = data as Buffer
    const fitting = Math.min(bytes.length, disk.left)
    disk.left -= fitting
    await appendFile.call(this, bytes.subarray(0, fitting))
    if (fitting < bytes.length)
      throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" })
  }
  prototype.sync = async () => {}
  prototype.datasync = async () => {}
}

/** Opens one warehouse for all seeds, because opening takes longer than most scenarios. */
export const openWarehouse = async (): Promise<Warehouse["Service"]> => {
  const folder = newFolder()
  await simulateDisk(folder)
  const layer = Warehouse.layer(join(folder, "warehouse.duckdb"), { access: "write", memoryMb: 256 })
  const built = await Effect.runPromise(Layer.buildWithScope(layer, Scope.makeUnsafe()))
  const warehouse = Context.get(built, Warehouse)
  await Effect.runPromise(Effect.provideService(prepare(smallCatalogue([...tableOf.keys()], 10)), Warehouse, warehouse))
  return warehouse
}

export const emptyWarehouse = async (warehouse: Warehouse["Service"]): Promise<void> => {
  const tables = await Effect.runPromise(
    warehouse.rows(
      `SELECT schema_name || '.' || table_name AS path FROM duckdb_tables() WHERE table_name <> 'columns' AND estimated_size > 0`
    )
  )
  if (tables.length > 0)
    await Effect.runPromise(warehouse.transaction(tables.map(({ path }) => `DELETE FROM ${String(path)}`)))
}

/** Slow statements that are left out: the tables are created once for all seeds, and the coverage report is not tested. */
const slowStatements = /^(CREATE SCHEMA IF NOT EXISTS crm|DELETE FROM meta.coverage)/

export class Machine {
  readonly folder = newFolder()
  /** The number of steps: requests, appends and statements. */
  steps = 0
  /** The number of frames to append. */
  writes = 0
  /** Events of this run, by the number of the step at which they happen. */
  readonly events = new Map<number, () => void>()
  private dead = false
  private vault: Vault["Service"] | undefined
  private endAtDeath: ReturnType<Vault["Service"]["end"]> | undefined
  private readonly activity: Activity
  private readonly random: () => number

  constructor(activity: Activity, random: () => number) {
    this.activity = activity
    this.random = random
  }

  get isDead(): boolean {
    return this.dead
  }
  get isFull(): boolean {
    return disk.left === 0
  }

  step(): boolean {
    if (this.dead) return false
    this.events.get(++this.steps)?.()
    return !this.dead
  }

  kill(): void {
    this.dead = true
    this.endAtDeath = this.vault?.end()
  }

  fillDisk(bytesLeft: number): void {
    disk.left = bytesLeft
  }

  /** Prepares a run: the process is alive, and the disk has space. */
  revive(): void {
    this.dead = false
    disk.left = Number.POSITIVE_INFINITY
    this.steps = 0
    this.events.clear()
    this.vault = undefined
  }

  /** After a kill, any part of the bytes that were not synced may be on disk, followed by garbage. */
  loseUnsyncedWrites(): string {
    const end = this.endAtDeath
    this.endAtDeath = undefined
    if (!end) return "before the vault was open"
    const path = plainPath(join(this.folder, "vault"), end.segment)
    const size = statSync(path, { throwIfNoEntry: false })?.size
    if (size === undefined) return "while the vault was sealed"
    const kept = Math.min(size, end.offset + Math.floor(this.random() * (size - end.offset + 1)))
    truncateSync(path, kept)
    const garbage = this.random() < 0.3 ? Buffer.from('{"kind":"page","bytes":12,"crc32":1}\nhalf a bo\0dy') : undefined
    if (garbage) appendFileSync(path, garbage)
    return `${size - end.offset} bytes not synced, ${kept - end.offset} of them there${garbage ? " and garbage" : ""}`
  }

  readonly opened = Effect.gen({ self: this }, function* () {
    const folder = join(this.folder, "vault")
    mkdirSync(folder, { recursive: true })
    const loaded = (yield* loadedPosition()) ?? beginning
    const vault = Context.get(yield* Layer.build(Vault.layer(folder, loaded)), Vault)
    this.vault = vault
    return Vault.of({
      ...vault,
      append: (frame) => {
        this.writes++
        return this.io(vault.append(frame))
      },
      read: (from, bytes) => this.io(vault.read(from, bytes)),
      seal: this.io(vault.seal)
    })
  })

  watched(warehouse: Warehouse["Service"]): Warehouse["Service"] {
    return Warehouse.of({
      ...warehouse,
      transaction: (statements) =>
        this.io(slowStatements.test(String(statements[0])) ? Effect.void : warehouse.transaction(statements)),
      checkpointIfAbove: () => Effect.void,
      rows: (sql) => this.io(warehouse.rows(sql))
    })
  }

  /** An operation outside the process: it takes some time, and has no result if the process is dead. */
  private io<A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> {
    const alive = Effect.suspend(() => (this.dead ? Effect.die("killed") : Effect.void))
    return Effect.suspend(() => {
      if (!this.step()) return Effect.die("killed")
      const durationMs = 0.05 + this.random() * 5
      return this.activity.during(effect).pipe(
        Effect.tap(() => Effect.sleep(durationMs)),
        Effect.tap(() => alive)
      )
    })
  }
}
