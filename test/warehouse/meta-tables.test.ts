/** Which tables about the runs are for readers: what else is in `meta` is the state of the program, and stays at home. */
import { assert, it } from "@effect/vitest"
import { metaCommentStatements, publishedMetaTables } from "../../src/stores/warehouse/meta/tables.ts"

const forReaders =
  "backfilled_windows columns coverage enum_values history_limit limits model_problems rejected_records rejected_values rounded_values run_resources runs schema_changes unexpected_values watermarks wide_columns wide_losses wide_readings"

it("tables of meta are published if they are for readers, and these alone have a comment", () => {
  assert.deepStrictEqual(publishedMetaTables, forReaders.split(" "))
  const commented = metaCommentStatements.map((sql) => /^COMMENT ON TABLE meta\."?(\w+)"? IS '.+/s.exec(sql)?.[1])
  assert.deepStrictEqual(commented.toSorted(), forReaders.split(" "))
})
