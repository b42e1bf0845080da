/** A process that writes the table of `output` to its stdout, as `publish --stdout things` does. */
import { Effect } from "effect"
import { join } from "node:path"
import { format } from "../../../src/stores/formats/csv/format.ts"
import { writeToPipe } from "../../../src/stores/formats/pipe.ts"
import { Warehouse } from "../../../src/stores/warehouse/warehouse.ts"
import { thingRows } from "../things.ts"

const path = join(process.argv[2]!, "warehouse.duckdb")
await Effect.runPromise(
  Effect.flatMap(thingRows, (rows) => writeToPipe(rows, format, process.stdout)).pipe(
    Effect.provide(Warehouse.layer(path, { access: "read", memoryMb: 256 }))
  )
)
