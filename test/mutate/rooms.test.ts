/** The tests that `npm run mutate` runs for a room of the product. */
import { assert, it } from "@effect/vitest"
import { testFoldersOf } from "./rooms.ts"

it.each([
  ["src/stages/extract/paging.ts", ["test/extract"]],
  ["src/stages/load/merge/merge.ts", ["test/load"]],
  ["src/stages/publish/masking", ["test/masking"]],
  ["src/stages/publish/changes.ts", ["test/publish"]],
  ["src/stores/vault", ["test/vault"]],
  ["src/stores/warehouse/meta/runs.ts", ["test/warehouse"]],
  ["src/features/privacy/erasure/treatment.ts", ["test/erasure"]],
  ["src/features/privacy/commands/hold.ts", ["test/erasure", "test/location", "test/subject"]],
  ["src/features/prune/files.ts", ["test/features/prune", "test/prune"]],
  ["src/features/export/bundle/verify/manifests.ts", ["test/bundle"]],
  ["src/features/export/export-excel.ts", ["test/bundle", "test/xlsx", "test/cli"]],
  ["src/features/verify/verify.ts", ["test/verify"]],
  ["src/alarms", ["test/alarms"]],
  ["src/destinations/postgres/removal.ts", ["test/destinations"]],
  ["src/features/backup/copy.ts", ["test/backup"]]
])("of %s are those in %j", (path, folders) => assert.deepStrictEqual(testFoldersOf(path), folders))
