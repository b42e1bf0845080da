/** OpenTelemetry: received by a server of the test, and decoded by the Python package of the OpenTelemetry project. */
import { afterAll, assert, beforeAll, beforeEach, describe, it } from "@effect/vitest"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { gunzipSync } from "node:zlib"
import { type Account, discard, openAlone } from "../support/account.ts"
import { python, runPython } from "../support/python.ts"
import { type Received, type Receiver, startReceiver } from "../support/receiver.ts"
import { newFolder, sluice } from "../support/sluice.ts"

/** Prints the messages of files as one JSON object for each; a file with an unknown field is an error. */
const program = `
import sys, json, pathlib
from google.protobuf import json_format, unknown_fields
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
kinds = {"traces": ExportTraceServiceRequest, "metrics": ExportMetricsServiceRequest, "logs": ExportLogsServiceRequest}
for path in sorted(pathlib.Path(sys.argv[1]).iterdir()):
    signal, form = path.name.split(".")[1:]
    message = kinds[signal]()
    if form == "pb":
        message.ParseFromString(path.read_bytes())
        assert len(unknown_fields.UnknownFieldSet(message)) == 0, path
    else:
        # In JSON, ids are hexadecimal; Python expects the general form of bytes.
        import base64
        def ids(pairs):
            return {k: base64.b64encode(bytes.fromhex(v)).decode() if k in ("traceId", "spanId", "parentSpanId") else v for k, v in pairs}
        json_format.ParseDict(json.loads(path.read_text(), object_pairs_hook=ids), message)
    print(json.dumps([signal, json_format.MessageToDict(message)]))
`

// oxlint-disable-next-line typescript/no-explicit-any
type Message = any

let account: Account
let receiver: Receiver
const secret = "s3cret-of-the-collector"

beforeAll(async () => {
  account = await openAlone("contacts,contact_notes,users", "--contacts", "6")
  receiver = await startReceiver()
})
afterAll(() => {
  receiver.stop()
  discard(account)
})
beforeEach(() => {
  receiver.received.length = 0
  receiver.answer = 200
})

