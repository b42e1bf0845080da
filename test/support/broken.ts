/** Damages copies of an output folder, and returns the findings of `sluice verify`. */
import { DuckDBInstance } from "@duckdb/node-api"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Catalogue, discover } from "../../src/catalog/discover.ts"
import { failure } from "../../src/values/failure.ts"
import { type Checked, type Part, type VerifyFinding, isWrong } from "../../src/values/finding.ts"
import { nextStep, verify } from "../../src/features/verify/verify.ts"
import { Warehouse } from "../../src/stores/warehouse/warehouse.ts"
import { type Account, accountIn, knowingOnly, serviceOf, usualScale } from "./account.ts"
import { copyOf, fixture, prepareIn } from "./fixtures.ts"
import { restrictedTo, sluice } from "./sluice.ts"

interface Result {
  readonly isRight: boolean
  readonly checks: ReadonlyArray<Pick<Checked, "check" | "looked" | "findings">>
  readonly sample?: Readonly<Record<string, number>>
  readonly next: string
}

export interface Verified {
  /** As `check: where: what`. */
  readonly wrong: ReadonlyArray<string>
  readonly notes: ReadonlyArray<string>
  readonly result: Result
}

/** The tables that an account and its commands know; without any, all. */
const selections = {
  all: undefined,
  /** Tables of every kind that the checks distinguish: lists, children, details, child tables, recordings, another key. */
  some:
    "locations,users,contacts,contact_notes,tasks,pipelines,opportunities,conversations,messages,emails,recordings," +
    "transcript_sentences,orders,forms,form_submissions,calendars,appointments,redirects",
  /** For tests of the vault and of whole commands, which take time for each table that is not empty. */
  few: "locations,contacts,pipelines",
  /** Tables with values and fields that the definitions do not contain. */
  drifting: "opportunities,blogs,blog_posts",
  /** Lists without children and details. */
  lists: "conversations,redirects,forms,surveys"
} as const
type Selection = keyof typeof selections

/** An output folder with the definitions of its tables. */
interface Checkable {
  readonly output: string
  readonly catalogue: Catalogue
}

/** A copy of an account after two runs; its service has the state before the change. */
export const openSynced = async (selection: Selection): Promise<Account & Checkable> => {
  const kept = await fixture(`synced-${selection}`, async (folder) => {
    cpSync(await syncedOnce(selection), folder, { recursive: true })
    const account = await accountOf(folder, selection)
    await changeAndSync(account)
    account.service.stop()
  })
  const [tables, all] = [selections[selection], await discover()]
  return {
    ...(await openKept(kept, selection)),
    catalogue: tables === undefined ? all : restrictedTo(tables)(all)
  }
}

/** As `openSynced` with all tables, but the service has the state after the change. */
export const openSyncedLive = async (): Promise<Account> => {
  const account = await openKept(await syncedOnce("all"), "all")
  await changeAndSync(account)
  // Their URLs contain the port of the service, which differs from that of the first sync.
  await syncWith(account, "--again=all", "--only", "email_campaigns,email_templates")
  return account
}

const syncedOnce = (selection: Selection): Promise<string> =>
  fixture(`synced-once-${selection}`, async (folder) => {
    writeFileSync(join(folder, "now"), new Date().toISOString())
    mkdirSync(join(folder, "output"))
    if (selection === "all") await prepareIn(join(folder, "output"))
    const account = await accountOf(folder, selection)
    await syncWith(account)
    account.service.stop()
  })

/** Some records of several resources change between the two runs. */
const changeAndSync = async (account: Account): Promise<void> => {
  await account.service.post("change", { contacts: 0.1, opportunities: 0.1, conversations: 0.1, orders: 0.1 })
  await syncWith(account)
}

const syncWith = async (account: Account, ...flags: ReadonlyArray<string>): Promise<void> => {
  const ran = await account.sync(...flags)
  assert.strictEqual(ran.code, 0, ran.stderr)
}

/** A copy of the output folder of a fixture, with its service. */
const openKept = async (kept: string, selection: Selection): Promise<Account> =>
  accountOf(kept, selection, copyOf(join(kept, "output")))

