/** A checkpoint with the required fields, for tests that write vault entries. */
import type { Checkpoint } from "../../src/values/checkpoint.ts"

export const checkpoint: Checkpoint = {
  version: 1,
  done: false,
  count: 0,
  lastIds: [],
  warnings: [],
  mode: "incremental",
  startedAt: 0,
  fingerprint: ""
}
