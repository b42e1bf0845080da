import { assert, it } from "@effect/vitest"
import { Cause } from "effect"
import { chownSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Writable } from "node:stream"
import { CommandError, explained, explanationOf } from "../../src/console/errors.ts"
import { Output } from "../../src/console/streams.ts"
import { printError } from "../../src/console/result.ts"
import { explainFailure } from "../../src/command/work.ts"
import { newFolder, sluice } from "../support/sluice.ts"
import { BadCredentials, BudgetExhausted } from "../../src/stages/api/errors.ts"
import { Failure, FailureReason, failure, fileFailure, headingOf } from "../../src/values/failure.ts"
import { Reason } from "../../src/values/reason.ts"

const reasons: ReadonlyArray<readonly [FailureReason, ends: string, pattern: RegExp]> = [
  [
    { _tag: "FileFailed", path: "o/vault", operation: "written", detail: "ENOSPC: no space" },
    "failed",
    /^o\/vault could not be written: ENOSPC: no space\. .* kept\. Free disk space, then/
  ],
  [
    {
      _tag: "FileFailed",
      path: "/nowhere/out/crm.sqlite",
      operation: "written",
      detail: "ENOENT: no such file or directory, open '/nowhere/out/crm.sqlite'"
    },
    "failed",
    /^\/nowhere\/out\/crm\.sqlite could not .* Create the folder \/nowhere\/out: of it, only \/ exists, then/
  ],
  [
    { _tag: "FileFailed", path: "/gone", operation: "read", detail: "ENOENT: no such file or directory, open '/gone'" },
    "failed",
    /Put \/gone back, or find out what removed it, then/
  ],
  [
    { _tag: "FileFailed", path: "/o", operation: "written", detail: "EROFS: read-only file system, open '/o'" },
    "failed",
    /Name a place that is not read-only, then/
  ],
  [
    { _tag: "FileFailed", path: "/o", operation: "written", detail: "EIO: i/o error, write" },
    "failed",
    /Free disk space or correct the permissions, then/
  ],
  [{ _tag: "WarehouseNotFound", path: "o/w" }, "failed", /^There is no warehouse at o\/w yet\. \.\/sluice sync$/],
  [
    { _tag: "WarehouseLocked", path: "o/w", isRun: true, pid: 8, program: "sluice sync" },
    "locked",
    /^sluice sync \(process 8\) is working in o\. Nothing was changed\. \.\/sluice status shows its progress\. .*--wait 10m/
  ],
  [
    { _tag: "WarehouseLocked", path: "o/w", isRun: false, pid: undefined, program: undefined },
    "locked",
    /^Another program \(unknown\) has o\/w open\. .* Close the file there/
  ],
  [
    { _tag: "WarehouseDamaged", path: "o/w", detail: "Corrupt" },
    "damaged",
    /^The warehouse o\/w is damaged: Corrupt\. Restore o from a backup, or move o\/w away: \.\/sluice sync/
  ],
  [
    { _tag: "OutOfMemory", path: "o/w", memoryMb: 96, detail: "Out of Memory" },
    "failed",
    /^DuckDB needs more than \d+ MB of memory .* Set machine\.memory_mb to \d+ /
  ],
  [{ _tag: "StatementRejected", path: "o/w", detail: "Binder Error" }, "failed", /defect of sluice: Binder Error/],
  [
    { _tag: "VaultDamaged", folder: "o/vault", detail: "segment 1 is damaged at byte 7" },
    "failed",
    /^The vault in o\/vault: segment 1 is damaged at byte 7\. Run \.\/sluice verify, .* backup/
  ],
  [
    { _tag: "PublishedIsForeign", path: "o/published" },
    "failed",
    /^o\/published exists and is not a link that sluice created.* Move o\/published away/
  ],
  [
    { _tag: "UnknownSelection", flag: "--only", name: "kontacts", families: ["crm", "payments"] },
    "usage",
    /^--only kontacts: there is no such table or family\. Families are crm, payments\. /
  ],
  [
    { _tag: "UnknownSelection", flag: "--only", name: "contcts", closest: "contacts", families: ["crm"] },
    "usage",
    /^--only contcts: there is no such table or family; did you mean contacts\? /
  ],
  [
    { _tag: "OutputFolderUnusable", folder: "/proc/nope", detail: "the system does not allow a folder in /proc" },
    "config",
    /^The output folder \/proc\/nope cannot be created: the system .* --output/
  ],
  [{ _tag: "NothingSelected", only: ["tasks"], except: ["tasks"] }, "usage", /--except tasks: nothing is left to read/],
  [
    { _tag: "NoDateFilter", tables: ["users"], dated: ["messages"] },
    "usage",
    /^users: the API has no date filter for this\. It has one for messages\. \.\/sluice sync --again all --only users$/
  ],
  [
    { _tag: "ReserveTooLarge", reserve: 1000, dailyMax: 600 },
    "config",
    /^budget\.reserve_per_day reserves 1000 .* Write reserve_per_day = 60 under \[budget\]/
  ],
  [
    { _tag: "CertificateRejected", host: "api.test", detail: "CERT_HAS_EXPIRED" },
    "config",
    /^The certificate of api\.test is not trusted \(CERT_HAS_EXPIRED\).* NODE_EXTRA_CA_CERTS/
  ],
  [
    { _tag: "NothingAnswers", host: "api.tset", detail: "getaddrinfo ENOTFOUND api.tset" },
    "config",
    /^No list has been read from api\.tset yet, and nothing answers there \(getaddrinfo ENOTFOUND api\.tset\)\. Check account\.base_url/
  ],
  [
    { _tag: "Redirected", from: "http://api.test", base: "https://api.test/v2" },
    "config",
    /^http:\/\/api\.test is not the address of the API.* write base_url = "https:\/\/api\.test\/v2"/
  ],
  [
    { _tag: "Redirected", from: "https://api.test", base: "http://api.test" },
    "config",
    /redirects to http:\/\/api\.test\. Nothing was sent there\. Check account\.base_url: that address is not encrypted/
  ],
  [
    { _tag: "WrongProtocol", host: "api.test", protocol: "HTTPS", detail: "wrong version number" },
    "config",
    /^api\.test does not speak HTTPS \(wrong version number\)\. Check account\.base_url/
  ]
]

