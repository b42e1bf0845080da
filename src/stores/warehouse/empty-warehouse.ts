/**
 * An empty warehouse, from which new ones are copied: to create all tables costs a fifth of a second, more than most small
 * accounts cost otherwise. It is made when it is first needed, and kept in the user's cache folder.
 */
import { Effect } from "effect"
import { constants } from "node:fs"
import { access, mkdir, mkdtemp, rename, rm } from "node:fs/promises"
import { join } from "node:path"
import type { Catalogue } from "../../catalog/discover.ts"
import { cacheFolder } from "../../output/cache.ts"
import { fingerprintOf, prepare } from "./schema.ts"
import { Warehouse } from "./warehouse.ts"

/** The path of the empty warehouse for these definitions; `undefined` if it cannot be stored. */
export const emptyWarehouse = Effect.fn("warehouse.empty")(function* (catalogue: Catalogue, cache = cacheFolder()) {
  if (cache === undefined) return undefined
  const path = join(cache, `empty-${fingerprintOf(catalogue).slice(0, 16)}.duckdb`)
  if (yield* isReadable(path)) return path
  const make = Effect.acquireUseRelease(
    Effect.tryPromise(async () => {
      await mkdir(cache, { recursive: true, mode: 0o700 })
      return mkdtemp(join(cache, "empty-"))
    }),
    (folder) => {
      const made = join(folder, "empty.duckdb")
      return prepare(catalogue).pipe(
        Effect.provide(Warehouse.layer(made, { access: "write", memoryMb: 128 })),
        Effect.andThen(Effect.tryPromise(() => rename(made, path)))
      )
    },
    (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }).catch(() => {}))
  )
  return yield* make.pipe(
    Effect.as(path),
    Effect.catch(() => Effect.succeed(undefined))
  )
})

const isReadable = (path: string) =>
  Effect.promise(() =>
    access(path, constants.R_OK).then(
      () => true,
      () => false
    )
  )
