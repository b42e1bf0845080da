/** Writes a workbook of many rows; prints its size, and the most memory that this process took, in MB. */
import { stat } from "node:fs/promises"
import * as Effect from "effect/Effect"
import { writeWorkbook } from "../../../src/stores/formats/xlsx/workbook.ts"

const [path, rowCount] = process.argv.slice(2)

async function* rows() {
  for (let n = 0; n < Number(rowCount); n++)
    yield [`id${n}`, `Name ${n} of many`, "+15551234567", `${n}.25`, "2026-01-31T10:00:00.000Z", "2026-01-31", "true"]
}
const workbook = writeWorkbook(path!, {
  about: [],
  tables: [
    {
      name: "things",
      columns: [
        { name: "id", kind: "text" },
        { name: "name", kind: "text" },
        { name: "phone", kind: "text" },
        { name: "amount", kind: "number" },
        { name: "happened_at", kind: "instant" },
        { name: "day", kind: "date" },
        { name: "active", kind: "boolean" }
      ],
      rows: rows()
    }
  ]
})
const contents = await Effect.runPromise(workbook)
const { size } = await stat(path!)
console.log(JSON.stringify({ ...contents, bytes: size, peakMb: Math.round(process.resourceUsage().maxRSS / 1024) }))
