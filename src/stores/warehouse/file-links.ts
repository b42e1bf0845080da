/**
 * The links to files in the tables, and which of them are due to be fetched: a link is due if no row of `crm.files` has its
 * file, and a request may bring it. The queue is this comparison, so a crash costs only the files that were being fetched.
 */
import { Effect, Stream } from "effect"
import { type LinkColumn, columnOfLink } from "../../catalog/link-columns.ts"
import { keyText } from "../../catalog/tables.ts"
import { numbers, orNull, query, queryNumber, queryTexts } from "./query.ts"
import { insertStatements, instantOf, literal, name, selected, stringOf } from "./sql.ts"
import { Warehouse } from "./warehouse.ts"

/** A row of `crm.files` that names its file, as the record of the vault does. */
export type FileRecord = Readonly<Record<string, string | number | null | undefined>>

/** A place of a link, with what its record says of the file. */
export interface Owner {
  readonly id: string
  readonly tableName: string
  readonly recordId: string
  readonly columnName: string
  readonly position: number
  readonly name: string | null
}

export interface DueLink {
  /** The link without what expires. */
  readonly link: string
  readonly url: string
  readonly owners: ReadonlyArray<Owner>
  /** When the host first answered that there is no such file; ISO 8601. */
  readonly missingSince: string | undefined
  /** A file that was fetched at the same place by another link. */
  readonly known: KnownFile | undefined
  /** The type for which an earlier run did not store the file. */
  readonly typeLeftOut: string | undefined
}

export type KnownFile = FileRecord & {
  readonly bytes: number
  readonly etag: string | null
  readonly lastModified: string | null
}

/** Locations are read side by side, so each has tables of its own in memory. */
const tableOf = (what: string, location: string): string => `memory.main.${name(`${what} ${location}`)}`
const linksOf = (location: string) => tableOf("links", location)
const damagedOf = (location: string) => tableOf("damaged files", location)

/** Parameters of a URL that a host signs, or that say how long it is valid. */
const expiring =
  "X-(Amz|Goog)-[^=&]*|Signature|Expires|Policy|Key-Pair-Id|AWSAccessKeyId|GoogleAccessId|sig|se|sp|st|sv|sr|spr|sks|skt|ske|skv|skoid|sktid|token|response-content-disposition"
const pattern = `[?&](${expiring})=[^&#]*`

