/**
 * The copies of what a release derives from its tables, the models and the wide tables, of which the manifest has no sums. A file
 * has the rows of the DuckDB file, from which it was written; a wide table those of its view, if that has not changed since.
 */
import { Effect } from "effect"
import { join } from "node:path"
import type { Catalogue } from "../../catalog/discover.ts"
import { snapshotName } from "../../output/paths.ts"
import type { Manifest, TableContent } from "../../output/manifest.ts"
import { versionOf } from "../../stages/publish/changes.ts"
import type { Reading } from "../../stores/formats/format.ts"
import { type StoredTable, storedTables, tablesIn } from "../../stores/warehouse/columns.ts"
import {
  type Content,
  type StoredColumn,
  type Summed,
  added,
  contentsIfReadable,
  contentsOfEach
} from "../../stores/warehouse/content.ts"
import { contentVersions } from "../../stores/warehouse/meta/content-versions.ts"
import { partsOf } from "../../stores/warehouse/parts.ts"
import { name } from "../../stores/warehouse/sql.ts"
import { wideViews } from "../../stores/warehouse/wide-views.ts"
import { wrong } from "../../values/finding.ts"
import { Failure } from "../../values/failure.ts"

interface View {
  readonly columns: ReadonlyArray<StoredColumn>
  readonly content: Content
}

/** The wide views that show what the release shows, by name. They are read in the parts in which a publish reads them. */
export const unchangedViews = Effect.fn("verify.wideViews")(function* (catalogue: Catalogue, { state }: Manifest) {
  const versions = yield* contentVersions()
  const stored = yield* storedTables
  const found = new Map<string, View>()
  for (const wide of yield* wideViews(catalogue)) {
    const [view, rows] = [stored.get(`crm.${name(wide.view)}`), stored.get(`crm.${name(wide.table)}`)?.rows]
    const isShown = state?.versions[wide.view] === versionOf(versions.get(wide.table)?.version, wide)
    if (!view || !rows || !isShown) continue
    const parts = yield* partsOf({ name: wide.view, wide }, "crm", false)
    // Each part alone fills the memory that it may have.
    const relations = parts.map((from) => ({ from, columns: view.columns, size: Infinity }))
    const content = [...(yield* contentsOfEach(relations)).values()].reduce(added)
    found.set(wide.view, { columns: view.columns, content })
  }
  return found
})

interface Copy extends Summed {
  readonly path: string
  readonly problem: Effect.Effect<string | undefined, Failure>
}

export const derivedFindings = Effect.fn("verify.derived")(function* (
  folder: string,
  manifest: Pick<Manifest, "files"> & { readonly tables: ReadonlyArray<TableContent> },
  {
    broken,
    isOpen,
    readings,
    views
  }: {
    readonly broken: ReadonlySet<string>
    /** The DuckDB file is attached as `published`. */
    readonly isOpen: boolean
    readonly readings: ReadonlyMap<string, Reading>
    readonly views: ReadonlyMap<string, View>
  }
) {
  const stored = isOpen ? yield* tablesIn("'published'", ["bi", "main"]) : new Map<string, StoredTable>()
  const summed = new Set(["*", ...manifest.tables.map(({ table }) => table)])
  const names = new Set([...views.keys(), ...manifest.files.map(({ table }) => table)]).difference(summed)
  const derived = [...names].flatMap((table) => {
    const place = table.startsWith("bi.") ? `bi.${name(table.slice("bi.".length))}` : `main.${name(table)}`
    const [view, known] = [views.get(table), stored.get(place)]
    const shown = view ? { columns: view.columns, rows: view.content.rows } : known
    if (!shown) return []
    const { columns, rows: size } = shown
    const source = { path: snapshotName, from: `published.${place}`, columns, size, problem: Effect.undefined }
    const files = [...readings].flatMap(([format, reading]): ReadonlyArray<Copy> => {
      const parts = filesOf(manifest, format, table)
      const [first] = parts
      if (first === undefined || parts.some(({ path }) => broken.has(path))) return []
      const paths = parts.map(({ path }) => join(folder, path))
      const own = columns.map((column) => column.name)
      const problem = problemOf(reading, paths, own)
      return [
        {
          path: first.path,
          from: reading.from(paths, own),
          columns,
          size,
          text: reading.areTexts ?? false,
          problem
        }
      ]
    })
    const copies: ReadonlyArray<Copy> = view && known ? [source, ...files] : files
    return copies.length === 0 ? [] : [{ table, view, source, isStored: known !== undefined, copies }]
  })
  const sources = derived.flatMap(({ isStored, source }) => (isStored ? [source] : []))
  const contents = yield* contentsIfReadable(sources)
  const copies = derived.flatMap(({ copies, source }) => {
    const content = contents.get(source.from)
    const known = content === undefined || content instanceof Failure ? undefined : { from: source.from, content }
    return copies.filter((copy) => copy !== source).map((copy) => ({ ...copy, source: known }))
  })
  for (const [from, content] of yield* contentsIfReadable(copies)) contents.set(from, content)
  const found = yield* Effect.forEach(derived, ({ copies, source, table, view }) =>
    Effect.forEach(copies, ({ from, path, problem }) =>
      Effect.gen(function* () {
        const what = yield* problem
        if (what !== undefined) return [wrong(path, what)]
        const expected = yield* readable(view?.content ?? contents.of(source.from))
        const content = yield* readable(contents.of(from))
        return content.rows === expected.rows && content.sum === expected.sum
          ? []
          : [wrong(path, `its values differ from ${view ? `the view ${table}` : `${table} of ${snapshotName}`}`)]
      }).pipe(Effect.catch(({ message }) => Effect.succeed([wrong(path, `it cannot be compared: ${message}`)])))
    )
  )
  return found.flat(2)
})

export const filesOf = ({ files }: Pick<Manifest, "files">, format: string, table: string) =>
  files.filter((file) => file.table === table && file.path.startsWith(`${format}/`))

const readable = (content: Content | Failure) =>
  content instanceof Failure ? Effect.fail(content) : Effect.succeed(content)

export const problemOf = Effect.fnUntraced(function* (
  { problem }: Pick<Reading, "problem">,
  paths: ReadonlyArray<string>,
  columns: ReadonlyArray<string>
) {
  for (const path of paths) {
    const found = yield* problem?.(path, columns) ?? Effect.undefined
    if (found !== undefined) return found
  }
  return undefined
})