const sync = (environment: Readonly<Record<string, string>> = {}) =>
  sluice(["sync", "--each", ...account.selection], {
    ...account.environment,
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${secret}`,
    ...environment
  })

/** The attributes of OpenTelemetry as an object. */
const plain = (attributes: ReadonlyArray<Message> = []): Readonly<Record<string, unknown>> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))

const decoded = (received: ReadonlyArray<Received>) => {
  const folder = mkdtempSync(join(newFolder(), "otlp-"))
  received.forEach(({ body, encoding, path, type }, index) => {
    const form = type === "application/json" ? "json" : "pb"
    const name = `${String(index).padStart(4, "0")}.${path.replace(/^.*\/v1\//, "")}.${form}`
    writeFileSync(join(folder, name), encoding === "gzip" ? gunzipSync(body) : body)
  })
  const messages: ReadonlyArray<readonly [string, Message]> = runPython(python!, program, folder)
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
  rmSync(folder, { recursive: true })
  const of = (signal: string) => messages.flatMap(([kind, message]) => (kind === signal ? [message] : []))
  const resources = messages.flatMap(([, message]) =>
    Object.values(message as Record<string, ReadonlyArray<Message>>).flatMap((all) =>
      all.map(({ resource }) => plain(resource.attributes))
    )
  )
  return {
    resources,
    spans: of("traces").flatMap(({ resourceSpans }) => resourceSpans[0].scopeSpans[0].spans as ReadonlyArray<Message>),
    logs: of("logs").flatMap(({ resourceLogs }) => resourceLogs[0].scopeLogs[0].logRecords as ReadonlyArray<Message>),
    /** Of the last export, whose counts are those of the whole run. */
    metrics: new Map<string, Message>(
      of("metrics")
        .at(-1)
        ?.resourceMetrics[0].scopeMetrics[0].metrics.map((metric: Message) => [metric.name, metric])
    )
  }
}

describe.skipIf(python === undefined)("OpenTelemetry", { tags: ["slow"] }, () => {
  it.each([
    ["http/protobuf", {}],
    ["http/json", { OTEL_EXPORTER_OTLP_PROTOCOL: "http/json" }],
    ["gzip", { OTEL_EXPORTER_OTLP_COMPRESSION: "gzip" }]
  ] as const)("gets the spans, metrics and log of a run (%s)", async (_, environment) => {
    const before = (await account.service.stats()).requests
    const { code, stderr } = await sync({ ...environment, OTEL_RESOURCE_ATTRIBUTES: "deployment.environment=test" })
    assert.strictEqual(code, 0, stderr)
    assert.notInclude(stderr, "OpenTelemetry")
    const requests = (await account.service.stats()).requests - before
    for (const { authorization, path } of receiver.received) {
      assert.match(path, /^\/v1\/(traces|metrics|logs)$/)
      assert.strictEqual(authorization, `Bearer ${secret}`)
    }
    const { logs, metrics, resources, spans } = decoded(receiver.received)
    for (const resource of resources)
      assert.deepInclude(resource, { "service.name": "sluice", "deployment.environment": "test" })

    // From the run to its requests, in one trace.
    const byId = new Map(spans.map((span) => [span.spanId, span]))
    const pathOf = (span: Message): ReadonlyArray<string> =>
      span.parentSpanId ? [...pathOf(byId.get(span.parentSpanId)), span.name] : [span.name]
    assert.strictEqual(new Set(spans.map(({ traceId }) => traceId)).size, 1)
    const root = spans.find(({ parentSpanId }) => !parentSpanId)
    assert.strictEqual(root.name, "sluice sync")
    assert.strictEqual(plain(root.attributes)["sluice.exit_code"], "0")
    const sent = spans.filter(({ kind }) => kind === "SPAN_KIND_CLIENT")
    assert.lengthOf(sent, requests)
    const notes = sent.find(({ name }) => name === "GET /contacts/{contactId}/notes")
    assert.includeMembers([...pathOf(notes)], ["sluice sync", "sync", "read contact_notes", "api.send"])
    assert.deepInclude(plain(notes.attributes), {
      "http.request.method": "GET",
      "http.response.status_code": "200",
      "url.template": "/contacts/{contactId}/notes",
      "server.address": "127.0.0.1"
    })

    // The counts are those that the service counts.
    const sumOf = (name: string) => {
      const points: ReadonlyArray<Message> = (metrics.get(name).sum ?? metrics.get(name).histogram).dataPoints
      return points.reduce((sum, { asDouble = 0, count }) => sum + Number(count ?? asDouble), 0)
    }
    assert.strictEqual(sumOf("http.client.request.duration"), requests)
    assert.strictEqual(metrics.get("http.client.request.duration").unit, "s")
    assert.strictEqual(sumOf("sluice.requests"), requests)
    assert.isAbove(sumOf("sluice.records"), 6)

    const texts = logs.map(({ body }) => body.stringValue)
    assert.include(texts, "plan made")
    const planned = logs.find(({ body }) => body.stringValue === "plan made")
    assert.isTrue(byId.has(planned.spanId), "a log entry belongs to a span")
  })

  it("gets no id, no text of the service and no secret, also of a run that fails", async () => {
    const contacts = await account.service.records("contacts")
    assert.strictEqual((await sync()).code, 0)
    assert.strictEqual((await sync({ SLUICE_TOKEN: "a-token-that-is-wrong" })).code, 77)
    const text = receiver.received.map(({ body }) => body.toString("latin1")).join("\n")
    const values = contacts.flatMap(({ id, email, phone, lastName }) => [id, email, phone, lastName])
    for (const value of values) if (typeof value === "string" && value.length > 4) assert.notInclude(text, value)
    assert.notInclude(text, "a-token-that-is-wrong")
    assert.notInclude(text, account.service.token)
    assert.notInclude(text, "/src/")
    const { spans } = decoded(receiver.received)
    const failed = spans.filter(({ status }) => status?.code === "STATUS_CODE_ERROR")
    assert.include([...new Set(failed.map(({ status }) => status.message))], "BadCredentials")
  })

  it("gets what the standard variables choose", async () => {
    const paths = async (environment: Readonly<Record<string, string>>) => {
      receiver.received.length = 0
      const { code, stderr } = await sync(environment)
      assert.strictEqual(code, 0, stderr)
      return { stderr, paths: [...new Set(receiver.received.map(({ path }) => path))].toSorted() }
    }
    const none = { OTEL_METRICS_EXPORTER: "none", OTEL_LOGS_EXPORTER: "none" }
    assert.deepStrictEqual((await paths(none)).paths, ["/v1/traces"])
    assert.deepStrictEqual((await paths({ ...none, OTEL_TRACES_EXPORTER: "none" })).paths, [])
    assert.deepStrictEqual((await paths({ OTEL_SDK_DISABLED: "true" })).paths, [])
    assert.deepStrictEqual((await paths({ OTEL_EXPORTER_OTLP_ENDPOINT: "" })).paths, [])
    const own = { OTEL_EXPORTER_OTLP_ENDPOINT: "", OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${receiver.url}/own` }
    assert.deepStrictEqual((await paths({ ...own, OTEL_SERVICE_NAME: "nightly" })).paths, ["/own"])
    const named = decoded(receiver.received.map((one) => ({ ...one, path: "/v1/traces" })))
    assert.strictEqual(named.resources[0]!["service.name"], "nightly")

    const grpc = await paths({ OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" })
    assert.deepStrictEqual(grpc.paths, [])
    assert.include(grpc.stderr, "choose http/protobuf or http/json")
    const wrong = await paths({ OTEL_EXPORTER_OTLP_ENDPOINT: "no address" })
    assert.deepStrictEqual(wrong.paths, [])
    assert.include(wrong.stderr, "cannot be understood")
  })

  it(
    "that fails costs one warning and a few seconds, and is not named with its address",
    { tags: ["slow"] },
    async () => {
      for (const answer of [500, "hang", "refused"] as const) {
        if (answer !== "refused") receiver.answer = answer
        const nowhere = answer === "refused" ? { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:1/${secret}` } : {}
        const begun = performance.now()
        const { code, stdout, stderr } = await sync(nowhere)
        assert.strictEqual(code, 0)
        assert.lengthOf(stderr.match(/The OpenTelemetry collector was not reached: it /g) ?? [], 1, stderr)
        assert.notInclude(stdout + stderr, secret)
        assert.isBelow(performance.now() - begun, 30_000)
      }
    }
  )
})

it("the spans of a run are one trace that begins with the command", async () => {
  const { code, stderr } = await sync({ OTEL_EXPORTER_OTLP_PROTOCOL: "http/json" })
  assert.strictEqual(code, 0, stderr)
  const spans = receiver.received
    .filter(({ path }) => path === "/v1/traces")
    .flatMap(({ body }) => JSON.parse(body.toString()).resourceSpans[0].scopeSpans[0].spans as ReadonlyArray<Message>)
  assert.strictEqual(new Set(spans.map(({ traceId }) => traceId)).size, 1)
  assert.deepStrictEqual(
    spans.filter(({ parentSpanId }) => !parentSpanId).map(({ name }) => name),
    ["sluice sync"]
  )
  for (const { body } of receiver.received) assert.notInclude(body.toString(), account.service.token)
})
