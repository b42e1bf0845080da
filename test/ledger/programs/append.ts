/** Appends records: node append.ts OUTPUT NAME COUNT */
import { appendRecord } from "../../../src/stores/ledger/file.ts"

const [output, name, count] = process.argv.slice(2)
for (let n = 0; n < Number(count); n++)
  await appendRecord(output!, new Date().toISOString(), "sync", { name: name!, n })
