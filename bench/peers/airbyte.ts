/**
 * The streams of the compared lists in the low-code language of Airbyte's development kit. This is our own description, by the
 * documents of the API: the published connector reads through a proxy that is paid for, which offers fewer parameters.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Account } from "../measure.ts"
import { lists, type Row, type Rows } from "./judge.ts"

type Json = Readonly<Record<string, unknown>>

const here = { locationId: "{{ config['location'] }}" }
const alt = { altId: "{{ config['location'] }}", altType: "location" }

interface Stream {
  readonly path: string
  readonly records: string
  readonly parameters: Json
  readonly body?: Json
  readonly paginator?: Json
}

const paginator = (strategy: Json, token: Json, more: Json = {}): Json => ({
  type: "DefaultPaginator",
  pagination_strategy: strategy,
  page_token_option: token,
  ...more
})

const inject = (where: string, name: string): Json => ({ type: "RequestOption", inject_into: where, field_name: name })

const byOffset = (parameter: string): Json =>
  paginator(
    { type: "OffsetIncrement", page_size: 100, inject_on_first_request: true },
    inject("request_parameter", parameter),
    {
      page_size_option: inject("request_parameter", "limit")
    }
  )

const byCursor = (size: number, value: string, token: Json): Json =>
  paginator(
    {
      type: "CursorPagination",
      cursor_value: `{{ ${value} }}`,
      stop_condition: `{{ last_page_size < ${size} }}`,
      page_size: size
    },
    token
  )

const streams: Readonly<Record<string, Stream>> = {
  contacts: {
    path: "/contacts/search",
    records: "contacts",
    parameters: {},
    body: { ...here, pageLimit: 500 },
    paginator: byCursor(500, "last_record['searchAfter']", inject("body_json", "searchAfter"))
  },
  opportunities: {
    path: "/opportunities/search",
    records: "opportunities",
    parameters: {
      ...here,
      limit: "100",
      startAfterId: "{{ next_page_token['next_page_token'].split('|')[1] if next_page_token else '' }}",
      startAfter: "{{ next_page_token['next_page_token'].split('|')[0] if next_page_token else '' }}"
    },
    paginator: {
      type: "DefaultPaginator",
      pagination_strategy: {
        type: "CursorPagination",
        cursor_value: "{{ response.meta.startAfter }}|{{ response.meta.startAfterId }}",
        stop_condition: "{{ last_page_size < 100 }}",
        page_size: 100
      }
    }
  },
  conversations: {
    path: "/conversations/search",
    records: "conversations",
    parameters: { ...here, limit: "100", sortBy: "last_message_date", sort: "desc" },
    paginator: byCursor(
      100,
      "format_datetime(last_record['lastMessageDate'], '%ms')",
      inject("request_parameter", "startAfterDate")
    )
  },
  users: {
    path: "/users/search",
    records: "users",
    parameters: { ...here, companyId: "{{ config['company'] }}" },
    paginator: byOffset("skip")
  },
  calendars: { path: "/calendars/", records: "calendars", parameters: here },
  invoices: { path: "/invoices/", records: "invoices", parameters: alt, paginator: byOffset("offset") },
  orders: { path: "/payments/orders", records: "data", parameters: alt, paginator: byOffset("offset") }
}

const manifestFor = ({ url }: Account): Json => ({
  version: "7.0.0",
  type: "DeclarativeSource",
  check: { type: "CheckStream", stream_names: ["calendars"] },
  spec: { type: "Spec", connection_specification: { type: "object", properties: {} } },
  streams: Object.entries(streams).map(([name, { body, paginator, parameters, path, records }]) => ({
    type: "DeclarativeStream",
    name,
    primary_key: [lists[name]!.id],
    schema_loader: { type: "InlineSchemaLoader", schema: openSchema },
    retriever: {
      type: "SimpleRetriever",
      requester: {
        type: "HttpRequester",
        url_base: url,
        path,
        http_method: body ? "POST" : "GET",
        authenticator: { type: "BearerAuthenticator", api_token: "{{ config['token'] }}" },
        request_headers: { Version: "v3" },
        request_parameters: parameters,
        ...(body && { request_body_json: body })
      },
      record_selector: { type: "RecordSelector", extractor: { type: "DpathExtractor", field_path: [records] } },
      ...(paginator && { paginator })
    }
  }))
})

const openSchema = { type: "object", additionalProperties: true, properties: {} }

/** Each list is read in full, and replaces what was there. */
export const prepareAirbyte = (account: Account, folder: string): void => {
  const { companyId: company, locationId: location, token } = account
  const config = { token, location, company, __injected_declarative_manifest: manifestFor(account) }
  const catalog = Object.keys(streams).map((name) => ({
    stream: { name, json_schema: openSchema, supported_sync_modes: ["full_refresh"] },
    sync_mode: "full_refresh",
    destination_sync_mode: "overwrite"
  }))
  writeFileSync(join(folder, "config.json"), JSON.stringify(config))
  writeFileSync(join(folder, "catalog.json"), JSON.stringify({ streams: catalog }))
}

/** The records that the last run has printed. */
export const airbyteRows = (file: string): Rows => {
  const rows: Record<string, Array<Row>> = {}
  if (!existsSync(file)) return rows
  for (const line of readFileSync(file, "utf8").split("\n")) {
    if (!line.startsWith('{"type":"RECORD"')) continue
    const { record } = JSON.parse(line) as { readonly record: { readonly stream: string; readonly data: Row } }
    ;(rows[record.stream] ??= []).push(record.data)
  }
  return rows
}