it.each(reasons)("%j is explained with a message, a next step and an exit code", (reason, ends, pattern) => {
  const explanation = explanationOf(failure(reason))!
  assert.strictEqual(explanation.ends, ends)
  assert.match(`${explanation.message} ${explanation.next}`, pattern)
})

it("the message of a failed publish states that the previous release stays published", () => {
  const { reason } = fileFailure("o/.published/000002-r.building/crm.duckdb", "written", new Error("ENOSPC"))
  const { message } = explanationOf(new Failure({ reason, unpublished: "o/published" }))!
  assert.match(
    message,
    /^Nothing was published into o\/published, which still shows its previous release\. o\/\.published.* ENOSPC/
  )
})

const account = { location: "L", tokenName: "locations.L.token (env:NORTH)" }

it("the time from which the service accepts requests again is data beside the message, printed as an instant", () => {
  const resumeAt = Date.parse("2026-03-01T00:00:00Z")
  const paused = new BudgetExhausted({ message: "the day's requests are used up", resumeAt })
  const lines: Array<string> = []
  const stream = new Writable({
    write: (chunk, _, done) => {
      lines.push(String(chunk))
      done()
    }
  })
  const output = Output.make({ stdout: stream, stderr: stream }, {})
  const failed = explainFailure(output, Cause.fail(explained(account)(paused)))
  assert.deepInclude(failed, { exitCode: 75, code: "later", resumeAt: "2026-03-01T00:00:00.000Z" })
  assert.include(failed.next, "after 2026-03-01T00:00:00.000Z")
  printError(output, failed)
  assert.strictEqual(JSON.parse(lines.at(-1)!).error.resumeAt, "2026-03-01T00:00:00.000Z")
  const unknown = explainFailure(
    output,
    Cause.fail(explained(account)(new BudgetExhausted({ message: "the deadline" })))
  )
  assert.notProperty(unknown, "resumeAt")
})

