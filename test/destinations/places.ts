/**
 * The kinds of destinations as conformance.test.ts sees them: the settings that name a place of each, the contacts in it as a
 * program of others reads them, and a row that is lost there. A further kind is a further entry.
 */
import { AwsClient } from "aws4fetch"
import { parse } from "csv-parse/sync"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { filesBelow } from "../support/contents.ts"
import { lakeExtensions } from "../support/extensions.ts"
import { hasObjectStore, startObjectStore } from "../support/object-store.ts"
import { openDatabase, postgresPrograms, sqlIn } from "../support/postgres.ts"
import { python, runPython } from "../support/python.ts"

export interface Contact {
  readonly id: string
  readonly city: string | null
}

export interface Place {
  /** Items of the settings file. */
  readonly settings: string
  readonly environment: Readonly<Record<string, string>>
  /** Of the place itself, in any order; none if it has no such table. */
  readonly contacts: () => Promise<ReadonlyArray<Contact>>
  /** Whether anything in the place contains a text, whatever the case of its letters. */
  readonly mentions: (text: string) => Promise<boolean>
  /** Removes the row of one contact from the place, as an accident there would. */
  readonly loseRow: () => Promise<unknown>
  /** Removes the whole table of contacts. */
  readonly loseTable: () => Promise<unknown>
  readonly close: () => Promise<unknown> | void
}

export interface Kind {
  readonly kind: string
  /** Why it cannot be tested here. */
  readonly missing: string | undefined
  /** Whether it needs no program of others. */
  readonly isOwn?: boolean
  /** Whether rows that were removed stay in versions that it keeps, and says so. */
  readonly hasVersions?: boolean
  readonly open: () => Promise<Place>
}

const folderOf = () => mkdtempSync(join(tmpdir(), "sluice-place-"))

const target = (...lines: ReadonlyArray<string>) =>
  ["[models]", "build = false", "[[publish]]", 'name = "place"', 'profile = "raw"', ...lines, ""].join("\n")

const mentionedIn = (folder: string) => async (text: string) =>
  filesBelow(folder).some(([, content]) => content.includes(text.toLowerCase()))

const contactsInCsv = (text: string): ReadonlyArray<Contact> =>
  (parse(text, { columns: true }) as ReadonlyArray<Record<string, string>>).map(({ city, id }) => ({
    id: id!,
    city: city === "" ? null : city!
  }))
/** Without its last row; no value of the account contains a line end. */
const withoutLastLine = (text: string) => text.trimEnd().replace(/\n[^\n]*$/, "\n")

const folder: Kind = {
  kind: "a folder",
  missing: undefined,
  isOwn: true,
  open: async () => {
    const root = folderOf()
    const place = join(root, "files")
    const file = join(place, "csv", "contacts.csv")
    return {
      settings: target(`folder = "${place}"`, 'formats = ["csv"]'),
      environment: {},
      contacts: async () => (existsSync(file) ? contactsInCsv(readFileSync(file, "utf8")) : []),
      mentions: mentionedIn(root),
      loseRow: async () => writeFileSync(file, withoutLastLine(readFileSync(file, "utf8"))),
      loseTable: async () => rmSync(file),
      close: () => {}
    }
  }
}

const sqlite: Kind = {
  kind: "a SQLite file",
  missing: undefined,
  isOwn: true,
  open: async () => {
    const root = folderOf()
    const file = join(root, "crm.sqlite")
    const use = <A>(work: (database: DatabaseSync) => A): A => {
      const database = new DatabaseSync(file)
      try {
        return work(database)
      } finally {
        database.close()
      }
    }
    return {
      settings: target(`sqlite = "${file}"`),
      environment: {},
      contacts: async () =>
        existsSync(file)
          ? use((database) => database.prepare("SELECT id, city FROM contacts").all() as unknown as Array<Contact>)
          : [],
      mentions: mentionedIn(root),
      loseRow: async () =>
        use((database) => database.exec("DELETE FROM contacts WHERE id = (SELECT min(id) FROM contacts)")),
      loseTable: async () => use((database) => database.exec("DROP TABLE contacts")),
      close: () => {}
    }
  }
}

