/** Runs sluice in the process of the test; process.ts starts a separate one. */
import { Context } from "effect"
import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Writable } from "node:stream"
import { Restriction } from "../../src/command/catalogue.ts"
import { runCommand } from "../../src/cli/command.ts"
import type { Catalogue } from "../../src/catalog/discover.ts"
import type { Service } from "./service.ts"

export interface Ran {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  /** References of Effect to override, such as its clock. */
  readonly overrides?: Context.Context<never>
  /** Aborting it with an exit code has the effect of a signal. */
  readonly signal?: AbortSignal
  /** The columns of the terminal that stdout is; without it, stdout is no terminal. */
  readonly columns?: number
  /** Gets what is written to stderr, at once. */
  readonly onStderr?: (text: string) => void
}

/** Without a choice, messages are as on a terminal: most tests check the sentences that people read. */
export const withSentences = (args: ReadonlyArray<string>): ReadonlyArray<string> =>
  /^(sync|backfill|rebuild|publish)$/.test(args[0] ?? "") && !args.includes("--log-format")
    ? [...args, "--log-format", "pretty"]
    : args

export const newFolder = (): string => mkdtempSync(join(tmpdir(), "sluice-test-"))

export const environmentOf = (service: Pick<Service, "url" | "token" | "locationId">, output: string) => ({
  SLUICE_BASE_URL: service.url,
  SLUICE_TOKEN: service.token,
  SLUICE_LOCATION_ID: service.locationId,
  SLUICE_OUTPUT: output,
  // Most tests check the warehouse only.
  SLUICE_FORMATS: "none"
})

/**
 * In an environment with this, commands know these tables only, and what they need: every table takes time in a release, a
 * rebuild and a check, also without a row. Models need more tables, so a release with them must be without models.
 */
export const knowing = (tables: string): Readonly<Record<string, string>> => ({ [known]: tables })
const known = "KNOWN_TABLES"

/** An erasure looks into all tables that can be about a person. */
export const ofPeople =
  "affiliate_commissions,affiliate_payouts,affiliates,appointment_notes,appointments,blocked_slots,businesses,contact_notes,contacts,conversations,documents,emails,estimates,form_submissions,invoice_schedules,invoices,messages,object_records,opportunities,order_fulfillments,order_notes,orders,product_reviews,record_relations,recordings,recurring_tasks,service_bookings,subscriptions,survey_submissions,tasks,transactions,transcript_sentences,voice_calls"

/** Statements about other tables refer to these. */
const needed = ["locations", "custom_fields", "files", "pipelines", "transactions"]
export const restrictedTo = (tables: string) => (all: Catalogue) => {
  const wanted = new Set([...needed, ...tables.split(",")])
  // A set visits what is added to it meanwhile.
  for (const wantedTable of wanted) {
    const { childOf, embeddedIn, person } = all.resources.find(({ table }) => table === wantedTable)!
    for (const other of [childOf?.table, embeddedIn?.table, ...Object.values(person?.records ?? {})])
      if (other !== undefined) wanted.add(other)
  }
  return { ...all, resources: all.resources.filter(({ table }) => wanted.has(table)) }
}

export const sluice = async (
  args: ReadonlyArray<string>,
  { [known]: tables, ...environment }: Readonly<Record<string, string>>,
  { columns, onStderr, overrides = Context.empty(), ...options }: RunOptions = {}
): Promise<Ran> => {
  const [stdout, stderr] = [new Collected(columns), new Collected(undefined, onStderr)]
  const code = await runCommand(withSentences(args), {
    environment: { PATH: process.env["PATH"], ...environment },
    stdout,
    stderr,
    overrides: tables === undefined ? overrides : Context.add(overrides, Restriction, restrictedTo(tables)),
    ...options
  })
  return { code, stdout: stdout.text(), stderr: stderr.text() }
}

class Collected extends Writable {
  readonly #chunks: Array<Buffer> = []
  readonly isTTY: boolean
  readonly columns: number
  readonly #onText: ((text: string) => void) | undefined
  constructor(columns?: number, onText?: (text: string) => void) {
    super()
    this.#onText = onText
    this.isTTY = columns !== undefined
    this.columns = columns ?? 0
  }
  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.#chunks.push(chunk)
    this.#onText?.(String(chunk))
    done()
  }
  text(): string {
    return Buffer.concat(this.#chunks).toString()
  }
}
