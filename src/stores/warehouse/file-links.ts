/**
 * The links to files in the tables, and which of them are due to be fetched: a link is due if no row of `crm.files` has its
 * file, and a request may bring it. The queue is this comparison, so a crash costs only the files that were being fetched.
 */
import { Effect, Stream } from "effect"
import { type LinkColumn, columnOfLink } from "../../catalog/link-columns.ts"
import { snakeCase } from "../../catalog/fields.ts"
import { keyText } from "../../catalog/tables.ts"
import { query, queryNumber, queryRow, queryTexts } from "./query.ts"
import { numbers, orNull } from "../../values/rows.ts"
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
  /** Its file, if that is stored. */
  readonly stored: FileRecord | undefined
  /** What its record says of the file. */
  readonly said: { readonly name: string | null; readonly type: string | null; readonly bytes: number | null }
  /** The type for which an earlier run did not store the file. */
  readonly typeLeftOut: string | undefined
}

/** Locations are read side by side, so each has tables of its own in memory. */
const tableOf = (what: string, location: string): string => `memory.main.${name(`${what} ${location}`)}`
const linksOf = (location: string) => tableOf("links", location)
const damagedOf = (location: string) => tableOf("damaged files", location)

const versionFour = "Algorithm|Content-Sha256|Credential|Date|Expires|Signature|SignedHeaders"
/**
 * The signatures that expire: the parameters that each has, and all that it may have. A parameter of another name, or one of
 * these alone, may say which file is meant, so it is part of the link.
 */
const signatures: ReadonlyArray<{ readonly has: ReadonlyArray<string>; readonly all: string }> = [
  { has: ["X-Amz-Signature"], all: `X-Amz-(?:${versionFour}|Security-Token)|response-content-disposition` },
  { has: ["X-Goog-Signature"], all: `X-Goog-(?:${versionFour})|response-content-disposition` },
  {
    has: ["AWSAccessKeyId", "Signature", "Expires"],
    all: "AWSAccessKeyId|Signature|Expires|response-content-disposition"
  },
  { has: ["GoogleAccessId", "Signature", "Expires"], all: "GoogleAccessId|Signature|Expires" },
  { has: ["Key-Pair-Id", "Signature"], all: "Key-Pair-Id|Signature|Expires|Policy" },
  { has: ["sig", "se", "sv"], all: "sig|se|sp|st|sv|sr|spr|sip|sks|skt|ske|skv|skoid|sktid" }
]
const parameter = (names: string) => `[?&](${names})=[^&#]*`

/** The link without a signature that expires. */
export const linkSql = (url: string): string => {
  const bare = `regexp_replace(${url}, '#.*$', '', 's')`
  const cases = signatures.map(({ all, has }) => {
    const isSigned = has.map((name) => `regexp_matches(${bare}, ${literal(parameter(name))}, 'i')`).join(" AND ")
    return `WHEN ${isSigned} THEN regexp_replace(regexp_replace(${bare}, ${literal(parameter(all))}, '', 'gi'), '^([^?]*?)&', '\\1?')`
  })
  return `CASE ${cases.join(" ")} ELSE ${bare} END`
}

/** Those of the texts that are the link, apart from what expires. */
export const sameLinks = (texts: ReadonlyArray<string>, link: string) =>
  queryTexts(
    `SELECT url FROM unnest([${texts.map(literal).join(", ")}]::VARCHAR[]) AS t(url) WHERE ${linkSql("url")} = ${literal(link)}`
  )

