/** The local machine: a disk that can be full or lose power, and a process that can be killed at any step. */
import { Context, Effect, Layer, Scope, Stream } from "effect"
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { beginning } from "../../src/stores/vault/position.ts"
import { Vault } from "../../src/stores/vault/vault.ts"
import { loadedPosition } from "../../src/stores/warehouse/meta/vault-offset.ts"
import { fingerprintOf, prepare } from "../../src/stores/warehouse/schema.ts"
import { renewVersions } from "../../src/stores/warehouse/meta/content-versions.ts"
import { storeFingerprint } from "../../src/stores/warehouse/meta/schema-version.ts"
import type { Catalogue } from "../../src/catalog/discover.ts"
import { Warehouse, metaTablesAtOpening } from "../../src/stores/warehouse/warehouse.ts"
import { newFolder } from "../support/sluice.ts"
import { outputPaths } from "../../src/output/paths.ts"
import { collections, smallCatalogue } from "./catalogue.ts"
import type { Activity, VirtualClock } from "./clock.ts"
import { Disk, useDisk, watchFiles } from "./disk.ts"

/** Opens one warehouse for all seeds, because opening takes longer than most scenarios. */
export const openWarehouse = async (): Promise<Warehouse["Service"]> => {
  const layer = Warehouse.layer(join(newFolder(), "warehouse.duckdb"), { access: "write", memoryMb: 256 })
  const built = await Effect.runPromise(Layer.buildWithScope(layer, Scope.makeUnsafe()))
  const warehouse = Context.get(built, Warehouse)
  await Effect.runPromise(Effect.provideService(prepare(smallCatalogue(collections, 10, true)), Warehouse, warehouse))
  return warehouse
}

/** Leaves the warehouse as one that was just created for these definitions; their tables are those of all. */
export const emptyWarehouse = async (warehouse: Warehouse["Service"], catalogue: Catalogue): Promise<void> => {
  const tables = await Effect.runPromise(
    warehouse.rows(
      `SELECT schema_name || '.' || table_name AS path FROM duckdb_tables()
       WHERE database_name = current_database() AND table_name <> 'columns' AND estimated_size > 0`
    )
  )
  await Effect.runPromise(
    warehouse.transaction([
      ...tables.map(({ path }) => `DELETE FROM ${String(path)}`),
      ...renewVersions(catalogue.resources.map(({ table }) => table)),
      ...storeFingerprint(fingerprintOf(catalogue))
    ])
  )
}

/** The coverage report, which takes long and is not tested here. */
const slowStatements = /^DELETE FROM meta.coverage/

export class Machine {
  readonly folder = newFolder()
  readonly disk: Disk
  /** The place of the target is a file. */
  private isTargetBroken = false
  /** The number of steps: requests, appends and statements. */
  steps = 0
  /** The number of frames to append. */
  writes = 0
  /** Events of this run, by the number of the step at which they happen. */
  readonly events = new Map<number, () => void>()
  private dead = false
  /** Segments are compressed by threads that nothing else shows to be at work. */
  private isSealing = false
  private losesPower = false
  private readonly activity: Activity
  private readonly random: () => number

  constructor(activity: Activity, clock: VirtualClock, random: () => number) {
    this.activity = activity
    this.random = random
    this.disk = new Disk({
      folder: this.folder,
      scratch: [outputPaths(this.folder).temporary],
      wait: (milliseconds) => {
        const waited = new Promise<void>((resolve) => clock.after(milliseconds, resolve))
        return this.isSealing ? activity.passing(waited) : waited
      },
      syncMs: () => 0.2 + random() * 4
    })
  }

  async start(): Promise<void> {
    await watchFiles()
    useDisk(this.disk)
  }

  get isDead(): boolean {
    return this.dead
  }
  get isFull(): boolean {
    return this.disk.left === 0
  }

  step(): boolean {
    if (this.dead) return false
    this.events.get(++this.steps)?.()
    return !this.dead
  }

