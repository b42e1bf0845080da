/**
 * CPU and memory of publishing contacts whose custom values belong to 5 and to 760 fields. The values are as many, and become
 * columns of `contacts_wide`. The service of the benchmarks has no account with so many fields, so they are added to the warehouse.
 *
 *     node_modules/.bin/node bench/wide.ts [contacts] [fields] [runs]
 */
import { DuckDBInstance } from "@duckdb/node-api"
import { join } from "node:path"
import { type Measured, median, newFolder, run, startContacts } from "./measure.ts"

const [contacts = 100_000, fields = 760, runs = 3] = process.argv.slice(2).map(Number)

const sandbox = await startContacts(contacts, "--warm")
try {
  const output = newFolder()
  const environment = { ...sandbox.environment, SLUICE_OUTPUT: output }
  const synced = await run(["sync", "--only", "contacts"], { ...environment, SLUICE_FORMATS: "none" })
  const publishes = async (formats: string) => {
    const measured: Array<Measured> = []
    for (let n = 0; n < runs; n++)
      measured.push(await run(["publish", "--full"], { ...environment, SLUICE_FORMATS: formats }))
    return {
      cpu: median(measured.map(({ cpuSeconds }) => cpuSeconds)),
      mb: Math.round(median(measured.map(({ peakMb }) => peakMb)))
    }
  }
  const allFormats = ["parquet,csv", "duckdb,parquet,csv"]
  const few = [await publishes(allFormats[0]!), await publishes(allFormats[1]!)]
  const instance = await DuckDBInstance.create(join(output, "warehouse.duckdb"))
  const connection = await instance.connect()
  await connection.run(
    `INSERT INTO crm.custom_fields BY NAME
     SELECT (SELECT any_value(location_id) FROM crm.contacts) AS location_id, 'field' || i AS id, 'contact' AS model, 'TEXT' AS data_type,
       'contact.field_' || i AS field_key, 'Field ' || i AS name, i AS position FROM range(${fields}) AS r(i);
     UPDATE crm.contact_custom_values SET custom_field_id = 'field' || hash(contact_id, custom_field_id) % ${fields}`
  )
  connection.closeSync()
  instance.closeSync()
  const many = [await publishes(allFormats[0]!), await publishes(allFormats[1]!)]
  console.log(`${contacts} contacts, median of ${runs}; their sync took ${Math.round(synced.peakMb)} MB`)
  for (const [index, formats] of allFormats.entries())
    console.log(
      `${formats}: ${few[index]!.cpu.toFixed(1)} s CPU, ${few[index]!.mb} MB; with ${fields} fields ${many[index]!.cpu.toFixed(1)} s, ` +
        `${many[index]!.mb} MB, x ${(many[index]!.cpu / few[index]!.cpu).toFixed(2)}`
    )
} finally {
  sandbox.stop()
}
