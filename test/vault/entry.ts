/** An entry of the vault, for bodies of any kind. */
import type { PageEntry } from "../../src/stores/vault/entry.ts"
import { checkpoint } from "../support/checkpoint.ts"

export const entry: PageEntry = {
  kind: "page",
  run: "r",
  at: 1,
  location: "L",
  resource: "things",
  partition: "all",
  request: {},
  records: "things",
  hasBigNumbers: false,
  checkpoint
}
