/** The data of the results of the commands about the ledger. */
import * as Schema from "effect/Schema"

/** The number of records, and the SHA-256 of the last one. */
export const LedgerHead = Schema.Struct({ seq: Schema.Int, sha256: Schema.String })

const LedgerShow = Schema.Struct({
  /** The records before the first one that `ledger verify` rejects. */
  records: Schema.Array(
    Schema.Struct({
      seq: Schema.Int,
      at: Schema.String,
      kind: Schema.String,
      /** SHA-256 of the line before. */
      previous: Schema.String,
      detail: Schema.Record(Schema.String, Schema.Json)
    })
  )
})

const LedgerVerify = Schema.Struct({
  isIntact: Schema.Boolean,
  /** The last record before the first one that was changed. */
  head: LedgerHead,
  findings: Schema.Array(Schema.String)
})

export const ledgerSchemas = { "ledger-show": LedgerShow, "ledger-verify": LedgerVerify }