/** Finds the links of these columns in the records that are there. */
export const findLinks = Effect.fn("warehouse.findLinks")(function* (
  columns: ReadonlyArray<LinkColumn>,
  location: string
) {
  const { run } = yield* Warehouse
  const found = tableOf("found links", location)
  yield* run(
    `CREATE OR REPLACE TABLE ${found} (table_name VARCHAR, record_id VARCHAR, column_name VARCHAR, row BIGINT, node BIGINT, url VARCHAR, around JSON)`
  )
  for (const column of columns) yield* run(`INSERT INTO ${found} ${foundSql(column, location)}`)
  yield* run(
    `CREATE OR REPLACE TABLE ${linksOf(location)} AS
     SELECT table_name, record_id, column_name, link, md5(concat_ws(chr(31), table_name, record_id, column_name, link)) AS id,
       min(place)::BIGINT AS position, max(${addressSql}) AS url, max(name) AS name, max(type) AS type, max(bytes) AS bytes
     FROM (SELECT table_name, record_id, column_name, url, ${linkSql(addressSql)} AS link, ${nameSql} AS name, ${typeSql} AS type, ${bytesSql} AS bytes,
             row_number() OVER (PARTITION BY table_name, record_id, column_name ORDER BY row, node) - 1 AS place FROM ${found})
     GROUP BY ALL;
     DROP TABLE ${found};
     CREATE OR REPLACE TABLE ${damagedOf(location)} (path VARCHAR)`
  )
})

/** The links in the values of a column: each with its place, and with the object of JSON around it. */
const foundSql = (column: LinkColumn, location: string): string => {
  const { fieldColumn, isJson, resource, table } = column
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
  const source = `(SELECT rowid AS row, ${record}::VARCHAR AS record_id, ${value} AS sent FROM crm.${name(table.name)}
     WHERE location_id = ${literal(location)} AND regexp_matches(${value}::VARCHAR, '${isJson ? "//" : "/"}') AND ${isListed} AND ${isFile})`
  const place = `${literal(resource.table)}, record_id, ${literal(columnOfLink(column))}, row`
  if (!isJson) return `SELECT ${place}, 0, sent, NULL FROM ${source} WHERE ${isLink("sent", "/?")}`
  return `SELECT ${place}, n.id, n.atom->>'$', ${aroundSql} FROM ${source}, json_tree(sent) AS n
     WHERE n.type = 'VARCHAR' AND ${isLink("(n.atom->>'$')")} AND NOT regexp_matches(n.fullkey, '\\.meta(\\.|\\[|$)')`
}

/** `rest`: what may follow the first stroke of a link without a scheme. */
const isLink = (text: string, rest = "/") => `regexp_matches(${text}, '^\\s*(https?:/${"/"}|/${rest}[^/\\s])', 'i')`
/** A link as people paste it, without the blanks around it, or that takes its scheme from the page. */
const addressSql =
  "if(starts_with(trim(url, E' \\t\\r\\n'), '//'), 'https:' || trim(url, E' \\t\\r\\n'), trim(url, E' \\t\\r\\n'))"

/** The object that has the text, or the array with it. An odd name of a member, which the path does not quote, finds none. */
const aroundSql = `TRY(json_extract(sent, if(json_type(sent, n.path) = 'OBJECT', n.path, regexp_replace(n.path, '(\\[\\d+\\])+$', ''))))`
/** What the object says of the file, or its member `meta`. */
const about = (member: string) => `coalesce(around->>'$.${member}', around->>'$.meta.${member}')`
const nameSql = `coalesce(${["originalname", "name", "fileName", "filename"].map((one) => `nullif(${about(one)}, '')`).join(", ")})`
const typeSql = `coalesce(${["mimetype", "mimeType", "contentType", "content_type"].map((one) => `nullif(${about(one)}, '')`).join(", ")})`
const bytesSql = `try_cast(regexp_extract(${about("size")}, '^\\d{1,15}$') AS BIGINT)`

/** The files that rows of `crm.files` name. `since`: those fetched later; epoch milliseconds. */
export const knownFiles = (location: string, since: number | undefined) =>
  query(
    {
      path: String,
      sha256: String,
      ...numbers("bytes"),
      url: String,
      name: orNull(String),
      foundType: orNull(String),
      contentType: orNull(String)
    },
    `SELECT path, sha256, bytes, min(url) AS url, min(name) AS name, min(found_type) AS "foundType", min(content_type) AS "contentType"
     FROM crm.files WHERE location_id = ${literal(location)} AND path IS NOT NULL
     ${since === undefined ? "" : `AND fetched_at > ${instantOf(since)}`} GROUP BY path, sha256, bytes`
  )

/** What the files of all locations take. */
export const storedBytes = queryNumber(
  "SELECT coalesce(sum(bytes), 0) FROM (SELECT DISTINCT path, bytes FROM crm.files WHERE path IS NOT NULL)"
)