const postgres: Kind = {
  kind: "a PostgreSQL database",
  missing: postgresPrograms === undefined ? "PostgreSQL is not installed" : undefined,
  open: async () => {
    const database = await openDatabase()
    return {
      settings: target('postgres = "env:PLACE"', 'schema = "crm"'),
      environment: { PLACE: database.url },
      contacts: async () => {
        if ((await sqlIn(database, "SELECT to_regclass('crm.contacts') IS NULL")) === "t") return []
        const rows = await sqlIn(
          database,
          "SELECT coalesce(json_agg(json_build_object('id', id, 'city', city)), '[]') FROM crm.contacts"
        )
        return JSON.parse(rows) as ReadonlyArray<Contact>
      },
      mentions: async (text) => {
        const all = `SELECT string_agg(query_to_xml(format('SELECT * FROM %I.%I', schemaname, tablename), true, false, '')::text, '')
          FROM pg_tables WHERE schemaname LIKE 'crm%'`
        return (await sqlIn(database, all)).toLowerCase().includes(text.toLowerCase())
      },
      loseRow: () => sqlIn(database, "DELETE FROM crm.contacts WHERE id = (SELECT min(id) FROM crm.contacts)"),
      loseTable: () => sqlIn(database, "DROP TABLE crm.contacts"),
      close: database.stop
    }
  }
}

const bucket: Kind = {
  kind: "a bucket",
  missing: hasObjectStore ? undefined : "no object store can be started",
  open: async () => {
    const store = await startObjectStore("place")
    const client = new AwsClient({ accessKeyId: "reader", secretAccessKey: "r", service: "s3", region: "us-east-1" })
    const get = async (name: string) => {
      const response = await client.fetch(`${store.url}/place/crm/${name}`)
      return response.ok ? response.text() : undefined
    }
    const name = "csv/contacts.csv"
    return {
      settings: target(
        'folder = "s3://place/crm"',
        `s3_endpoint = "${store.url}"`,
        's3_key = "env:KEY"',
        's3_secret = "env:SECRET"',
        'formats = ["csv"]'
      ),
      environment: { KEY: "a-key", SECRET: "a-secret-of-the-place" },
      contacts: async () => {
        const text = await get(name)
        return text === undefined ? [] : contactsInCsv(text)
      },
      mentions: async (text) => {
        const list = await (await client.fetch(`${store.url}/place?list-type=2`)).text()
        for (const [, key] of list.matchAll(/<Key>crm\/(.*?)<\/Key>/g))
          if ((await get(key!))?.toLowerCase().includes(text.toLowerCase())) return true
        return false
      },
      loseRow: async () => {
        await client.fetch(`${store.url}/place/crm/${name}`, {
          method: "PUT",
          body: withoutLastLine((await get(name))!)
        })
      },
      loseTable: async () => {
        const { files } = JSON.parse((await get("manifest.json"))!) as {
          readonly files: ReadonlyArray<{ readonly path: string; readonly object: string }>
        }
        const { object } = files.find(({ path }) => path === name)!
        for (const one of [name, object]) await client.fetch(`${store.url}/place/crm/${one}`, { method: "DELETE" })
      },
      close: store.stop
    }
  }
}

const lake: Kind = {
  kind: "a lake",
  missing: python === undefined ? "the extension of DuckDB is not installed" : undefined,
  hasVersions: true,
  open: async () => {
    const place = folderOf()
    const catalog = join(place, "crm.ducklake")
    const extensions = lakeExtensions(python!)
    const run = (program: string) =>
      runPython(
        python!,
        `import duckdb, json
c = duckdb.connect(config={"autoinstall_known_extensions": "false"})
c.execute("LOAD '${extensions}/ducklake.duckdb_extension'")
c.execute("ATTACH 'ducklake:${catalog}' AS lake")
${program}`
      )
    return {
      settings: target(
        `lake = "${join(place, "data")}"`,
        'catalog = "env:PLACE_CATALOG"',
        `extensions = "${extensions}"`
      ),
      environment: { SLUICE_FORMATS: "none", PLACE_CATALOG: catalog },
      contacts: async () => {
        if (!existsSync(catalog)) return []
        const rows = run('print(json.dumps(c.execute("SELECT id, city FROM lake.crm.contacts").fetchall()))')
        return (JSON.parse(rows) as ReadonlyArray<[string, string | null]>).map(([id, city]) => ({ id, city }))
      },
      mentions: async (text) =>
        run(`import glob
hits = [path for path in glob.glob("${place}/data/**/*.parquet", recursive=True)
  if any("${text}".lower() in row[0].lower() for row in c.execute(f"SELECT to_json(t)::VARCHAR FROM read_parquet('{path}') AS t").fetchall())]
print(len(hits) > 0 or "${text}".lower().encode() in open("${catalog}", "rb").read().lower())`).includes("True"),
      loseRow: async () =>
        run('c.execute("DELETE FROM lake.crm.contacts WHERE id = (SELECT min(id) FROM lake.crm.contacts)")'),
      loseTable: async () => run('c.execute("DROP TABLE lake.crm.contacts")'),
      close: () => {}
    }
  }
}

export const kinds: ReadonlyArray<Kind> = [folder, sqlite, postgres, bucket, lake]