  kill(losesPower = false): void {
    this.dead = true
    this.losesPower = losesPower
    this.disk.isFrozen = true
  }

  /** Where the target gets its releases; another place while it fails. */
  get targetFolder(): string {
    return join(this.isTargetBroken ? `${this.share}.away` : this.share, "desk")
  }
  private get share(): string {
    return join(this.folder, "share")
  }

  breakTarget(isBroken: boolean): void {
    if (isBroken === this.isTargetBroken) return
    this.isTargetBroken = isBroken
    const away = `${this.share}.away`
    if (isBroken) {
      if (existsSync(this.share)) renameSync(this.share, away)
      writeFileSync(this.share, "")
    } else {
      rmSync(this.share)
      if (existsSync(away)) renameSync(away, this.share)
    }
  }

  /** The run is over. Returns what a power cut has lost. */
  rest(): string | undefined {
    const lost = this.dead && this.losesPower ? this.disk.cutPower(this.random, isVault) : undefined
    this.disk.forget()
    return lost
  }

  /** Prepares a run: the process is alive, and the disk has space. */
  revive(): void {
    this.dead = false
    this.losesPower = false
    this.disk.isFrozen = false
    this.disk.left = Number.POSITIVE_INFINITY
    this.steps = 0
    this.events.clear()
  }

  readonly opened = Effect.gen({ self: this }, function* () {
    const folder = join(this.folder, "vault")
    mkdirSync(folder, { recursive: true })
    const loaded = (yield* loadedPosition()) ?? beginning
    const vault = Context.get(yield* Layer.build(Vault.layer(folder, loaded)), Vault)
    return Vault.of({
      ...vault,
      append: (frame) => {
        this.writes++
        return this.io(vault.append(frame), false)
      },
      read: (from, bytes) => this.io(vault.read(from, bytes)),
      seal: this.io(
        Effect.suspend(() => {
          this.isSealing = true
          return Effect.ensuring(
            vault.seal,
            Effect.sync(() => (this.isSealing = false))
          )
        })
      )
    })
  })

  watched(warehouse: Warehouse["Service"], commitMs = 0): Warehouse["Service"] {
    const watched = Warehouse.of({
      ...warehouse,
      transaction: (work) =>
        Effect.delay(
          this.io(
            typeof work !== "function" && slowStatements.test(String(work[0]))
              ? Effect.void
              : warehouse.transaction(work)
          ),
          commitMs
        ),
      checkpointIfAbove: () => Effect.void,
      rows: (sql) => this.io(warehouse.rows(sql)),
      // A dead process holds no file open, and its settings are gone.
      run: (sql) =>
        /^(DETACH|USE|RESET)/.test(sql) ? this.activity.during(warehouse.run(sql)) : this.io(warehouse.run(sql)),
      hold: (sql) => this.activity.during(warehouse.hold(sql)),
      textFunction: (...of) => this.activity.during(warehouse.textFunction(...of)),
      // Time stands still while rows are fetched, and passes while their reader waits for something else.
      stream: (sql) => Stream.transformPull(warehouse.stream(sql), (pull) => Effect.succeed(this.activity.during(pull)))
    })
    metaTablesAtOpening.set(watched, "all")
    return watched
  }

  /**
   * An operation outside the process: it takes some time, and has no result if the process is dead. Time passes during one
   * that syncs files.
   */
  private io<A, E>(effect: Effect.Effect<A, E>, isInstant = true): Effect.Effect<A, E> {
    const alive = Effect.suspend(() => (this.dead ? Effect.die("killed") : Effect.void))
    return Effect.suspend(() => {
      if (!this.step()) return Effect.die("killed")
      const durationMs = 0.05 + this.random() * 5
      return (isInstant ? this.activity.during(effect) : effect).pipe(
        Effect.tap(() => Effect.sleep(durationMs)),
        Effect.tap(() => alive)
      )
    })
  }
}

const isVault = (path: string): boolean => path.endsWith(".ndjson")