/** Makes the links to these files due again. */
export const noteDamaged = Effect.fnUntraced(function* (
  location: string,
  files: ReadonlyArray<{ readonly path: string }>
) {
  for (const sql of insertStatements(
    damagedOf(location),
    files.map(({ path }) => `(${literal(path)})`)
  ))
    yield* (yield* Warehouse).run(sql)
})

/** Rows `f` of `crm.files`, and whether each has its file. */
const filesSql = (location: string) =>
  `(SELECT *, path IS NOT NULL AND path NOT IN (FROM ${damagedOf(location)}) AS has_file FROM crm.files WHERE location_id = ${literal(location)})`

/** A file that was too large or missing is requested again only under these conditions. */
const isDue = (bytesMax: number, now: number) =>
  `f.id IS NULL OR (NOT f.has_file AND f.status <> 'gone' AND (f.status <> 'too large' OR f.bytes IS NULL OR f.bytes <= ${bytesMax})
     AND (f.missing_since IS NULL OR f.checked_at::DATE < ${instantOf(now)}::DATE))`

/** What the record that made a row of `files` said of its file. */
const recordFields = "url,link,status,path,bytes,sha256,contentType,foundType,etag,lastModified,fetchedAt".split(",")
const recordSql = `json_object(${recordFields.map((field) => `${literal(field)}, ${snakeCase(field)}`).join(", ")})`

/**
 * The files that are due, each once; hosts take turns, and what was requested without success is last. Those that are stored already, for another record or before their
 * record came back, need no request. `types` of earlier answers that are not wanted are left to the caller.
 */
export const dueLinks = Effect.fnUntraced(function* (location: string, bytesMax: number, now: number) {
  const files = filesSql(location)
  return (yield* Warehouse)
    .stream(
      `SELECT l.link, max(l.url), max(f.missing_since)::VARCHAR, any_value(s.record)::VARCHAR,
         json_object('name', any_value(l.name), 'type', any_value(l.type), 'bytes', max(l.bytes))::VARCHAR,
         any_value(f.content_type) FILTER (f.status = 'not chosen'),
         json_group_array(json_object('id', l.id, 'tableName', l.table_name, 'recordId', l.record_id, 'columnName', l.column_name,
           'position', l.position, 'name', l.name))::VARCHAR
       FROM ${linksOf(location)} AS l LEFT JOIN ${files} AS f ON f.id = l.id
       LEFT JOIN (SELECT link, any_value(${recordSql}) AS record FROM ${files} WHERE has_file GROUP BY link) AS s ON s.link = l.link
       WHERE if(s.link IS NULL, ${isDue(bytesMax, now)}, f.id IS NULL OR NOT f.has_file OR f._deleted_at IS NOT NULL)
       GROUP BY l.link
       ORDER BY any_value(s.link) IS NULL, row_number() OVER (PARTITION BY regexp_extract(l.link, '^[^/]*//[^/?]*') ORDER BY max(f.checked_at) NULLS FIRST, l.link)`
    )
    .pipe(
      Stream.map(([link, url, missingSince, stored, said, typeLeftOut, owners]): DueLink => ({
        link: String(link),
        url: String(url),
        owners: selected(owners),
        missingSince: missingSince ?? undefined,
        stored: stored === null ? undefined : selected(stored),
        said: selected(said),
        typeLeftOut: typeLeftOut ?? undefined
      }))
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

/** What a fetch would bring: links without a file, those of them whose size their record says, and the bytes of these. */
export const newFiles = Effect.fnUntraced(function* (columns: ReadonlyArray<LinkColumn>, location: string) {
  yield* findLinks(columns, location)
  return yield* queryRow(
    numbers("files", "sized", "bytes"),
    `SELECT count(*) AS files, count(bytes) AS sized, coalesce(sum(bytes), 0) AS bytes FROM (
       SELECT link, max(l.bytes) AS bytes FROM ${linksOf(location)} AS l
       WHERE l.link NOT IN (SELECT link FROM ${filesSql(location)} WHERE (has_file OR status = 'gone') AND link IS NOT NULL) GROUP BY link)`
  )
})