/** The same in SQL: `linkSql`. */
export const linkOf = (url: string): string =>
  url
    .replace(/#.*$/s, "")
    .replaceAll(new RegExp(pattern, "gi"), "")
    .replace(/^([^?]*?)&/, "$1?")
export const linkSql = (url: string): string =>
  `regexp_replace(regexp_replace(regexp_replace(${url}, '#.*$', '', 's'), ${literal(pattern)}, '', 'gi'), '^([^?]*?)&', '\\1?')`

/** Finds the links of these columns in the records that are there. */
export const findLinks = Effect.fn("warehouse.findLinks")(function* (
  columns: ReadonlyArray<LinkColumn>,
  location: string
) {
  const warehouse = yield* Warehouse
  const found = tableOf("found links", location)
  yield* warehouse.run(
    `CREATE OR REPLACE TABLE ${found} (table_name VARCHAR, record_id VARCHAR, column_name VARCHAR, url VARCHAR, name VARCHAR, bytes BIGINT)`
  )
  for (const column of columns) {
    const { from, place, value } = sourceOf(column, location)
    if (!column.isJson)
      yield* warehouse.run(
        `INSERT INTO ${found} SELECT ${place}, ${value}, NULL, NULL FROM ${from} AND regexp_matches(${value}, '^https?://', 'i')`
      )
    else
      yield* Stream.runForEach(
        Stream.grouped(
          warehouse.stream(`SELECT ${place}, ${value}::VARCHAR FROM ${from} AND ${value} IS NOT NULL`),
          500
        ),
        (rows) =>
          Effect.forEach(
            insertStatements(
              found,
              rows.flatMap(([table, record, path, value]) =>
                linksIn(value!).map(
                  ({ bytes, name, url }) => `(${[table, record, path, url, name, bytes].map(literal).join(", ")})`
                )
              )
            ),
            (sql) => warehouse.run(sql),
            { discard: true }
          )
      )
  }
  yield* warehouse.run(
    `CREATE OR REPLACE TABLE ${linksOf(location)} AS
     SELECT table_name, record_id, column_name, link, md5(concat_ws(chr(31), table_name, record_id, column_name, link)) AS id,
       min(place)::BIGINT AS position, max(url) AS url, max(name) AS name, max(bytes) AS bytes
     FROM (SELECT *, ${linkSql("url")} AS link,
             row_number() OVER (PARTITION BY table_name, record_id, column_name ORDER BY rowid) - 1 AS place FROM ${found})
     GROUP BY ALL;
     DROP TABLE ${found};
     CREATE OR REPLACE TABLE ${damagedOf(location)} (path VARCHAR)`
  )
})

/** Where the values of a column are, as far as `WHERE`; the columns that name the place; and the value. */
const sourceOf = (column: LinkColumn, location: string) => {
  const { fieldColumn, resource, table } = column
  const record = table.parentColumn === undefined ? keyText(resource) : name(table.parentColumn)
  const value = name(column.column)
  const isFile =
    fieldColumn === undefined
      ? "true"
      : `(${name(fieldColumn)} IN (SELECT unnest([id, field_key, regexp_replace(field_key, '^[^.]*\\.', '')]) FROM crm.custom_fields
           WHERE location_id = ${literal(location)} AND data_type IN ('FILE_UPLOAD', 'SIGNATURE')) OR contains(${value}::VARCHAR, '"documentId"'))`
  // A record that the service lists as deleted still has its links.
  const { tombstone } = resource
  const isListed = tombstone
    ? `(_deleted_at IS NULL OR ${record} IN (SELECT ${keyText(resource)} FROM crm.${name(resource.table)} WHERE location_id = ${literal(location)} AND ${name(tombstone)}))`
    : "_deleted_at IS NULL"
  return {
    from: `crm.${name(table.name)} WHERE location_id = ${literal(location)} AND ${isListed} AND ${isFile}`,
    place: `${literal(resource.table)}, ${record}::VARCHAR, ${literal(columnOfLink(column))}`,
    value
  }
}

interface Found {
  readonly url: string
  readonly name: string | undefined
  readonly bytes: number | undefined
}

/** Every text in the value that is an address, with the name and the size that the object around it has. */
export const linksIn = (json: string): ReadonlyArray<Found> => {
  const found: Array<Found> = []
  const visit = (value: unknown, around: Pick<Found, "name" | "bytes">): void => {
    if (typeof value === "string") {
      if (/^https?:\/\//i.test(value)) found.push({ url: value, ...around })
    } else if (typeof value === "object" && value !== null) {
      const { meta, ...members } = value as Readonly<Record<string, unknown>>
      const own = Array.isArray(value) ? around : aboutFile({ ...(meta as object | undefined), ...members })
      for (const member of Object.values(members)) visit(member, own)
    }
  }
  visit(JSON.parse(json), { name: undefined, bytes: undefined })
  return found
}

const aboutFile = (members: Readonly<Record<string, unknown>>): Pick<Found, "name" | "bytes"> => {
  const named = [members["originalname"], members["name"], members["fileName"], members["filename"]]
  const size = Number(members["size"])
  return {
    name: named.find((one) => typeof one === "string" && one !== ""),
    bytes: members["size"] !== undefined && Number.isSafeInteger(size) && size >= 0 ? size : undefined
  } as Pick<Found, "name" | "bytes">
}

/** The files that rows of `crm.files` name. `since`: those fetched later; epoch milliseconds. */
export const knownFiles = (location: string, since: number | undefined) =>
  query(
    { path: String, sha256: String, ...numbers("bytes") },
    `SELECT DISTINCT path, sha256, bytes FROM crm.files WHERE location_id = ${literal(location)} AND path IS NOT NULL
     ${since === undefined ? "" : `AND fetched_at > ${instantOf(since)}`}`
  )

/** What the files of all locations take. */
export const storedBytes = queryNumber(
  "SELECT coalesce(sum(bytes), 0) FROM (SELECT DISTINCT path, bytes FROM crm.files WHERE path IS NOT NULL)"
)

/** Makes the links to these files due again. */
export const noteDamaged = Effect.fnUntraced(function* (location: string, paths: ReadonlyArray<string>) {
  for (const sql of insertStatements(
    damagedOf(location),
    paths.map((path) => `(${literal(path)})`)
  ))
    yield* (yield* Warehouse).run(sql)
})

/** Rows `f` of `crm.files`, and whether each has its file. */
const filesSql = (location: string) =>
  `(SELECT *, path IS NOT NULL AND path NOT IN (FROM ${damagedOf(location)}) AS has_file FROM crm.files WHERE location_id = ${literal(location)})`

/** Of what is not final, a file that was too large or missing is requested again only under these conditions. */
const isDue = (bytesMax: number, now: number) =>
  `f.id IS NULL OR (NOT f.has_file AND f.status <> 'gone' AND (f.status <> 'too large' OR f.bytes IS NULL OR f.bytes <= ${bytesMax})
     AND (f.missing_since IS NULL OR f.checked_at::DATE < ${instantOf(now)}::DATE))`

/** One row of `files` as the record that made it. */
const recordSql = (files: string) =>
  `json_object(${(
    [
      ["url", "url"],
      ["link", "link"],
      ["status", "status"],
      ["path", "path"],
      ["bytes", "bytes"],
      ["sha256", "sha256"],
      ["contentType", "content_type"],
      ["foundType", "found_type"],
      ["etag", "etag"],
      ["lastModified", "last_modified"],
      ["fetchedAt", "fetched_at"]
    ] as const
  )
    .map(([field, column]) => `${literal(field)}, ${files}.${name(column)}`)
    .join(", ")})`

const ownersSql = `json_group_array(json_object('id', l.id, 'tableName', l.table_name, 'recordId', l.record_id, 'columnName', l.column_name,
  'position', l.position, 'name', l.name))`

/** The files that are due, each once; hosts take turns. `types` of earlier answers that are not wanted are left to the caller. */
export const dueLinks = Effect.fnUntraced(function* (location: string, bytesMax: number, now: number) {
  const files = filesSql(location)
  return (yield* Warehouse)
    .stream(
      `SELECT l.link, max(l.url), ${ownersSql}::VARCHAR, max(f.missing_since)::VARCHAR,
         (any_value(${recordSql("p")}) FILTER (p.has_file))::VARCHAR,
         any_value(f.content_type) FILTER (f.status = 'not chosen')
       FROM ${linksOf(location)} AS l LEFT JOIN ${files} AS f ON f.id = l.id
       LEFT JOIN ${files} AS p ON p.table_name = l.table_name AND p.record_id = l.record_id AND p.column_name = l.column_name
         AND p.position = l.position AND p.has_file
       WHERE (${isDue(bytesMax, now)}) AND l.link NOT IN (SELECT link FROM ${files} WHERE has_file AND link IS NOT NULL)
       GROUP BY l.link
       ORDER BY row_number() OVER (PARTITION BY regexp_extract(l.link, '^[^/]*//[^/?]*') ORDER BY l.link)`
    )
    .pipe(
      Stream.map(([link, url, owners, missingSince, record, typeLeftOut]): DueLink => ({
        link: link!,
        url: url!,
        owners: selected(owners),
        missingSince: missingSince ?? undefined,
        known: record === null ? undefined : selected(record),
        typeLeftOut: typeLeftOut ?? undefined
      }))
    )
})

/** Places whose file is stored already, for another record or before the record came back: no request is needed. */
export const storedElsewhere = Effect.fnUntraced(function* (location: string) {
  const files = filesSql(location)
  return yield* query(
    { owners: selected<ReadonlyArray<Owner>>, record: selected<FileRecord> },
    `SELECT ${ownersSql}::VARCHAR AS owners, any_value(${recordSql("p")})::VARCHAR AS record
     FROM ${linksOf(location)} AS l LEFT JOIN ${files} AS f ON f.id = l.id
     JOIN ${files} AS p ON p.link = l.link AND p.has_file
     WHERE f.id IS NULL OR NOT f.has_file OR f._deleted_at IS NOT NULL
     GROUP BY l.link`
  )
})

/** Rows of these columns whose record does not have the link any more. */
export const withoutLink = (columns: ReadonlyArray<LinkColumn>, location: string) =>
  columns.length === 0
    ? Effect.succeed([])
    : queryTexts(
        `SELECT id FROM crm.files WHERE location_id = ${literal(location)} AND _deleted_at IS NULL AND id NOT IN (SELECT id FROM ${linksOf(location)})
         AND (table_name, column_name) IN (${columns.map((one) => `(${literal(one.resource.table)}, ${literal(columnOfLink(one))})`).join(", ")})`
      )

/** What became of the links, by status; `status` is `undefined` for those that were not requested. */
export const linkStatuses = (location: string) =>
  query(
    { status: stringOf, ...numbers("count"), reason: orNull(String) },
    `SELECT f.status, count(DISTINCT l.link) AS count, min(f.reason) AS reason
     FROM ${linksOf(location)} AS l LEFT JOIN ${filesSql(location)} AS f ON f.id = l.id
     WHERE f.has_file IS NOT TRUE GROUP BY ALL ORDER BY ALL`
  )

/** What a fetch would bring. */
export interface NewFiles {
  /** Links without a file. */
  readonly files: number
  /** Those of them whose size their record says, and the bytes of these. */
  readonly sized: number
  readonly bytes: number
}

export const newFiles = Effect.fnUntraced(function* (columns: ReadonlyArray<LinkColumn>, location: string) {
  yield* findLinks(columns, location)
  const [found] = yield* query(
    numbers("files", "sized", "bytes"),
    `SELECT count(*) AS files, count(bytes) AS sized, coalesce(sum(bytes), 0) AS bytes FROM (
       SELECT link, max(l.bytes) AS bytes FROM ${linksOf(location)} AS l
       WHERE l.link NOT IN (SELECT link FROM ${filesSql(location)} WHERE (has_file OR status = 'gone') AND link IS NOT NULL) GROUP BY link)`
  )
  return found!
})
