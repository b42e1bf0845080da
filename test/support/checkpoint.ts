/** A checkpoint with what every one has, for tests that make vault entries by hand. */
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