const accountOf = async (kept: string, selection: Selection, output = join(kept, "output")): Promise<Account> => {
  const account = accountIn(output, await serviceOf(kept, usualScale))
  const tables = selections[selection]
  return tables === undefined ? account : knowingOnly(account, tables)
}

/** Damages a copy of the output folder and runs `sluice verify` on it. */
export const verifyBroken = async (
  { environment, output }: Account,
  damage: (folder: string) => unknown,
  ...flags: ReadonlyArray<string>
): Promise<Verified> => {
  const folder = copyOf(output)
  try {
    await damage(folder)
    const ran = await sluice(["verify", "--json", ...flags], { ...environment, SLUICE_OUTPUT: folder })
    const { data, next } = JSON.parse(ran.stdout || assert.fail(ran.stderr))
    const result: Result = { ...data, next }
    const [wrong, notes] = [findingsOf(result.checks, "wrong"), findingsOf(result.checks, "note")]
    assert.strictEqual(ran.code, result.isRight ? 0 : 1)
    assert.strictEqual(result.isRight, wrong.length === 0)
    return { wrong, notes, result }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

export interface Checks extends Omit<Verified, "result"> {
  /** The parts in which something is wrong; they decide the next step. */
  readonly parts: ReadonlyArray<Part>
  readonly next: string
  readonly looked: (check: string) => string
}

/**
 * As `verifyBroken`, without the replay of the vault, which other tests cover and which takes longer than all other
 * checks. The checks run without the command.
 */
export const checkBroken = async (
  { catalogue, output }: Checkable,
  damage: (folder: string) => unknown
): Promise<Checks> => {
  const folder = copyOf(output)
  try {
    await damage(folder)
    return await checksOf(folder, catalogue)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Runs every check except the replay on a folder, for the tables of these definitions. */
export const checksOf = async (folder: string, catalogue: Catalogue): Promise<Checks> => {
  const replay = () => Effect.fail(failure({ _tag: "StatementRejected", path: folder, detail: "not replayed" }))
  const all = await Effect.runPromise(
    verify(catalogue, { folder, formats: [], memoryMb: 256 }, { all: false, replay }, () => Effect.void).pipe(
      Effect.provide(Warehouse.layer(join(folder, "warehouse.duckdb"), { access: "read", memoryMb: 128 }))
    )
  )
  const checked = all.filter(({ check }) => check !== "replay")
  return {
    wrong: findingsOf(checked, "wrong"),
    notes: findingsOf(checked, "note"),
    parts: [...new Set(checked.filter(isWrong).map(({ part }) => part))],
    next: nextStep(checked, []),
    looked: (name) => checked.find(({ check }) => check === name)!.looked
  }
}

/** A catalogue with these definitions only. */
export const catalogueOf = async (...tables: ReadonlyArray<string>): Promise<Catalogue> => {
  const catalogue = await discover()
  return { ...catalogue, resources: catalogue.resources.filter(({ table }) => tables.includes(table)) }
}

/** As `check: where: what`. */
export const findingsOf = (checks: ReadonlyArray<Pick<Checked, "check" | "findings">>, level: VerifyFinding["level"]) =>
  checks.flatMap(({ check, findings }) =>
    findings.filter((one) => one.level === level).map(({ where, what }) => `${check}: ${where}: ${what}`)
  )

/** Runs a statement in the warehouse of a folder. */
export const sql = async (folder: string, statement: string): Promise<void> => {
  const instance = await DuckDBInstance.create(join(folder, "warehouse.duckdb"))
  const connection = await instance.connect()
  await connection.run(statement)
  connection.closeSync()
  instance.closeSync()
}

/** Changes one byte: in the middle of the file, or the last of a text in the file. */
export const flip = (path: string, text?: string): void => {
  const bytes = readFileSync(path)
  const place = text === undefined ? bytes.length >> 1 : bytes.indexOf(text) + text.length - 1
  bytes[place]! ^= 0x55
  writeFileSync(path, bytes)
}
