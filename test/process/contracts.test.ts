/** Documents about the tables, judged by the schemas of their standards and by frictionless. */
import { assert, describe, it } from "@effect/vitest"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { openSynced } from "../support/account.ts"
import { start } from "../support/process.ts"
import { python, runPython } from "../support/python.ts"
import { newFolder } from "../support/sluice.ts"

/** Prints the errors of a document against the JSON Schema in a package. */
const validated = `
import sys, json, yaml, jsonschema, importlib.util, pathlib
document, package, path = sys.argv[1:]
root = pathlib.Path(importlib.util.find_spec(package).submodule_search_locations[0])
schema = json.loads((root / path).read_text())
content = yaml.safe_load(open(document))
validator = jsonschema.validators.validator_for(schema)(schema)
for error in validator.iter_errors(content): print(list(error.absolute_path), error.message[:300])
`

/** Prints the errors that frictionless finds in the CSV files of a package. */
const checkedFiles = `
import sys, json, frictionless
folder = sys.argv[1]
package = json.load(open(folder + "/datapackage.json"))
package["resources"] = [one for one in package["resources"] if one["format"] == "csv" and one["path"] in sys.argv[2:]] if len(sys.argv) > 2 else [one for one in package["resources"] if one["format"] == "csv"]
frictionless.system.trusted = True
report = frictionless.Package.from_descriptor(package, basepath=folder).validate()
print(json.dumps({"files": len(report.tasks), "rows": sum(task.stats.get("rows", 0) for task in report.tasks), "errors": [[task.name, *error] for task in report.tasks for error in task.flatten(["type", "rowNumber", "fieldName"])]}))
`

describe.skipIf(python === undefined)("the documents of a release", () => {
  it("are valid for the schemas of their standards, and frictionless accepts the files until one is changed", async () => {
    const account = await openSynced({ flags: ["--contacts", "60"], formats: "duckdb,parquet,csv" })
    try {
      const published = join(account.output, "published")
      const description = join(published, "datapackage.json")
      const names = JSON.parse(readFileSync(description, "utf8")).resources.map(({ name }: { name: string }) => name)
      assert.strictEqual(new Set(names).size, names.length)
      assert.include(names, "bi-fct_opportunity-csv")
      assert.strictEqual(runPython(python!, validated, description, "dplib", "profiles/2.0/datapackage.json"), "")

      const { files, rows, errors } = JSON.parse(runPython(python!, checkedFiles, published))
      const listed = JSON.parse(readFileSync(join(published, "manifest.json"), "utf8")).files.filter(
        ({ path }: { path: string }) => path.startsWith("csv/")
      )
      assert.deepStrictEqual(errors, [])
      assert.strictEqual(files, listed.length)
      assert.strictEqual(
        rows,
        listed.reduce((sum: number, one: { rows: number }) => sum + one.rows, 0)
      )

      const invoices = join(published, "csv", "invoices.csv")
      const [header, first, ...rest] = readFileSync(invoices, "utf8").split("\r\n")
      writeFileSync(invoices, [header, first!.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/, "yesterday"), ...rest].join("\r\n"))
      const planted = JSON.parse(runPython(python!, checkedFiles, published, "csv/invoices.csv"))
      assert.include(
        planted.errors.map(([, type]: [string, string]) => type),
        "type-error"
      )
    } finally {
      account.service.stop()
    }
  })

  it("of the tables is valid for the Open Data Contract Standard 3.1", async () => {
    const { code, stdout } = await start(["contract", "print"], {}).ended
    assert.strictEqual(code, 0)
    const file = join(newFolder(), "contract.odcs.yaml")
    writeFileSync(file, stdout)
    assert.strictEqual(runPython(python!, validated, file, "datacontract", "schemas/odcs-3.1.0.schema.json"), "")
    writeFileSync(file, stdout.replaceAll("logicalType: timestamp", "logicalType: instant"))
    assert.include(runPython(python!, validated, file, "datacontract", "schemas/odcs-3.1.0.schema.json"), "instant")
  })
})