it("each error names the heading of docs/messages.md that has its cause and what to do", () => {
  const page = readFileSync(new URL("../../docs/messages.md", import.meta.url), "utf8")
  const headings = new Set(Array.from(page.matchAll(/^### (.+)$/gm), ([, heading]) => heading!))
  const errors = [
    ...reasons.map(([reason]) => failure(reason)),
    explained(account)(new BudgetExhausted({ message: "m" }))
  ]
  for (const error of errors) {
    const about = explanationOf(error)?.about
    assert.isTrue(headings.has(about!), `${about} is no heading`)
  }
  for (const { _tag } of [...Object.values(FailureReason.cases), ...Object.values(Reason.cases)].map((one) => ({
    _tag: one.fields._tag.ast.literal
  })))
    if (_tag !== "Text") assert.isTrue(headings.has(headingOf(String(_tag))), String(_tag))
})

it("prints the heading before the next step, and as a field of the JSON", async () => {
  const { code, stderr, stdout } = await sluice(["sync", "--json", "--only", "nothing_like_this"], {
    SLUICE_BASE_URL: "http://127.0.0.1:9",
    SLUICE_TOKEN: "t",
    SLUICE_LOCATION_ID: "l",
    SLUICE_OUTPUT: newFolder()
  })
  assert.strictEqual(code, 2, stderr)
  assert.match(stderr, /\nAbout this message: docs\/messages\.md#unknown-selection\nNext: /)
  assert.strictEqual(JSON.parse(stdout).error.about, "unknown-selection")
})

it("an explanation is not changed, and a defect has none", () => {
  const error = new CommandError({ ends: "usage", message: "m", next: "n" })
  assert.strictEqual(explained(account)(error), error)
  assert.strictEqual(explanationOf(error), error)
  assert.isUndefined(explanationOf(new Error("defect")))
})

it("a refused token is explained with the next step for its kind, and with the setting to change", () => {
  const explain = (kind: "private" | "oauth") => {
    const { message, next } = explained(account)(new BadCredentials({ kind, message: "400 invalid_grant" }))
    return message + next
  }
  assert.match(explain("private"), /Set locations\.L\.token \(env:NORTH\) to a valid token/)
  assert.match(explain("oauth"), /invalid_grant.*Authorise the app again and set locations\.L\.token/)
  assert.notInclude(explain("oauth") + explain("private"), "SLUICE_TOKEN")
})

it("no command suggests a sync into a folder of other files, and each does for an empty one", async () => {
  const [folder, empty] = [newFolder(), newFolder()]
  writeFileSync(join(folder, "passwd"), "")
  for (const command of [
    "status",
    "check",
    "prune",
    "verify",
    "report",
    "publish",
    "rebuild",
    "explore",
    "ledger verify"
  ]) {
    const said = async (output: string) => (await sluice([...command.split(" "), "--output", output], {})).stderr
    assert.include(await said(empty), `./sluice sync --output ${empty}`, command)
    const foreign = await said(folder)
    assert.notInclude(foreign, "sluice sync", command)
    assert.include(foreign, `${folder} has files, and none of them is of sluice`, command)
  }
})

it.skipIf(process.getuid?.() !== 0)("what a user may not do with the file of another one is a verb", () => {
  const path = join(newFolder(), "of-another")
  writeFileSync(path, "")
  chownSync(path, 1, 1)
  const verbs = {
    opened: "open",
    created: "create",
    read: "read",
    written: "write",
    replaced: "replace",
    moved: "move"
  }
  for (const [operation, verb] of Object.entries({ ...verbs, removed: "remove" }) as ReadonlyArray<["read", string]>) {
    const detail = `EACCES: permission denied, open '${path}'`
    const found = explanationOf(new Failure({ reason: { _tag: "FileFailed", path, operation, detail } }))!
    assert.include(found.message, ` may not ${verb} it.`)
  }
})
