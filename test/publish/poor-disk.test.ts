/** Releases on a file system without links. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, lstatSync, mkdirSync, readdirSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { removeEarlierReleases } from "../../src/stages/publish/release.ts"
import { currentRelease, withdraw } from "../../src/stages/publish/current.ts"
import { openAlone } from "../support/account.ts"
import { sluice } from "../support/sluice.ts"
import { onPoorDisk } from "../support/poor-disk.ts"
import { newOutput } from "./output.ts"
import { addThings, publishThings, recordThings, warehouseAt } from "./things.ts"
import { verified } from "./verify.ts"

const rowsIn = (published: string) => verified(published)
const releasesIn = (output: string) => readdirSync(join(output, ".published")).toSorted()

/** Two releases, the second with one thing more. */
const published = Effect.fnUntraced(function* (output: string) {
  yield* addThings([{ id: "a", name: "one" }])
  yield* publishThings(output, { run: "r1" })
  yield* addThings([{ id: "b", name: "two" }])
  yield* recordThings
  yield* publishThings(output, { run: "r2" })
})

describe("without links", () => {
  for (const code of ["EPERM", "ENOSYS", "EOPNOTSUPP", "ENOTSUP", "EACCES", "EINVAL"])
    it.effect(`(${code}) the release is a folder, and the one before is kept`, () => {
      const output = newOutput()
      return Effect.gen(function* () {
        yield* Effect.promise(() => onPoorDisk(code))
        yield* published(output)
        assert.isTrue(lstatSync(join(output, "published")).isDirectory())
        assert.deepStrictEqual(releasesIn(output), ["000001-r1", "placed"])
        rowsIn(join(output, "published"))
        rowsIn(join(output, ".published/000001-r1"))
        assert.isFalse((yield* publishThings(output, { run: "r3" })).isNew)
      }).pipe(Effect.provide(warehouseAt(output)))
    })

  const killed = {
    "before the first rename": (there: string, before: string, next: string) => {
      renameSync(there, next)
      renameSync(before, there)
    },
    "between both": (there: string, _: string, next: string) => renameSync(there, next)
  }
  for (const [when, state] of Object.entries(killed))
    it.effect(`a publish that was killed ${when} is finished by the next one`, () => {
      const output = newOutput()
      const [there, before, next] = ["published", ".published/000001-r1", ".published/000002-r2"].map((path) =>
        join(output, path)
      ) as [string, string, string]
      return Effect.gen(function* () {
        yield* Effect.promise(() => onPoorDisk("EPERM"))
        yield* published(output)
        state(there, before, next)
        assert.isFalse((yield* publishThings(output, { run: "r3" })).isNew)
        rowsIn(there)
        assert.deepStrictEqual(releasesIn(output), ["000001-r1", "placed"])
        state(there, before, next)
        assert.strictEqual(yield* currentRelease(there), "000002-r2")
        assert.deepStrictEqual(yield* removeEarlierReleases(there), ["000001-r1"])
        rowsIn(there)
      }).pipe(Effect.provide(warehouseAt(output)))
    })

  it.effect("a folder that somebody else has put there is neither moved nor removed", () => {
    const output = newOutput()
    const there = join(output, "published")
    return Effect.gen(function* () {
      yield* Effect.promise(() => onPoorDisk("EPERM"))
      yield* published(output)
      renameSync(there, join(output, "mine"))
      mkdirSync(there)
      writeFileSync(join(there, "letter.txt"), "mine")
      for (const run of [publishThings(output, { run: "r3" }), withdraw(there), removeEarlierReleases(there)])
        assert.strictEqual((yield* Effect.flip(run)).reason._tag, "PublishedIsForeign")
      assert.isTrue(existsSync(join(there, "letter.txt")))
    }).pipe(Effect.provide(warehouseAt(output)))
  })

  it.effect("a release is withdrawn whole, also if the first attempt was killed", () => {
    const output = newOutput()
    const there = join(output, "published")
    return Effect.gen(function* () {
      yield* Effect.promise(() => onPoorDisk("EPERM"))
      yield* published(output)
      yield* withdraw(there)
      assert.isFalse(existsSync(there))
      renameSync(join(output, ".published/000002-r2"), there)
      assert.isUndefined(yield* currentRelease(there))
      assert.isFalse(existsSync(there))
      assert.deepStrictEqual(releasesIn(output), ["000001-r1", "000002-r2", "placed"])
      yield* publishThings(output, { run: "r3" })
      rowsIn(there)
    }).pipe(Effect.provide(warehouseAt(output)))
  })

  it.effect("a link of earlier is replaced", () => {
    const output = newOutput()
    return Effect.gen(function* () {
      yield* addThings([{ id: "a", name: "one" }])
      yield* publishThings(output, { run: "r1" })
      assert.isTrue(lstatSync(join(output, "published")).isSymbolicLink())
      yield* Effect.promise(() => onPoorDisk("EPERM"))
      yield* addThings([{ id: "b", name: "two" }])
      yield* recordThings
      yield* publishThings(output, { run: "r2" })
      assert.isTrue(lstatSync(join(output, "published")).isDirectory())
      assert.deepStrictEqual(releasesIn(output), ["000001-r1", "placed"])
    }).pipe(Effect.provide(warehouseAt(output)))
  })
})

it("sync, verify and doctor work there, and doctor says what is missing", { tags: ["slow"] }, async () => {
  const { service, output, selection, environment: own } = await openAlone("contacts", "--contacts", "3")
  try {
    await onPoorDisk("EOPNOTSUPP")
    const environment = { ...own, SLUICE_FORMATS: "duckdb,csv", SLUICE_MODELS: "false" }
    for (const args of [
      ["sync", ...selection],
      ["sync", "--again=lists", ...selection],
      ["verify", "--all"]
    ]) {
      const ran = await sluice(args, environment)
      assert.strictEqual(ran.code, 0, ran.stderr)
    }
    assert.isTrue(lstatSync(join(output, "published")).isDirectory())
    const { stdout } = await sluice(["doctor"], environment)
    assert.match(stdout, /^warning +links +the file system of \S+ has no symbolic links/m)
  } finally {
    service.stop()
  }
})
